// Package manual has the command line in words: one table of the commands,
// from which come the help, the man page and what shells complete.
//
// It is pure text: flags are those that the command reads, verbs and tools from
// the standard library.
package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/flags"
)

// --help of startrace and of a command, in columns.

// A Command is a word behind `startrace`.
type Command struct {
	// Name is the word.
	Name    string
	Usage   []string // behind the name, a line for each form
	Summary string   // a sentence
	Text    string   // what else there is to say
	// Examples are whole command lines, what each is for behind two blanks.
	Examples []string
	// Takes is what its arguments are, for completion.
	Takes Takes
	// Flags are those that the command takes.
	Flags []flags.Flag
}

// Takes is a kind of arguments.
type Takes int

const (
	Nothing Takes = iota // no arguments
	Scripts              // files with scripts, tools and verbs
	Points               // patterns of points
	Topics               // what help explains: commands, tools and verbs
	Names                // of the reference
	Shells               // bash, zsh, fish
)

// A Tool is a tool of the standard library, or a verb: its Name, and what it does in a sentence, its Summary.
type Tool struct {
	Name, Summary string
}

// A Book is the whole command line.
type Book struct {
	Flags []flags.Flag // of a run
	// Commands are those that startrace itself has. Verbs are the tools of stdlib/verbs, Tools the others.
	Commands     []Command
	Verbs, Tools []Tool
}

// Command finds a command by its name.
func (b *Book) Command(name string) (*Command, bool) {
	i := slices.IndexFunc(b.Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return &b.Commands[i], true
}

// Words are all words that may stand first.
func (b *Book) Words() (out []string) {
	for _, c := range b.Commands {
		out = append(out, c.Name)
	}
	for _, t := range slices.Concat(b.Verbs, b.Tools) {
		out = append(out, t.Name)
	}
	return out
}

// Help prints the help of the whole.
func (b *Book) Help(w io.Writer) {
	fmt.Fprint(w, opening, "\n\nusage: ", strings.Join(forms, "\n       "), "\n")
	var rows [][2]string
	for _, c := range b.Commands {
		rows = append(rows, [2]string{c.Name, c.Summary})
	}
	fmt.Fprint(w, "\nCommands (startrace help COMMAND has more):\n")
	printRows(w, rows)
	fmt.Fprintf(w,
		"\nVerbs, each for one line: startrace VERB POINT [EXPR] --by EXPR --where EXPR --every 1s --top 10\n")
	printRows(w, toolRows(b.Verbs))
	fmt.Fprint(w, "\nExamples:\n")
	printExamples(w, examples)
	fmt.Fprint(w, "\nFlags:\n")
	PrintFlags(w, b.Flags)
}

func toolRows(list []Tool) (rows [][2]string) {
	for _, t := range list {
		rows = append(rows, [2]string{t.Name, t.Summary})
	}
	return rows
}

// Help prints the help of one command.
func (c *Command) Help(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nusage: ", c.Summary)
	for i, form := range c.Usage {
		if i > 0 {
			fmt.Fprint(w, "       ")
		}
		fmt.Fprintln(w, strings.TrimSpace("startrace "+c.Name+" "+form))
	}
	if c.Text != "" {
		fmt.Fprintf(w, "\n%s\n", c.Text)
	}
	fmt.Fprint(w, "\nExamples:\n")
	printExamples(w, c.Examples)
	fmt.Fprint(w, "\nFlags:\n")
	PrintFlags(w, c.Flags)
}

// PrintFlags prints flags in two columns.
func PrintFlags(w io.Writer, list []flags.Flag) {
	rows := make([][2]string, len(list))
	for i := range list {
		rows[i] = [2]string{list[i].Head(), list[i].Help}
	}
	printRows(w, rows)
}

func printExamples(w io.Writer, list []string) {
	var rows [][2]string
	for _, e := range list {
		line, what, _ := strings.Cut(e, "  ")
		rows = append(rows, [2]string{line, strings.TrimSpace(what)})
	}
	printRows(w, rows)
}

// widest is the first column that others are aligned with.
const widest = 64

func printRows(w io.Writer, rows [][2]string) {
	width := 0
	for _, r := range rows {
		if n := len([]rune(r[0])); r[1] != "" && n <= widest {
			width = max(width, n)
		}
	}
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, r[0], r[1]), " "))
	}
}
