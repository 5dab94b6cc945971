package script

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// Values that a function captured become immutable.

// Freeze makes the values that a function captured, and those of the
// functions that it calls, immutable. Kernel halves have them folded in as
// constants; a change would not reach the kernel. Containers are not frozen.
//
// Plan does so for the functions that run in the kernel by the script's word.
// The session does it for handlers that the compiler placed there.
func (h *Host) Freeze(f *plan.Func) { newFreezer(h).plan(f) }

// A freezer freezes what functions captured. The interpreter's own Freeze does
// not end for a function that captured itself.
type freezer struct {
	host  *Host
	plans map[*plan.Func]bool
	funcs map[*starlark.Function]bool
}

func newFreezer(h *Host) *freezer {
	return &freezer{h, make(map[*plan.Func]bool), make(map[*starlark.Function]bool)}
}

func (z *freezer) plan(f *plan.Func) {
	fn := z.host.captures.origin[f]
	if fn == nil || z.plans[f] {
		return
	}
	z.plans[f] = true
	z.function(fn)
	for name, v := range f.Names {
		z.functionsIn(v)
		if g := z.host.captures.globalsOf(fn)[name]; g != nil {
			z.global(f, name, v, g)
		}
	}
	for _, v := range slices.Concat(f.Free, f.Defaults) {
		z.functionsIn(v)
	}
}

// functionsIn freezes what a function captured, or those in a list, a tuple, a dict or a record: a kernel half may call
// each of them.
func (z *freezer) functionsIn(v plan.Value) {
	if fn, ok := v.(*plan.Func); ok {
		z.plan(fn)
		return
	}
	for _, x := range plan.Inside(v) {
		z.functionsIn(x)
	}
}

// global freezes a global that f names: of a record only the fields that f has, so that others stay what user code
// makes of them.
func (z *freezer) global(f *plan.Func, name string, v plan.Value, g starlark.Value) {
	switch v.(type) {
	case plan.List, plan.Dict, plan.Tuple:
		z.value(g)
	case plan.Record:
		r, ok := g.(*value.Record)
		used, whole := fieldsOf(f, name)
		if !ok || whole {
			z.value(g)
			return
		}
		names, values := r.Fields()
		for i, name := range names {
			if used[name] {
				z.value(values[i])
			}
		}
	}
}

// fieldsOf are the fields by which a function uses what a name stands for. whole is set where it uses it as a whole,
// too.
func fieldsOf(f *plan.Func, name string) (used map[string]bool, whole bool) {
	used = map[string]bool{}
	var tree syntax.Node = f.Def
	if f.Def == nil {
		tree = f.Lambda
	}
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			if x, ok := n.X.(*syntax.Ident); ok && x.Name == name {
				used[n.Name.Name] = true
				return false
			}
		case *syntax.Ident:
			whole = whole || n.Name == name
		}
		return true
	})
	return used, whole
}

// function freezes the defaults and captured variables of fn.
func (z *freezer) function(fn *starlark.Function) {
	if z.funcs[fn] {
		return
	}
	z.funcs[fn] = true
	for _, v := range held(fn) {
		z.value(v)
	}
}

func (z *freezer) value(v starlark.Value) {
	switch v := v.(type) {
	case nil:
	case *starlark.Function:
		z.function(v)
	case starlark.Tuple:
		for _, elem := range v {
			z.value(elem)
		}
	default:
		// What holds a function that captured itself stays as it is: no
		// kernel half can use that function.
		if !z.endless(v, make(map[starlark.Value]bool), make(map[*starlark.Function]bool)) {
			v.Freeze()
		}
	}
}

// endless reports whether v leads to a function that leads to itself; above
// are the functions on the way.
func (z *freezer) endless(v starlark.Value, seen map[starlark.Value]bool, above map[*starlark.Function]bool) bool {
	var parts []starlark.Value
	switch v := v.(type) {
	case *starlark.Function:
		if above[v] || seen[v] {
			return above[v]
		}
		seen[v], above[v] = true, true
		defer delete(above, v)
		parts = held(v)
	case starlark.Tuple:
		parts = v
	case *value.Record:
		_, parts = v.Fields()
	case *starlark.List, *starlark.Dict, *starlark.Set:
		if seen[v] {
			return false
		}
		seen[v] = true
		parts = elements(v)
	}
	for _, p := range parts {
		if z.endless(p, seen, above) {
			return true
		}
	}
	return false
}

// held are the defaults and captured variables of fn; nil stands for those
// without a value.
func held(fn *starlark.Function) []starlark.Value {
	var out []starlark.Value
	for i := range fn.NumParams() {
		if d := fn.ParamDefault(i); d != nil {
			out = append(out, d)
		}
	}
	for i := range fn.NumFreeVars() {
		_, v := fn.FreeVar(i)
		out = append(out, v)
	}
	return out
}

func elements(v starlark.Value) []starlark.Value {
	var out []starlark.Value
	if d, ok := v.(*starlark.Dict); ok {
		for _, kv := range d.Items() {
			out = append(out, kv[0], kv[1])
		}
		return out
	}
	for elem := range starlark.Elements(v.(starlark.Iterable)) {
		out = append(out, elem)
	}
	return out
}

// freezeKernel freezes for everything that can only run in the kernel.
func (h *Host) freezeKernel(p *plan.Plan) {
	z := newFreezer(h)
	for _, pr := range p.Probes {
		z.plan(pr.Where)
		z.plan(pr.Kernel)
		z.points(pr.Points)
	}
}

func (z *freezer) points(points []plan.Point) {
	for _, pt := range points {
		switch pt := pt.(type) {
		case *plan.Event:
			for _, a := range pt.Arms {
				z.plan(a.Fn)
				z.points(a.Points)
			}
		case *plan.Span:
			z.plan(pt.StartKey)
			z.plan(pt.EndKey)
			z.points(pt.Start)
			z.points(pt.End)
		case *plan.First:
			z.points(pt.Points)
		}
	}
}
