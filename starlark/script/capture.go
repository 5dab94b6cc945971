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

func newCaptures(h *Host) *captures {
	return &captures{h, make(map[*starlark.Function]*plan.Func), make(map[*plan.Func]*starlark.Function),
		make(map[starlark.Value]plan.Value), make(map[*starlark.Module]starlark.StringDict)}
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

// value converts a value. nil is a variable without a value.
func (c *captures) value(v starlark.Value) plan.Value {
	n := counted{left: mostElements, seen: map[starlark.Value]bool{}}
	if n.value(v, 0); n.deep {
		return plan.Opaque{Type: fmt.Sprintf("%s that is nested more than %d deep", v.Type(), mostNested)}
	} else if n.left < 0 {
		return plan.Opaque{Type: fmt.Sprintf("%s of more than %d elements", v.Type(), mostElements)}
	}
	return c.convert(v)
}

// A counted is how many elements a value may still have, those of its elements too. A tuple that stands in two places
// counts twice: (a, a) of (b, b) of (c, c) soon has more than anything could walk over. A list is converted once, and
// counts once.
type counted struct {
	left int
	seen map[starlark.Value]bool // lists and dicts
	deep bool                    // it is nested too deeply
}

// value takes the elements of v, which is so deep in others, from what is left.
func (n *counted) value(v starlark.Value, depth int) {
	switch v := v.(type) {
	case starlark.Tuple:
		n.all(v, depth)
	case *value.Record:
		_, fields := v.Fields()
		n.all(fields, depth)
	case *starlark.List, *starlark.Dict:
		if !n.seen[v] {
			n.seen[v] = true
			n.container(v, depth)
		}
	}
}

func (n *counted) container(v starlark.Value, depth int) {
	switch v := v.(type) {
	case *starlark.List:
		n.all(slices.Collect(starlark.Elements(v)), depth)
	case *starlark.Dict:
		for _, entry := range v.Items() {
			n.all(entry, depth)
		}
	}
}

func (n *counted) all(elems []starlark.Value, depth int) {
	n.left -= len(elems)
	n.deep = n.deep || depth >= mostNested
	for _, elem := range elems {
		if n.left < 0 || n.deep {
			return
		}
		n.value(elem, depth+1)
	}
}

func (c *captures) convert(v starlark.Value) plan.Value {
	if v == nil {
		return plan.Opaque{Type: "variable without a value"}
	}
	if p, ok := builtins.PlainValue(v); ok {
		return p
	}
	switch v := v.(type) {
	case *starlark.Function:
		return c.Func(v)
	case *starlark.Builtin:
		if v.Receiver() == nil {
			return plan.Builtin(v.Name())
		}
	case value.Container:
		return plan.Ref{Container: v.Decl()}
	case *builtins.PointValue:
		return plan.PointValue{Point: c.host.env.PlanPoint(c, v)}
	case starlark.Tuple:
		out := make(plan.Tuple, len(v))
		for i, elem := range v {
			out[i] = c.convert(elem)
		}
		return out
	case *value.Record:
		return c.record(v)
	case *starlark.List, *starlark.Dict:
		return c.list(v)
	}
	if name, ok := c.host.moduleName(v); ok {
		return plan.Builtin(name)
	}
	if seq, ok := v.(starlark.Sequence); ok && v.Type() == "range" {
		return c.sequence(seq)
	}
	return plan.Opaque{Type: v.Type()}
}

func (c *captures) record(r *value.Record) plan.Value {
	names, vals := r.Fields()
	out := make(plan.Record, len(names))
	for i, n := range names {
		out[i] = plan.RecordField{Name: n, Value: c.convert(vals[i])}
	}
	return out
}

// list converts a list or dict once. One that holds itself is opaque inside.
func (c *captures) list(v starlark.Value) plan.Value {
	if p, ok := c.lists[v]; ok {
		if p == nil {
			return plan.Opaque{Type: v.Type() + " that holds itself"}
		}
		return p
	}
	c.lists[v] = nil
	var out plan.Value
	switch v := v.(type) {
	case *starlark.List:
		out = c.sequence(v)
	case *starlark.Dict:
		d := make(plan.Dict, 0, v.Len())
		for _, kv := range v.Items() {
			d = append(d, plan.DictEntry{Key: c.convert(kv[0]), Value: c.convert(kv[1])})
		}
		out = d
	}
	c.lists[v] = out
	return out
}

// maxRange bounds the list that a captured range becomes.
const maxRange = 1 << 16

func (c *captures) sequence(s starlark.Sequence) plan.Value {
	isRange := s.Type() == "range"
	if isRange && s.Len() > maxRange {
		return plan.Opaque{Type: "range"}
	}
	out := make([]plan.Value, 0, s.Len())
	for elem := range starlark.Elements(s) {
		out = append(out, c.convert(elem))
	}
	if isRange {
		return plan.Range(out)
	}
	return plan.List(out)
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
