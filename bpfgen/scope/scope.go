// Package scope has what functions that are walked know by names: their variables, what they captured, and which
// argument of a call goes to which parameter. Both halves of a handler are walked with it, whatever their values are.
package scope

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/internal/plan"
)

// The variables of functions that are walked, and how a name finds its value.

// Vars are the values of variables; the ways of a branch begin with copies.
type Vars[V any] = persistent.Map[*resolve.Binding, V]

// A Frame has the variables of one function that is walked.
type Frame[V any] struct {
	Fn *plan.Func // nil for a function inside another
	// Def has what the resolver of Starlark knows of the function: its locals and its free variables.
	Def   *resolve.Function
	Outer *Frame[V] // of a function inside another: that in which it was defined
	// Vars are the values of its variables at the place that the walk has come to.
	Vars Vars[V]
}

// Lookup gives the value of a name; constant makes one of what the script has captured.
func (f *Frame[V]) Lookup(id *syntax.Ident, constant func(plan.Value) V) (v V, ok bool) {
	bind := id.Binding.(*resolve.Binding)
	switch bind.Scope {
	case resolve.Local, resolve.Cell:
		return f.Vars.Get(bind)
	case resolve.Free:
		return f.free(bind, constant)
	}
	for g := f; g != nil; g = g.Outer {
		if g.Fn == nil {
			continue
		}
		if c, ok := g.Fn.Names[id.Name]; ok {
			return constant(c), true
		}
	}
	return v, false
}

// free is a variable of the functions around, by where it is first named: what asks may stand in a function inside
// that is not walked yet, so that its own numbers of variables say nothing here. A function may know more of such a
// variable than those around it, where a condition in it has told.
func (f *Frame[V]) free(bind *resolve.Binding, constant func(plan.Value) V) (v V, ok bool) {
	first := bind.First
	isIt := func(b *resolve.Binding) bool { return b.First == first }
	for g := f; g != nil; g = g.Outer {
		if v, ok := g.Vars.Get(bind); ok {
			return v, true
		}
		if i := slices.IndexFunc(g.Def.Locals, isIt); i >= 0 {
			return g.Vars.Get(g.Def.Locals[i])
		}
		i := slices.IndexFunc(g.Def.FreeVars, isIt)
		switch {
		case i < 0:
		case g.Fn != nil && i < len(g.Fn.Free) && g.Fn.Free[i] != nil:
			return constant(g.Fn.Free[i]), true
		default:
			bind = g.Def.FreeVars[i] // as the function around has it
		}
	}
	return v, false
}
