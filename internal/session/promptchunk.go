package session

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/starlark/repl"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

// A typedChunk is a chunk that ran, for save(), and to run it again when what it
// uses is set anew.
type typedChunk struct {
	line           int
	text           string
	assigned, used []string
	from, to       int // the numbers of its probes
	acts           bool
	declares       bool   // functions, points and probes, and does nothing else
	file           string // it loaded this file
}

// loadFile is `load("FILE")` without names, which Starlark has no meaning for:
// it runs the file with its probes.
var loadFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*)load(\(\s*("[^"]*"|'[^']*')\s*\)\s*)$`)
})

// run runs a chunk, attaches its probes and shows its value.
func (p *prompt) run(c repl.Chunk) {
	if !p.Begin() {
		p.report(errors.New(line.Interrupted))
		return
	}
	s := p.s
	p.inChunk, s.out.eager, p.files, p.loaded = true, p.IsTerminal(), nil, nil
	text := c.Text
	if loadFile().MatchString(text) {
		text = loadFile().ReplaceAllString(text, "${1}reload$2")
	}
	err := p.runGuarded(c.Line, text)
	p.inChunk, s.out.eager = false, false
	p.Done()
	s.host.Resume()
	var exit *builtins.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.report(err)
	}
	s.out.flush()
	p.Fresh()
}

// runGuarded is runChunk, of which a panic is an error that ends nothing.
func (p *prompt) runGuarded(line int, text string) (err error) {
	var exit int // the prompt goes on
	defer func() { p.s.inEvent, p.s.flushing = false, false }()
	defer guard(p.s.Options, &exit, &err)
	return p.runChunk(line, text)
}

func (p *prompt) runChunk(line int, text string) error {
	old := maps.Clone(p.s.host.Globals())
	t := &typedChunk{line: line, text: text}
	value, err := p.declare(t)
	if err != nil {
		return err
	}
	p.typed = append(p.typed, t)
	p.sayReplaced(t, old)
	p.repeat(t, old)
	return p.show(value, t.from)
}

// declare runs a chunk and attaches its probes, in the place of those that it
// had when it ran before.
func (p *prompt) declare(t *typedChunk) (starlark.Value, error) {
	s := p.s
	first, before := len(s.env.Probes()), p.probeGlobals()
	chunk, err := s.host.RunChunk(promptFile, t.line, t.text)
	if err == nil {
		p.findReplaced(chunk, t, first, before)
		err = p.attach(first)
	}
	if err != nil {
		s.env.Forget(first)
		p.putBack(before)
		return nil, err
	}
	p.note(t, chunk, first)
	return chunk.Value, nil
}

// probeGlobals are the globals that hold probes.
func (p *prompt) probeGlobals() map[string]*builtins.Probe {
	out := map[string]*builtins.Probe{}
	for name, v := range p.s.host.Globals() {
		if probe, ok := v.(*builtins.Probe); ok {
			out[name] = probe
		}
	}
	return out
}

// putBack gives names the probes that they had: those that were to replace them
// do not exist.
func (p *prompt) putBack(before map[string]*builtins.Probe) {
	for name, probe := range before {
		p.s.host.Globals()[name] = probe
	}
}

// findReplaced finds the probes that the chunk replaces: those whose name it
// has set anew, as a global or by name=, those of a file that it has loaded
// again, and its own if it ran before.
func (p *prompt) findReplaced(c *script.Chunk, t *typedChunk, first int, before map[string]*builtins.Probe) {
	p.replaced = nil
	probes := p.s.env.Probes()
	for id, probe := range probes[:first] {
		if p.gone[id] {
			continue
		}
		again := slices.Contains(p.files, probe.Pos().Filename()) || id >= t.from && id < t.to
		for name, old := range before {
			again = again || old == probe && slices.Contains(c.Assigned, name) &&
				p.s.host.Globals()[name] != starlark.Value(old)
		}
		for _, other := range probes[first:] {
			again = again || other.Given() != "" && other.Given() == probe.Given()
		}
		if again {
			p.replaced = append(p.replaced, id)
		}
	}
}

// attach compiles, loads and attaches the probes from number first on, in the
// place of those that they replace.
func (p *prompt) attach(first int) error {
	s := p.s
	if len(s.env.Probes()) == first {
		p.replace()
		p.forgetReplaced(func(probe *builtins.Probe) string { return "Detached " + probe.Name() })
		return nil
	}
	previous := s.part
	s.part = &part{plan: s.host.PlanFrom(first)}
	s.plan.Target = p.target
	if s.plan.StrMax == 0 {
		s.plan.StrMax = s.StrMax
	}
	if err := s.load(); err != nil {
		p.drop(s.part)
		s.part = previous
		return errors.Join(s.withCause(err), p.putReplacedBack())
	}
	p.forgetReplaced(func(probe *builtins.Probe) string {
		return fmt.Sprintf("Replaced the probe %s of %s", probe.Called(), probe.Pos())
	})
	if !p.repeating {
		s.sayAttached()
	}
	return nil
}

// replace detaches the probes that others take the place of; they are loaded
// and about to be attached.
func (p *prompt) replace() {
	if p == nil {
		return
	}
	for i, id := range p.replaced {
		p.replaced[i] = -1
		for part := range p.s.partsOf(id) {
			if part.loaded.Attached(id) {
				part.loaded.DetachProbe(id)
				p.replaced[i] = id
			}
		}
		p.stopped = append(p.stopped, id)
	}
}

// putReplacedBack attaches them again: the others could not be.
func (p *prompt) putReplacedBack() error {
	var errs []error
	for i := range p.stopped {
		if id := p.replaced[i]; id >= 0 {
			errs = append(errs, (&probeControl{p.s, id}).Enable())
		}
	}
	p.stopped, p.replaced = nil, nil
	return errors.Join(errs...)
}

// forgetReplaced says that they are gone.
func (p *prompt) forgetReplaced(say func(*builtins.Probe) string) {
	for _, id := range p.stopped {
		p.gone[id] = true
		if probe := p.s.env.Probes()[id]; !p.repeating {
			p.s.messagef("%s", say(probe))
		}
		for _, part := range slices.Collect(p.s.partsOf(id)) {
			if p.allGone(part) {
				p.retire(part)
			}
		}
	}
	p.stopped, p.replaced = nil, nil
}

func (p *prompt) allGone(part *part) bool {
	return !slices.ContainsFunc(part.plan.Probes, func(probe *plan.Probe) bool { return !p.gone[probe.ID] })
}

// retire releases a part none of whose probes are left, once its records have
// been read. Stacks may be in containers still, and the first ring is what
// waits sleep on: such parts stay, detached. So does the first that follows
// processes, with the programs that do it: later parts know whom by its table.
func (p *prompt) retire(old *part) {
	follows := old.result.Follow >= 0 && old == p.s.parts[0]
	if !follows {
		old.loaded.Disable()
	}
	p.fixed.Remove(old.result)
	if err := p.s.drain(); err != nil {
		p.report(err)
	}
	if follows || old.stacks != nil || old.reader != nil && old.reader == p.s.outside.reader {
		return
	}
	losses, _, err := old.loaded.Losses()
	for _, l := range losses {
		p.s.messagef("startrace: %s", describeLoss(old.plan, l))
	}
	if err != nil {
		p.s.messagef("startrace: %s", unknownLosses(err))
	}
	p.drop(old)
}

// drop releases a part.
func (p *prompt) drop(old *part) {
	s := p.s
	if i := slices.Index(s.parts, old); i >= 0 {
		s.parts = slices.Delete(s.parts, i, i+1)
	}
	if old.result != nil {
		p.fixed.Remove(old.result)
	}
	if old.reader != nil && old.reader != s.outside.reader {
		s.closing(old.reader)
	}
	if old.loaded != nil {
		s.closing(old.loaded)
	}
}

// show prints the value of what was typed. A probe has been said to be
// attached.
func (p *prompt) show(v starlark.Value, first int) error {
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return nil
	case *builtins.Probe:
		if len(p.s.env.Probes()) > first {
			return nil
		}
	case value.Container, *value.Snapshot, *value.Histogram:
		p.s.printer = render.Printer{Format: p.s.printer.Format} // no empty line before it
		return runtime{p.s}.Show(v, builtins.ShowOptions{})
	case promptText:
		p.s.out.buf = append(p.s.out.buf, v.text()...)
		return nil
	}
	return runtime{p.s}.Show(starlarkText(value.Quoted(v)), builtins.ShowOptions{})
}

// A promptText is a value of the prompt's own that is shown as several lines.
type promptText interface{ text() string }

// note keeps what a chunk has done.
func (p *prompt) note(t *typedChunk, c *script.Chunk, first int) {
	t.assigned, t.used, t.from, t.to = c.Assigned, c.Used, first, len(p.s.env.Probes())
	t.acts, t.declares = p.acts(c.Tree.Stmts), p.onlyDeclares(c)
	if len(p.files) > 0 {
		t.file = p.files[len(p.files)-1]
	}
}

// lasting are the builtins whose calls have an effect that stays.
var lasting = []string{"every", "after", "at_exit", "limits"}

// acts reports whether statements do something that lasts, beside setting names
// and declaring probes.
func (p *prompt) acts(stmts []syntax.Stmt) (acts bool) {
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				return false
			case *syntax.AssignStmt:
				_, indexed := n.LHS.(*syntax.IndexExpr)
				acts = acts || indexed
			case *syntax.CallExpr:
				acts = acts || p.callActs(n)
			}
			return true
		})
	}
	return acts
}

// callActs: the call sets a timer, updates an entry, changes a list or switches
// a probe.
func (p *prompt) callActs(c *syntax.CallExpr) bool {
	switch fn := c.Fn.(type) {
	case *syntax.Ident:
		return fn.Name == plan.UpdateBuiltin || slices.Contains(lasting, fn.Name)
	case *syntax.DotExpr:
		root, ok := fn.X.(*syntax.Ident)
		if !ok {
			return false
		}
		switch p.s.host.Globals()[root.Name].(type) {
		case *starlark.List, *starlark.Dict, *starlark.Set:
			return slices.Contains([]string{"append", "extend", "insert", "remove", "pop", "clear", "update",
				"setdefault", "popitem", "add", "discard"}, fn.Name.Name)
		case *builtins.Probe:
			return fn.Name.Name == "enable" || fn.Name.Name == "disable"
		}
	}
	return false
}

// starlarkText is shown as it is.
type starlarkText string

func (t starlarkText) String() string        { return string(t) }
func (t starlarkText) Type() string          { return "text" }
func (t starlarkText) Freeze()               {}
func (t starlarkText) Truth() starlark.Bool  { return t != "" }
func (t starlarkText) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: text") }
