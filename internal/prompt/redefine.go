package prompt

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

// What depends on a name that is set anew at the prompt is declared again, or keeps the old one, and the message of it.
//
// A chunk keeps the globals that there were when it ran: what it declared would
// go on with the old function or table when a name is set anew. But who writes
// `lambda e: n[e.comm].add()` means what n is, as in Python. So the chunks that
// use the name run again, those that use what these set, too. Only chunks that
// declare and do nothing else can; of the others it is said that they do not
// know of it.

// sayReplaced says which containers have the names of new ones.
func (p *prompt) sayReplaced(t *typedChunk, old starlark.StringDict) {
	for _, name := range p.setNames(t) {
		was, ok := old[name].(value.Container)
		now, still := p.s.Host().Globals()[name].(value.Container)
		if ok && still && was != now {
			p.s.Messagef("Replaced the %s %s of %s", was.Decl().Kind, name, was.Decl().Pos)
		}
	}
}

// setNames are the globals that a chunk has set, itself or by loading a file.
func (p *prompt) setNames(t *typedChunk) []string {
	return slices.Concat(t.assigned, p.loaded)
}

// repeat runs what depends on the names that a chunk has set anew.
func (p *prompt) repeat(latest *typedChunk, old starlark.StringDict) {
	changed := map[string]string{} // by what the user has set
	for _, name := range p.setNames(latest) {
		if was := old[name]; was != nil && !same(was, p.s.Host().Globals()[name]) {
			changed[name] = name
		}
	}
	if len(changed) == 0 {
		return
	}
	p.repeating, p.files = true, nil // no file is loaded by what runs now
	defer func() { p.repeating = false }()
	again := p.runAllAgain(changed)
	var keep []*typedChunk
	for _, t := range p.typed[:len(p.typed)-1] {
		cause := causeOf(t.used, changed)
		if _, gone := changed[t.switches]; gone {
			t.acts = false
		}
		if cause != "" && !slices.Contains(again, t) && (p.attached(t) || t.acts) {
			keep, t.keeps = append(keep, t), cause
			p.s.Messagef("%s keeps the old %s: enter it again", p.title(t), cause)
		}
	}
	p.typed = inOrder(p.typed, again, keep)
}

// inOrder is all chunks as a script has them: those that ran again use what is new, so they come behind it, and those
// that keep the old behind what they use of these, if nothing in front of them has set it.
func inOrder(all, again, keep []*typedChunk) []*typedChunk {
	out := append(slices.DeleteFunc(slices.Clone(all), func(t *typedChunk) bool {
		return slices.Contains(again, t)
	}), again...)
	for _, t := range keep {
		at := slices.Index(out, t)
		last := at
		for _, name := range t.used {
			first := slices.IndexFunc(out, func(of *typedChunk) bool { return slices.Contains(of.assigned, name) })
			last = max(last, first)
		}
		out = slices.Insert(slices.Delete(out, at, at+1), last, t)
	}
	return out
}

// runAllAgain runs the chunks that can, of those that use a changed name, and adds the names that they set. A chunk may
// use what a later one has set: so it goes on until none is left.
func (p *prompt) runAllAgain(changed map[string]string) (again []*typedChunk) {
	for more := true; more; {
		more = false
		for _, t := range p.typed[:len(p.typed)-1] {
			cause := causeOf(t.used, changed)
			if cause == "" || slices.Contains(again, t) || !t.declares || !p.owns(t) || !p.stands(t) {
				continue
			}
			again, more = append(again, t), true
			if p.runAgain(t, cause) {
				for _, set := range t.assigned {
					changed[set] = cause
				}
			}
		}
	}
	return again
}

// runAgain declares anew what a chunk declared. If that fails, all stays as it
// is.
func (p *prompt) runAgain(t *typedChunk, changed string) bool {
	attached, title := p.attached(t), p.title(t)
	if _, err := p.declare(t); err != nil {
		t.keeps = changed
		p.s.Messagef("%s keeps the old %s, because of the new one:", title, changed)
		p.s.Report(err)
		return false
	}
	t.keeps = ""
	if attached {
		p.s.Messagef("Attached again with the new %s: %s", changed, title)
	}
	return true
}

// title names a chunk by its probes, else by its line.
func (p *prompt) title(t *typedChunk) string {
	var names []string
	for id := t.from; id < t.to; id++ {
		if probe := p.s.Host().Env().Probes()[id]; !p.s.Gone(id) {
			names = append(names, fmt.Sprintf("%s (%s)", probe.Called(), probe.Pos()))
		}
	}
	if names == nil {
		return fmt.Sprintf("%s:%d", file, t.line)
	}
	return strings.Join(names, ", ")
}

// stands reports whether something of a chunk is still there: a probe, or a name
// that nothing else has set since.
func (p *prompt) stands(t *typedChunk) bool {
	return t.acts || p.attached(t) || slices.ContainsFunc(t.assigned, func(name string) bool {
		return p.setter(name) == t
	})
}

func (p *prompt) attached(t *typedChunk) bool {
	for id := t.from; id < t.to; id++ {
		if !p.s.Gone(id) {
			return true
		}
	}
	return false
}

// owns reports whether a chunk is the last that has set each of its names.
func (p *prompt) owns(t *typedChunk) bool {
	return !slices.ContainsFunc(t.assigned, func(name string) bool { return p.setter(name) != t })
}

// setter is the last chunk that has set a name.
func (p *prompt) setter(name string) *typedChunk {
	for _, t := range slices.Backward(p.typed) {
		if slices.Contains(t.assigned, name) {
			return t
		}
	}
	return nil
}

func causeOf(names []string, changed map[string]string) string {
	for _, name := range names {
		if cause := changed[name]; cause != "" {
			return cause
		}
	}
	return ""
}

// same reports whether a name means the same as before. Lists, dicts and sets
// are never the same as others: both can be changed.
func same(was, now starlark.Value) bool {
	switch was.(type) {
	case *starlark.List, *starlark.Dict, *starlark.Set:
		return false
	}
	equal, err := starlark.Equal(was, now)
	return err == nil && equal
}

// onlyDeclares reports whether a chunk declares functions, points and probes,
// and does nothing else that a second run would do twice.
func (p *prompt) onlyDeclares(c *script.Chunk) bool {
	for _, s := range c.Tree.Stmts {
		switch s := s.(type) {
		case *syntax.DefStmt:
		case *syntax.AssignStmt:
			if _, name := s.LHS.(*syntax.Ident); !name || s.Op != syntax.EQ || !p.pure(s.RHS) {
				return false
			}
		default:
			return false
		}
	}
	for _, name := range c.Assigned {
		if !declared(p.s.Host().Globals()[name]) {
			return false
		}
	}
	return c.Value == nil || declared(c.Value)
}

func declared(v starlark.Value) bool {
	switch v.(type) {
	case *starlark.Function, *builtins.Probe, *builtins.PointValue:
		return true
	}
	return false
}

// pure reports whether an expression only calls what declares or computes.
func (p *prompt) pure(x syntax.Expr) bool {
	pure := true
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LambdaExpr:
			return false
		case *syntax.CallExpr:
			id, ok := n.Fn.(*syntax.Ident)
			pure = pure && ok && p.declaring(id.Name)
		}
		return true
	})
	return pure
}

// declaring reports whether a function declares or computes. Those of the
// script are taken to do so: of what they give it is known.
func (p *prompt) declaring(name string) bool {
	if _, own := p.s.Host().Globals()[name].(*starlark.Function); own {
		return true
	}
	en, ok := builtins.Lookup(name)
	if !ok {
		_, word := p.words[name]
		return !word && starlark.Universe.Has(name)
	}
	return slices.Contains([]string{"points", "values", "labels"}, en.Family) || name == "probe" ||
		name == "duration" || name == "expression"
}
