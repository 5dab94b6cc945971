package prompt

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
	"github.com/startrace/startrace/starlark/repl"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

// What is typed is run, its probes attached in the place of those before, its value shown; load("FILE") as a line.

// loadFile is `load("FILE")` without names, which Starlark has no meaning for:
// it runs the file with its probes.
var loadFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*)load(\(\s*("[^"]*"|'[^']*')\s*\)\s*)$`)
})

// runChunk runs a chunk, attaches its probes and shows its value.
func (p *prompt) runChunk(c repl.Chunk) {
	if !p.Begin() {
		p.s.Report(errors.New(line.Interrupted))
		return
	}
	p.s.Flush(p.IsTerminal())
	p.inChunk, p.files, p.loaded = true, nil, nil
	text := c.Text
	if loadFile().MatchString(text) {
		text = loadFile().ReplaceAllString(text, "${1}reload$2")
	}
	err := p.s.Guarded(func() error { return p.take(c.Line, text) })
	p.inChunk = false
	p.Done()
	p.s.Host().Resume()
	var exit *builtins.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.s.Report(err)
	}
	p.s.Flush(false)
	p.Fresh()
}

// take runs the text of a chunk.
func (p *prompt) take(line int, text string) error {
	old := maps.Clone(p.s.Host().Globals())
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
	env := p.s.Host().Env()
	first, before := len(env.Probes()), p.probeGlobals()
	chunk, err := p.s.Host().RunChunk(file, t.line, t.text)
	if err == nil {
		err = p.s.Attach(first, p.replaced(chunk, t, first, before), p.repeating)
	}
	if err != nil {
		env.Forget(first)
		p.putBack(before)
		return nil, err
	}
	p.note(t, chunk, first)
	return chunk.Value, nil
}

// probeGlobals are the globals that hold probes.
func (p *prompt) probeGlobals() map[string]*builtins.Probe {
	out := map[string]*builtins.Probe{}
	for name, v := range p.s.Host().Globals() {
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
		p.s.Host().Globals()[name] = probe
	}
}

// replaced are the probes that the chunk replaces: those whose name it
// has set anew, as a global or by name=, those of a file that it has loaded
// again, and its own if it ran before.
func (p *prompt) replaced(c *script.Chunk, t *typedChunk, first int, before map[string]*builtins.Probe) (ids []int) {
	probes := p.s.Host().Env().Probes()
	for id, probe := range probes[:first] {
		if p.s.Gone(id) {
			continue
		}
		again := slices.Contains(p.files, probe.Pos().Filename()) || id >= t.from && id < t.to
		for name, old := range before {
			again = again || old == probe && slices.Contains(c.Assigned, name) &&
				p.s.Host().Globals()[name] != starlark.Value(old)
		}
		for _, other := range probes[first:] {
			again = again || other.Given() != "" && other.Given() == probe.Given()
		}
		if again {
			ids = append(ids, id)
		}
	}
	return ids
}

// show prints the value of what was typed. A probe has been said to be
// attached.
func (p *prompt) show(v starlark.Value, first int) error {
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return nil
	case *builtins.Probe:
		if len(p.s.Host().Env().Probes()) > first {
			return nil
		}
	case value.Container, *value.Snapshot, *value.Histogram:
		return p.s.Show(v)
	case promptText:
		p.s.Print(v.text())
		return nil
	}
	return p.s.Show(starlarkText(value.Quoted(v)))
}

// note keeps what a chunk has done.
func (p *prompt) note(t *typedChunk, c *script.Chunk, first int) {
	t.assigned, t.used, t.from, t.to = c.Assigned, c.Used, first, len(p.s.Host().Env().Probes())
	t.acts, t.declares = p.acts(c.Tree.Stmts), p.onlyDeclares(c)
	t.switches = switched(c.Tree.Stmts, p.s.Host().Globals())
	if len(p.files) > 0 {
		t.file = p.files[len(p.files)-1]
	}
}

// switched is the name of the probe that a chunk of one call, as p.disable(), switches; "" of others. The chunk keeps
// the value of the call in a name of its own.
func switched(stmts []syntax.Stmt, globals starlark.StringDict) string {
	if len(stmts) != 1 {
		return ""
	}
	assign, _ := stmts[0].(*syntax.AssignStmt)
	if assign == nil {
		return ""
	}
	if call, is := assign.RHS.(*syntax.CallExpr); is {
		if root, is := switches(call, globals); is {
			return root
		}
	}
	return ""
}

// switches reports whether a call is of a method that switches a probe, and the name of the probe.
func switches(c *syntax.CallExpr, globals starlark.StringDict) (name string, is bool) {
	fn, _ := c.Fn.(*syntax.DotExpr)
	if fn == nil {
		return "", false
	}
	root, _ := fn.X.(*syntax.Ident)
	if root == nil {
		return "", false
	}
	_, probe := globals[root.Name].(*builtins.Probe)
	return root.Name, probe && slices.Contains([]string{"enable", "disable", "detach"}, fn.Name.Name)
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
	if _, is := switches(c, p.s.Host().Globals()); is {
		return true
	}
	switch fn := c.Fn.(type) {
	case *syntax.Ident:
		return fn.Name == plan.UpdateBuiltin || slices.Contains(lasting, fn.Name)
	case *syntax.DotExpr:
		root, ok := fn.X.(*syntax.Ident)
		if !ok {
			return false
		}
		switch p.s.Host().Globals()[root.Name].(type) {
		case *starlark.List, *starlark.Dict, *starlark.Set:
			return slices.Contains([]string{"append", "extend", "insert", "remove", "pop", "clear", "update",
				"setdefault", "popitem", "add", "discard"}, fn.Name.Name)
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
