package prompt

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/starlark/repl"
	"github.com/startrace/startrace/stdlib"
)

// Which names, arguments, points, fields and files there are, for completion at the prompt.

// complete completes the line that is edited, as a part of its chunk.
func (p *prompt) complete(before string) line.Completion {
	p.s.Flush(true) // what is offered comes behind it
	text := before
	if p.in.Open() {
		text = p.in.Text() + "\n" + before
	}
	c := repl.Complete(text, known{p})
	return line.Completion{From: max(0, c.From-(len(text)-len(before))), Words: c.Words, Shown: c.Shown}
}

// known is what the prompt knows, for completion.
type known struct{ p *prompt }

var _ repl.Source = known{}

var keywords = []string{"and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not",
	"or", "pass", "return"}

// Names are those of globals, builtins and words.
func (k known) Names() []string {
	out := slices.Clone(keywords)
	for _, from := range []starlark.StringDict{starlark.Universe, k.p.s.Host().Predeclared(), k.p.s.Host().Globals()} {
		for name := range maps.Keys(from) {
			if name[0] != '$' {
				out = append(out, name)
			}
		}
	}
	return out
}

var argument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+)=`) })

// Arguments are those of builtins that are written by name, and of functions.
func (k known) Arguments(function string) (out []string) {
	if fn, ok := k.p.s.Host().Globals()[function].(*starlark.Function); ok {
		return parameters(fn)
	}
	en, _ := builtins.Lookup(function)
	for _, m := range argument().FindAllStringSubmatch(en.Signature, -1) {
		out = append(out, m[1])
	}
	return out
}

// Strings says what strings a builtin or a word of the prompt takes.
func (k known) Strings(function string) repl.Strings {
	if w, is := k.p.words[function]; is {
		return w.strings
	}
	if function == "load" {
		return repl.Modules
	}
	if en, _ := builtins.Lookup(function); en.Points {
		return repl.Points
	}
	return repl.Texts
}

// Attributes are those of globals and of what they hold; nothing is called.
func (k known) Attributes(path []string) []string {
	v := k.p.s.Host().Globals()[path[0]]
	if v == nil {
		v = k.p.s.Host().Predeclared()[path[0]]
	}
	for _, name := range path[1:] {
		has, ok := v.(starlark.HasAttrs)
		if !ok {
			return nil
		}
		next, err := has.Attr(name)
		if err != nil {
			return nil
		}
		v = next
	}
	if has, ok := v.(starlark.HasAttrs); ok {
		return has.AttrNames()
	}
	return nil
}

// Points are those that could follow what is typed of one.
func (k known) Points(typed string) (words, shown []string) { return k.p.s.PointWords(typed) }

// Fields are those of an event of the points that are typed, or of a part of
// it.
func (k known) Fields(points, path []string) []string { return k.p.s.FieldWords(points, path) }

// Files are scripts and folders, or modules of the standard library.
func (k known) Files(typed string, modules bool) (out []string) {
	if modules {
		for _, m := range stdlib.Modules() {
			out = append(out, "std/"+m.Name+".star")
		}
	}
	folder, _ := filepath.Split(typed)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return out
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			out = append(out, folder+e.Name()+"/")
		case strings.HasSuffix(e.Name(), ".star"):
			out = append(out, folder+e.Name())
		}
	}
	return out
}
