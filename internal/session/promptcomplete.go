package session

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

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/starlark/repl"
	"github.com/startrace/startrace/stdlib"
)

// complete completes the line that is edited, as a part of its chunk.
func (p *prompt) complete(before string) line.Completion {
	p.s.out.flush() // what is offered comes behind it
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
	for _, from := range []starlark.StringDict{starlark.Universe, k.p.s.host.Predeclared(), k.p.s.host.Globals()} {
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
	if fn, ok := k.p.s.host.Globals()[function].(*starlark.Function); ok {
		return parameters(fn)
	}
	en, _ := builtins.Lookup(function)
	for _, m := range argument().FindAllStringSubmatch(en.Signature, -1) {
		out = append(out, m[1])
	}
	return out
}

// Attributes are those of globals and of what they hold; nothing is called.
func (k known) Attributes(path []string) []string {
	v := k.p.s.host.Globals()[path[0]]
	if v == nil {
		v = k.p.s.host.Predeclared()[path[0]]
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

// Points completes field by field: a kind, a category, a name.
func (k known) Points(typed string) (words, shown []string) {
	word, rest, ok := strings.Cut(typed, ":")
	if !ok {
		for _, kind := range point.Kinds() { // quicker than Find, which counts
			words = append(words, kind.Name+":")
		}
		return words, nil
	}
	kind, ok := point.Named(word)
	if !ok {
		return nil, nil
	}
	pattern := kind.Name + ":" + rest + "*"
	if kind.Categories && !strings.Contains(rest, ":") {
		pattern += ":*"
	}
	r, err := k.p.s.listing().Find(pattern)
	if err != nil {
		return nil, nil
	}
	for _, p := range r.Points {
		_, name, _ := strings.Cut(p.Name, ":")
		words = append(words, word+":"+name)
	}
	if kernel.IsPattern(rest) {
		return nil, words
	}
	return upToField(words, len(typed)), nil
}

// upToField cuts words behind the field that is typed.
func upToField(words []string, typed int) []string {
	for i, w := range words {
		if typed > len(w) {
			continue
		}
		if end := strings.IndexByte(w[typed:], ':'); end >= 0 {
			words[i] = w[:typed+end+1]
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Fields are those of the event of the points that are typed, or of a part of
// it.
func (k known) Fields(points, path []string) []string {
	if len(path) > 0 && path[0] == "start" {
		path = path[1:]
	}
	switch {
	case len(path) == 0:
		return infer.EventFields()
	case path[0] == "task":
		return k.members("struct task_struct", path[1:])
	case path[0] != "args":
		return nil
	}
	var out []string
	for _, f := range k.args(points) {
		name := strings.TrimPrefix(f.Name, "e.args.")
		switch {
		case strings.HasPrefix(name, "e."):
		case len(path) == 1:
			out = append(out, name)
		case name == path[1]:
			out = append(out, k.members(f.C, path[2:])...)
		}
	}
	return out
}

// args are the fields of points, of each kind of them the first few: a pattern
// can match thousands.
func (k known) args(points []string) (out []listing.Field) {
	const enough = 20
	src := k.p.s.listing()
	src.Verbose = true
	for _, point := range points {
		r, err := src.Find(point)
		if err != nil {
			continue
		}
		r.Points = r.Points[:min(len(r.Points), enough)]
		for p := range r.All() {
			out = append(out, p.Fields...)
		}
	}
	return out
}

// members are those of a struct by its C name, or of a member of it.
func (k known) members(c string, path []string) (out []string) {
	c = strings.TrimSpace(strings.Trim(strings.ReplaceAll(c, "const ", ""), "* "))
	if !strings.HasPrefix(c, "struct ") && !strings.HasPrefix(c, "union ") {
		return nil
	}
	src := k.p.s.listing()
	src.Verbose = true
	r, err := src.Find(strings.Join(append([]string{c}, path...), "."))
	if err != nil {
		return nil
	}
	for _, t := range r.Types {
		out = append(out, memberNames(t.Members)...)
	}
	return out
}

// memberNames are the names that can stand behind a dot: those of members
// without a name are its own.
func memberNames(members []listing.Member) (out []string) {
	for _, m := range members {
		if m.Name == "" {
			out = append(out, memberNames(m.Members)...)
		} else {
			out = append(out, m.Name)
		}
	}
	return out
}

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
