package prompt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/command"
	"github.com/startrace/startrace/starlark/value"
)

// help and help(x): what is said of a word, a builtin, a value.

func (p *prompt) helpText() string {
	var b strings.Builder
	b.WriteString(`What is typed is Starlark, as in scripts. Probes attach when a line has been entered, and go on:

  n = count()
  probe("syscall:openat", lambda e: n[e.comm].add())
  n                              what has been counted so far
  [k for k, v in n.items() if v > 10]

A block ends with an empty line. A name that is set again replaces what it held, also for probes that use it;
p = None detaches a probe.
Tab completes names, points in strings, and the fields of an event: e.args.<Tab>

`)
	for _, name := range slices.Sorted(maps.Keys(p.words)) {
		fmt.Fprintf(&b, "  %-16s %s\n", p.words[name].signature, p.words[name].doc)
	}
	fmt.Fprintf(&b, "  %-16s %s\n", "probes", probesHelp)
	return b.String()
}

// explained is what is said of a word of the prompt.
func explained(signature, doc string) string { return signature + "\n\n" + doc + "\n" }

const probesHelp = "What is attached, with hits, losses and the time of one hit; probes[0] is a probe."

// help explains a value, or what a text names.
func (p *prompt) help(arg starlark.Value) (starlark.Value, error) {
	switch v := arg.(type) {
	case nil:
		p.s.Print(p.helpText())
	case starlark.String:
		return starlark.None, p.helpName(string(v))
	case promptText:
		p.s.Print(helpOf(v))
	case *starlark.Builtin:
		return starlark.None, p.helpBuiltin(v)
	case value.Container:
		p.s.Print(fmt.Sprintf("%s, declared at %s\n\n", v, v.Decl().Pos))
		return starlark.None, p.helpName(v.Decl().Kind.String())
	case interface{ Of() value.Container }: // an entry
		return p.help(v.Of())
	case *builtins.Probe:
		p.s.Print(fmt.Sprintf("%s, declared at %s\n\n", v, v.Pos()))
		return starlark.None, p.helpName("probe")
	case *builtins.PointValue:
		p.s.Print(fmt.Sprintf("%s\n\n", v))
		return starlark.None, p.helpName(v.Type())
	case *starlark.Function:
		p.s.Print(signature(v) + "\n" + behind(v.Doc()))
	default:
		p.s.Print(fmt.Sprintf("%s: %s%s\n", v, withArticle(v.Type()), attributesOf(v)))
	}
	return starlark.None, nil
}

// helpOf explains the prompt's own words.
func helpOf(v promptText) string {
	if w, ok := v.(*wordValue); ok {
		return w.text()
	}
	return explained("probes", probesHelp)
}

// helpBuiltin explains a function; of a method, what it belongs to.
func (p *prompt) helpBuiltin(b *starlark.Builtin) error {
	of := b.Receiver()
	if of == nil {
		return p.helpName(b.Name())
	}
	p.s.Print(fmt.Sprintf("%s() of %s\n\n", b.Name(), of))
	switch of.(type) {
	case starlark.String, value.Bytes, *starlark.List, *starlark.Dict, *starlark.Set:
		p.s.Print("It is the same as in Starlark and Python\n")
		return nil
	}
	_, err := p.help(of)
	return err
}

var declaredType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(struct|union|enum|typedef) `) })

// helpName explains what has a name: a word, a builtin, a constant, a module, a
// document, a part of the event, a point, a type of the kernel.
func (p *prompt) helpName(name string) error {
	_, ours := builtins.Lookup(name)
	module, _, inModule := strings.Cut(name, ".")
	_, known := p.s.Host().Predeclared()[module].(starlark.HasAttrs)
	switch w, isWord := p.words[name]; {
	case isWord:
		p.s.Print(explained(w.signature, w.doc))
	case name == "probes":
		p.s.Print(explained(name, probesHelp))
	case !ours && starlark.Universe.Has(name), slices.Contains(keywords, name):
		p.s.Print(name + " is the same as in Starlark and Python\n")
	case name == "e" || strings.HasPrefix(name, "e."):
		p.s.Print("An event has " + strings.Join(infer.EventFields(), ", ") +
			".\nWhat e.args has depends on the point: list(\"POINT\") shows it. More: help(\"language\")\n")
	case inModule && known:
		return p.page(module)
	case strings.Contains(name, ":") || declaredType().MatchString(name):
		_, err := p.listWord(starlark.String(name))
		return err
	default:
		return p.page(name)
	}
	return nil
}

// page prints a page of the manual.
func (p *prompt) page(name string) error {
	var b strings.Builder
	err := command.Doc(&b, name)
	p.s.Print(b.String())
	return err
}

func withArticle(word string) string {
	if strings.ContainsRune("aeio", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// behind is the text at the top of a function, as it follows what the function is called with.
func behind(doc string) string {
	if doc == "" {
		return ""
	}
	return "\n" + command.Text(doc) + "\n"
}

func attributesOf(v starlark.Value) string {
	a, ok := v.(starlark.HasAttrs)
	if !ok || len(a.AttrNames()) == 0 {
		return ""
	}
	return " with " + strings.Join(a.AttrNames(), ", ")
}
