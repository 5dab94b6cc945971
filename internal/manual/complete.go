package manual

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/startrace/startrace/internal/flags"
)

// What can stand at a place of a command line, for shells: commands, flags, their values, points, fields, scripts.

// A Candidate is a Word that could be typed, and What it is in a few words.
type Candidate struct{ Word, What string }

// A Source knows the machine, for completion.
type Source interface {
	// ToolFlags are the flags that a tool, a verb or a script declares.
	ToolFlags(script string) []flags.Flag
	// Points are those that begin so, field by field.
	Points(typed string) []string
	// Fields are those of the event of a point, behind "e." and a path.
	Fields(point string, path []string) []string
	// Names are those of the reference: builtins and documents.
	Names() []string
	// Processes are those that -p can name: each number with the name of its program.
	Processes() []Candidate
}

// An Answer is what may be typed at the end of a line.
type Answer struct {
	// Candidates are the words.
	Candidates []Candidate
	Files      bool // files, too
}

// Complete gives what may come at the end of a line that begins with the
// command's own name.
func (b *Book) Complete(line string, src Source) Answer {
	words, open, _ := splitLine(line)
	c := &completer{book: b, src: src, flags: b.Flags}
	for _, w := range words[min(1, len(words)):] {
		c.pass(w)
	}
	return c.at(open)
}

// A completer walks over the words of a line.
type completer struct {
	// book is the command line in words.
	book *Book
	// src knows the machine.
	src     Source
	flags   []flags.Flag // that may stand here
	args    []string     // words that are no flags
	code    bool         // there was -e: no script comes
	pending *flags.Flag  // whose value the next word is
}

// pass takes a word that is complete.
func (c *completer) pass(word string) {
	switch {
	case c.pending != nil:
		c.pending = nil
	case strings.HasPrefix(word, "-"):
		for w := range flags.Words([]string{word}, c.flags) {
			if w.Flag != nil {
				c.code = c.code || w.Flag.Long == "code"
			}
			if w.Lacking {
				c.pending = w.Flag
			}
		}
	default:
		c.args = append(c.args, word)
		c.learn()
	}
}

// learn knows the flags that the last word brings.
func (c *completer) learn() {
	cmd, isCommand := c.book.Command(c.args[0])
	switch {
	case len(c.args) == 1 && isCommand:
		c.flags = cmd.Flags
	case len(c.args) == 1 && !c.code:
		c.flags = slices.Concat(c.src.ToolFlags(c.args[0]), c.flags)
	case len(c.args) == 2 && isCommand && cmd.Takes == Scripts:
		c.flags = slices.Concat(c.src.ToolFlags(c.args[1]), c.flags)
	}
}

// at completes the word that is open.
func (c *completer) at(open string) Answer {
	if c.pending != nil {
		return c.value(c.pending, "", open)
	}
	for w := range flags.Words([]string{open}, c.flags) {
		if name, _, ok := strings.Cut(open, "="); ok && w.Flag != nil && strings.HasPrefix(open, "--") {
			return c.value(w.Flag, name+"=", w.Value)
		}
	}
	if strings.HasPrefix(open, "-") {
		return Answer{Candidates: c.ownFlags(open)}
	}
	return c.argument(open)
}

func (c *completer) ownFlags(open string) (out []Candidate) {
	for _, f := range c.flags {
		if len(c.args) > 0 && (f.Long == "code" || f.Long == "version") {
			continue // they stand alone, in front
		}
		word := "--" + f.Long
		if f.Long == "" {
			word = "-" + f.Short
		}
		if strings.HasPrefix(word, open) && !slices.ContainsFunc(out, func(o Candidate) bool {
			return o.Word == word
		}) {
			out = append(out, Candidate{word, f.Help})
		}
	}
	return out
}

// value completes the value of a flag.
func (c *completer) value(f *flags.Flag, head, open string) Answer {
	var a Answer
	switch {
	case len(f.Words) > 0:
		a.Candidates = plain(f.Words)
	case f.Long == "pid":
		a.Candidates = c.src.Processes()
	case f.Long == "output" || f.Long == "command" || f.Value == "DIR":
		a.Files = true
	case f.Value == Expression:
		a.Candidates = c.fields(open)
	}
	a.Candidates = beginning(a.Candidates, open)
	for i := range a.Candidates {
		a.Candidates[i].Word = head + a.Candidates[i].Word
	}
	return a
}

// Expression is the Value of flags that take an expression of the event.
const Expression = "EXPRESSION"

// argument completes a word that is no flag.
func (c *completer) argument(open string) Answer {
	if len(c.args) == 0 {
		if c.code {
			return Answer{}
		}
		return Answer{Candidates: beginning(c.first(), open), Files: true}
	}
	name := c.args[0]
	if cmd, ok := c.book.Command(name); ok {
		return c.taken(cmd, open)
	}
	if slices.ContainsFunc(c.book.Verbs, func(t Tool) bool { return t.Name == name }) {
		return c.verb(c.args[1:], open)
	}
	return Answer{Files: true}
}

// verb completes POINT and EXPR.
func (c *completer) verb(args []string, open string) Answer {
	switch len(args) {
	case 0:
		return Answer{Candidates: plain(c.src.Points(open))}
	case 1:
		return Answer{Candidates: c.fields(open)}
	}
	return Answer{}
}

// taken completes the arguments of a command.
func (c *completer) taken(cmd *Command, open string) Answer {
	if cmd.Takes == Points {
		return Answer{Candidates: plain(c.src.Points(open))}
	}
	if cmd.Takes == Scripts && len(c.args) > 1 {
		if slices.ContainsFunc(c.book.Verbs, func(t Tool) bool { return t.Name == c.args[1] }) {
			return c.verb(c.args[2:], open)
		}
		return Answer{Files: true}
	}
	if len(c.args) > 1 {
		return Answer{}
	}
	var list []Candidate
	switch cmd.Takes {
	case Scripts:
		list = c.scripts()
	case Topics:
		list = slices.Concat(c.first(), plain(c.src.Names()))
	case Names:
		list = slices.Concat(plain(c.src.Names()), c.scripts())
	case Shells:
		list = plain(ShellNames)
	}
	return Answer{Candidates: beginning(list, open), Files: cmd.Takes == Scripts}
}

// first are the words that may stand first.
func (c *completer) first() (out []Candidate) {
	for _, cmd := range c.book.Commands {
		out = append(out, Candidate{cmd.Name, cmd.Summary})
	}
	return append(out, c.scripts()...)
}

func (c *completer) scripts() (out []Candidate) {
	for _, t := range slices.Concat(c.book.Verbs, c.book.Tools) {
		out = append(out, Candidate{t.Name, t.Summary})
	}
	return out
}

var lastField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^((?:.*\W)?e\.)((?:\w+\.)*)(\w*)$`) })

// fields completes the field of e at the end of an expression.
func (c *completer) fields(open string) (out []Candidate) {
	m := lastField().FindStringSubmatch(open)
	if m == nil {
		if open == "" {
			out = []Candidate{{"e.", "the event"}}
		}
		return out
	}
	point := ""
	verb := slices.IndexFunc(c.args, func(a string) bool {
		return slices.ContainsFunc(c.book.Verbs, func(t Tool) bool { return t.Name == a })
	})
	if verb >= 0 && verb+1 < len(c.args) {
		point = c.args[verb+1]
	}
	var path []string
	if m[2] != "" {
		path = strings.Split(strings.TrimSuffix(m[2], "."), ".")
	}
	for _, name := range c.src.Fields(point, path) {
		if strings.HasPrefix(name, m[3]) {
			out = append(out, Candidate{Word: m[1] + m[2] + name})
		}
	}
	return out
}

func plain(words []string) (out []Candidate) {
	for _, w := range words {
		out = append(out, Candidate{Word: w})
	}
	return out
}

func beginning(list []Candidate, with string) (out []Candidate) {
	for _, c := range list {
		if strings.HasPrefix(c.Word, with) && !slices.ContainsFunc(out, func(o Candidate) bool {
			return o.Word == c.Word
		}) {
			out = append(out, c)
		}
	}
	return out
}
