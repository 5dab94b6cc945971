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

// What words of the prompt do: list, reload, save, wait.

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
	p.sayKept(name)
	return starlark.None, nil
}

// sayKept says what does something else in the file that is saved: a script has one value of a name, the last.
func (p *prompt) sayKept(file string) {
	for _, t := range p.typed {
		if t.keeps != "" && (p.attached(t) || t.acts) {
			p.s.Messagef("%s keeps the old %s here, and has the new one in %s", p.title(t), t.keeps, file)
		}
	}
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
	waits := func(more func() bool) error {
		return p.deliverWhile(func() bool { return more() && !p.s.Over() && !p.Interrupted() })
	}
	if err := waits(goesOn); err != nil || arg != nil {
		return starlark.None, err
	}
	return starlark.None, waits(func() bool { // what the command did is handled, too
		settled := s.Settled()
		if !settled {
			s.WakeIn(time.Millisecond)
		}
		return !settled
	})
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
