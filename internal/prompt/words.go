package prompt

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/starlark/repl"
	"github.com/startrace/startrace/stdlib"
)

// A promptWord is a word that only the prompt has.
type promptWord struct {
	signature, doc string
	call           func(p *prompt, arg starlark.Value) (starlark.Value, error)
}

// promptWords are called with one argument, or none (nil).
var promptWords map[string]promptWord

func init() { // the functions refer to the table
	promptWords = map[string]promptWord{
		"help": {"help(x)",
			"Explains a builtin, a function, a container, a probe, a module of the standard library or a constant.",
			(*prompt).help},
		"list": {`list("PATTERN")`,
			"Shows what can be probed, as `startrace list -v` does. Of anything else it makes a list, as in scripts.",
			(*prompt).listWord},
		"reload": {`reload("FILE")`, "Runs a file again, or a tool: its probes take the place of those that it " +
			"declared before. load(\"FILE\") is the same.", (*prompt).reload},
		"save": {`save("FILE")`, "Writes what was typed and still stands as a script.", (*prompt).save},
		"wait": {"wait(duration)", "Delivers events for a time: wait(\"2s\"). " +
			"wait() goes on until the command of -c has ended. Ctrl-C ends it.", (*prompt).wait},
		"edit": {"edit()", "Opens what was entered last in $VISUAL or $EDITOR. " +
			"What that saves stands in the next line.", (*prompt).edit},
		"go": {"go()", "Lets the command of -c run, again if it has ended. " +
			"It waits for that, so that its probes are there first.", (*prompt).goOn},
	}
}

// addWords defines them, and probes.
func (p *prompt) addWords() {
	words := p.s.Host().Predeclared()
	for name, w := range promptWords {
		words[name] = &wordValue{name, w, p}
	}
	words["probes"] = probeList{p}
}

// A wordValue is a word of the prompt: called it acts, typed alone it says what
// it does.
type wordValue struct {
	name string
	promptWord
	p *prompt
}

var _ starlark.Callable = (*wordValue)(nil)

func (w *wordValue) Name() string          { return w.name }
func (w *wordValue) String() string        { return "<built-in function " + w.name + ">" }
func (w *wordValue) Type() string          { return "builtin_function_or_method" }
func (w *wordValue) Freeze()               {}
func (w *wordValue) Truth() starlark.Bool  { return true }
func (w *wordValue) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", w.name) }

func (w *wordValue) text() string {
	if w.name == "help" {
		return helpText()
	}
	return explained(w.signature, w.doc)
}

// CallInternal calls it.
func (w *wordValue) CallInternal(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var arg starlark.Value
	if err := starlark.UnpackArgs(w.name, args, kwargs, "argument?", &arg); err != nil {
		return nil, err
	}
	return w.call(w.p, arg)
}

func (p *prompt) listWord(arg starlark.Value) (starlark.Value, error) {
	pattern, ok := starlark.AsString(arg)
	if arg != nil && !ok {
		return starlark.Call(p.s.Host().Thread(), starlark.Universe["list"], starlark.Tuple{arg}, nil)
	}
	return starlark.None, p.s.List(pattern)
}

// reload runs a file. Without a name it is the one that was loaded last.
func (p *prompt) reload(arg starlark.Value) (starlark.Value, error) {
	name, ok := starlark.AsString(arg)
	if arg == nil {
		for _, t := range slices.Backward(p.typed) {
			if t.file != "" {
				name, ok = t.file, true
				break
			}
		}
	}
	if !ok {
		return nil, errors.New(`reload: which file? reload("FILE")`)
	}
	if m, isTool := stdlib.Find(name); isTool && !strings.ContainsAny(name, "/.") {
		name = "std/" + m.Name + ".star"
	}
	p.files = append(p.files, name)
	names, err := p.s.Host().RunLoaded(name)
	p.loaded = append(p.loaded, names...)
	return starlark.None, err
}

// savedHeader begins what save writes; it overwrites nothing else.
const savedHeader = "# Saved from the prompt of startrace.\n"

func (p *prompt) save(arg starlark.Value) (starlark.Value, error) {
	name, ok := starlark.AsString(arg)
	if !ok {
		return nil, errors.New(`save: where? save("FILE.star")`)
	}
	if old, err := os.ReadFile(name); err == nil && !strings.HasPrefix(string(old), savedHeader) {
		return nil, fmt.Errorf("save: %s exists, and is not from here: choose another name", name)
	}
	text, n, err := p.savedScript()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		return nil, err
	}
	p.s.Messagef("Saved %s: startrace %s", format.Count(n, "statement"), name)
	return starlark.None, nil
}

// savedScript is what still stands, as a script. The text of a file that was
// loaded with its probes stands in its place: modules declare none.
func (p *prompt) savedScript() (string, int, error) {
	var all []repl.Typed
	for i, t := range p.typed {
		c := repl.Typed{Text: t.text, Assigned: t.assigned, Used: t.used, Acts: t.acts}
		for id := t.from; id < t.to; id++ {
			c.Acts = c.Acts || !p.s.Gone(id)
		}
		for _, name := range t.assigned {
			if v := p.s.Host().Globals()[name]; v == starlark.None || t.to > t.from && !c.Acts {
				c.Gone = append(c.Gone, name)
			}
		}
		if t.file != "" {
			if c.Acts = p.lastOf(t.file) == i; !c.Acts {
				continue
			}
			src, err := p.s.Host().Source(t.file)
			if err != nil {
				return "", 0, fmt.Errorf("save: %w", err)
			}
			c.Text = "# " + t.file + "\n" + src
		}
		all = append(all, c)
	}
	stand := repl.Standing(all)
	return repl.Script(savedHeader, stand), len(stand), nil
}

// lastOf is the last chunk that loaded a file.
func (p *prompt) lastOf(file string) (last int) {
	for i, t := range p.typed {
		if t.file == file {
			last = i
		}
	}
	return last
}

// wait goes on with the loop for a time, in the middle of a chunk.
func (p *prompt) wait(arg starlark.Value) (starlark.Value, error) {
	s := p.s
	goesOn := p.running
	switch {
	case arg != nil:
		d, err := waitTime(s, arg)
		if err != nil {
			return nil, err
		}
		end := s.WakeIn(d)
		goesOn = func() bool { return stream.Now() < end }
	case !s.Released():
		return nil, errors.New(`wait: how long? wait("2s"); wait() waits for the end of what go() runs`)
	}
	if s.InCallback() || !p.inChunk {
		return nil, errors.New("wait: not in a callback, which is a part of what would be waited for")
	}
	p.inChunk = false // callbacks cannot wait
	defer func() { p.inChunk = true }()
	return starlark.None, p.deliverWhile(func() bool { return goesOn() && !p.s.Over() && !p.Interrupted() })
}

// deliverWhile goes on with the loop, and comes back when all has been delivered
// that was recorded up to then.
func (p *prompt) deliverWhile(goesOn func() bool) error {
	for goesOn() {
		if err := p.deliver(); err != nil {
			return err
		}
		if !goesOn() {
			break
		}
		if err := p.s.Wait(); err != nil {
			return err
		}
	}
	return p.deliver()
}

func waitTime(s Session, arg starlark.Value) (time.Duration, error) {
	v, err := starlark.Call(s.Host().Thread(), s.Host().Predeclared()["duration"], starlark.Tuple{arg}, nil)
	if err != nil {
		return 0, fmt.Errorf("wait: %w", err)
	}
	ns, ok := v.(starlark.Int).Int64()
	if !ok || ns < 0 {
		return 0, fmt.Errorf("wait: got %s, want a time: wait(\"2s\")", arg)
	}
	return time.Duration(ns), nil
}
