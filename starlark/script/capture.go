package script

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// What a function has captured, converted to values of the plan: how many elements (`mostElements`) and how deep.

func newCaptures(h *Host) *captures {
	return &captures{h, make(map[*starlark.Function]*plan.Func), make(map[*plan.Func]*starlark.Function),
		make(map[starlark.Value]converted), make(map[*starlark.Module]starlark.StringDict)}
}

// Capture gives the compiler's view of a function: its tree and what it
// captured. It is called when the script has ended: later assignments to
// globals and captured variables are not seen.
func (h *Host) Capture(fn *starlark.Function) *plan.Func { return h.captures.Func(fn) }

// Origin gives the function that a Func was made of.
func (h *Host) Origin(f *plan.Func) *starlark.Function { return h.captures.origin[f] }

// Func implements builtins.Capturer.
func (c *captures) Func(fn *starlark.Function) *plan.Func {
	if f, ok := c.funcs[fn]; ok {
		return f
	}
	f := &plan.Func{ID: len(c.funcs), Name: fn.Name(), Pos: fn.Position(), Doc: fn.Doc(),
		Names: make(map[string]plan.Value)}
	c.funcs[fn] = f // before its captures, which may hold it
	c.origin[f] = fn
	switch n := c.tree(fn).(type) {
	case *syntax.DefStmt:
		f.Def = n
	case *syntax.LambdaExpr:
		f.Lambda = n
	}
	c.defaults(f, fn)
	for i := range fn.NumFreeVars() {
		_, v := fn.FreeVar(i)
		f.Free = append(f.Free, c.value(v))
	}
	if node := funcNode(f); node != nil {
		c.names(f, fn, node)
	}
	return f
}

// tree finds a function's tree, nil for one that no file has: it was made by
// a Specialise.
func (c *captures) tree(fn *starlark.Function) syntax.Node {
	pos := fn.Position()
	if f := c.host.files[pos.Filename()]; f != nil {
		return f.funcs[placeOf(pos)]
	}
	return nil
}

func funcNode(f *plan.Func) syntax.Node {
	if f.Def != nil {
		return f.Def
	}
	if f.Lambda != nil {
		return f.Lambda
	}
	return nil
}

// ownName reports whether id is the name in the def of f, which is no use of
// that name.
func ownName(f *plan.Func, id *syntax.Ident) bool { return f.Def != nil && f.Def.Name == id }

// defaults fills the defaults in the order of the parameters as written. The
// interpreter counts *args and **kwargs last.
func (c *captures) defaults(f *plan.Func, fn *starlark.Function) {
	if funcNode(f) == nil {
		return
	}
	n := 0
	for _, p := range f.Params() {
		if _, star := p.(*syntax.UnaryExpr); star {
			continue
		}
		var v plan.Value
		if d := fn.ParamDefault(n); d != nil {
			v = c.value(d)
		}
		f.Defaults = append(f.Defaults, v)
		n++
	}
}

// names converts the values of all names of the tree that are no variables of
// functions.
func (c *captures) names(f *plan.Func, fn *starlark.Function, node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		if !ok || ownName(f, id) {
			return true
		}
		b, ok := id.Binding.(*resolve.Binding)
		if !ok {
			return true
		}
		if _, done := f.Names[id.Name]; done {
			return true
		}
		if v := c.lookup(fn, b.Scope, id.Name); v != nil {
			f.Names[id.Name] = c.value(v)
		}
		return true
	})
}

// lookup gives the value of a name at file level, nil where it has none.
func (c *captures) lookup(fn *starlark.Function, scope resolve.Scope, name string) starlark.Value {
	switch scope {
	case resolve.Global:
		return c.globalsOf(fn)[name]
	case resolve.Predeclared:
		return fn.Module().Predeclared()[name]
	case resolve.Universal:
		return starlark.Universe[name]
	}
	return nil
}

// globalsOf caches the globals of a module: the interpreter makes a new map
// for each call. Nothing changes them once the script has ended.
func (c *captures) globalsOf(fn *starlark.Function) starlark.StringDict {
	m := fn.Module()
	g, ok := c.globals[m]
	if !ok {
		g = m.Globals()
		c.globals[m] = g
	}
	return g
}

// mostElements and mostNested bound the values that a kernel half can have.
const (
	mostElements = 1 << 20
	mostNested   = 1000
)

// Value implements builtins.Capturer.
func (c *captures) Value(v starlark.Value) plan.Value { return c.value(v) }

// value converts a value. nil is a variable without a value.
func (c *captures) value(v starlark.Value) plan.Value {
	n := &conversion{captures: c, left: mostElements, lists: map[starlark.Value]bool{}}
	out := n.value(v, 0)
	if n.within() {
		return out
	}
	for list, here := range n.lists {
		if here {
			delete(c.lists, list) // it may have been left in the middle
		}
	}
	if n.deep {
		return plan.Opaque{Type: fmt.Sprintf("%s that is nested more than %d deep", v.Type(), mostNested)}
	}
	return plan.Opaque{Type: fmt.Sprintf("%s of more than %d elements", v.Type(), mostElements)}
}

// A conversion makes the plan's view of a value, as long as that is within bounds. A tuple that stands in two places
// counts twice: (a, a) of (b, b) of (c, c) soon has more than anything could walk over. A list is converted once, and
// counts once.
type conversion struct {
	*captures
	// left is how many elements the value may still have, those of its elements too.
	left int
	deep bool // it is nested too deeply
	// deepest is how deep the elements lie that were converted.
	deepest int
	// lists are the lists and dicts that have been counted; true: they were converted here.
	lists map[starlark.Value]bool
}

// A converted is a list or dict that was captured: what it counts for in another value.
type converted struct {
	// value is nil while the list is being converted.
	value plan.Value
	// elements are how many it has, with those of its elements, and levels how deep these lie in it.
	elements, levels int
}

// within reports whether the value is small enough, as far as it was converted.
func (n *conversion) within() bool { return n.left >= 0 && !n.deep }

// take counts elements that lie so deep, and reports whether to go on.
func (n *conversion) take(elements, depth int) bool {
	n.left -= elements
	n.deep = n.deep || depth >= mostNested
	n.deepest = max(n.deepest, depth)
	return n.within()
}

// value converts v, which is so deep in others. Of a value that is too large it gives something else.
func (n *conversion) value(v starlark.Value, depth int) plan.Value {
	switch v := v.(type) {
	case nil:
		return plan.Opaque{Type: "variable without a value"}
	case *starlark.Function:
		return n.Func(v)
	case *starlark.Builtin:
		if v.Receiver() == nil {
			return plan.Builtin(v.Name())
		}
		if of, ok := v.Receiver().(value.Container); ok {
			return plan.Opaque{Type: v.Type(), Of: plan.Ref{Container: of.Decl()}, Method: v.Name()}
		}
	case value.Container:
		return plan.Ref{Container: v.Decl()}
	case *builtins.PointValue:
		return plan.PointValue{Point: n.host.env.PlanPoint(n.captures, v)}
	case starlark.Tuple:
		return plan.Tuple(n.all(v, depth))
	case *value.Record:
		return n.record(v, depth)
	case *starlark.List, *starlark.Dict:
		return n.list(v, depth)
	}
	return n.single(v)
}

// single converts a value that has no elements, or a range.
func (c *captures) single(v starlark.Value) plan.Value {
	if p, ok := builtins.PlainValue(v); ok {
		return p
	}
	if name, ok := c.host.moduleName(v); ok {
		return plan.Builtin(name)
	}
	if seq, ok := v.(starlark.Sequence); ok && v.Type() == "range" && seq.Len() <= maxRange {
		out := make(plan.Range, 0, seq.Len())
		for elem := range starlark.Elements(seq) {
			out = append(out, c.single(elem))
		}
		return out
	}
	return plan.Opaque{Type: v.Type()}
}

// maxRange bounds the list that a captured range becomes.
const maxRange = 1 << 16

// all converts elements that lie so deep.
func (n *conversion) all(elems []starlark.Value, depth int) []plan.Value {
	if !n.take(len(elems), depth) {
		return nil
	}
	out := make([]plan.Value, len(elems))
	for i, elem := range elems {
		if out[i] = n.value(elem, depth+1); !n.within() {
			break
		}
	}
	return out
}

func (n *conversion) record(r *value.Record, depth int) plan.Value {
	names, vals := r.Fields()
	out := make(plan.Record, len(names))
	for i, v := range n.all(vals, depth) {
		out[i] = plan.RecordField{Name: names[i], Value: v}
	}
	return out
}

// list converts a list or dict once. One that holds itself is opaque inside.
func (n *conversion) list(v starlark.Value, depth int) plan.Value {
	if known, ok := n.captures.lists[v]; ok {
		if _, counted := n.lists[v]; !counted {
			n.lists[v] = false
			n.take(known.elements, depth+known.levels)
		}
		if known.value == nil {
			return plan.Opaque{Type: v.Type() + " that holds itself"}
		}
		return known.value
	}
	n.lists[v] = true
	n.captures.lists[v] = converted{}
	left, deepest := n.left, n.deepest
	n.deepest = depth
	out := n.elements(v, depth)
	n.captures.lists[v] = converted{out, left - n.left, n.deepest - depth}
	n.deepest = max(n.deepest, deepest)
	return out
}

// elements converts those of a list or dict.
func (n *conversion) elements(v starlark.Value, depth int) plan.Value {
	list, ok := v.(*starlark.List)
	if ok {
		return plan.List(n.all(slices.Collect(starlark.Elements(list)), depth))
	}
	dict := v.(*starlark.Dict)
	out := make(plan.Dict, 0, dict.Len())
	for _, entry := range dict.Items() {
		if kv := n.all(entry, depth); n.within() {
			out = append(out, plan.DictEntry{Key: kv[0], Value: kv[1]})
		}
	}
	return out
}

// moduleName gives the name of a predeclared value that is no function: json,
// math, FAULT.
func (h *Host) moduleName(v starlark.Value) (string, bool) {
	for _, en := range builtins.Entries() {
		if p, ok := h.predeclared[en.Name]; ok && p == v {
			return en.Name, true
		}
	}
	return "", false
}
