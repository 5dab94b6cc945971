package infer

import (
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// A test for None narrows what it asks, as far as it holds: a variable, or a field of a record or of an event that a
// variable has. That field is one value for good, so that the next use has what was tested:
//
//	def f(e): return record(x = e.args.k if e.args.v > 2 else None)
//	probe(event((POINT, f)), …, where = lambda e: e.x != None and e.x > 1)
//	                                              the second e has a field x that is not None
//
// Other fields, as those that are read by a pointer, are read anew each time, and no test tells of the next one. Where
// two ways of a handler meet, what both have found goes on holding.

// keeps reports whether two uses of x have one value.
func (b walker) keeps(x syntax.Expr) bool {
	_, ok := local(x)
	return ok || b.keptField(x)
}

// keptField reports whether x is such a field.
func (b walker) keptField(x syntax.Expr) bool {
	dot, ok := unparen(x).(*syntax.DotExpr)
	if !ok || !b.keeps(dot.X) {
		return false
	}
	of := b.opened(b.expr(dot.X))
	if ev, ok := of.obj.(*event); ok && of.start == nil {
		v, ok := ev.over[dot.Name.Name]
		return ok && ev.b == b.body && isSteady(v.expr)
	}
	i := slices.Index(of.names, dot.Name.Name)
	return of.isRecord() && i >= 0 && isSteady(of.elems[i].expr)
}

// opened is a record of the program as one whose fields stand for themselves. Other values are what they are.
func (b walker) opened(v val) val {
	if v.expr == nil || v.start != nil && v.start != b.body || v.obj != nil || !isSteady(v.expr) {
		return v
	}
	t := v.expr.Type
	if t.Kind != types.Record || t.MayNone || t.MayFault {
		return v
	}
	out := val{comp: true, names: t.Names}
	for i, elem := range t.Elems {
		out.elems = append(out.elems, exprVal(&tree.Expr{Op: tree.OpElem, Type: elem, Int: int64(i),
			Args: []*tree.Expr{v.expr}, Pos: v.expr.Pos}))
	}
	return out
}

// isSteady reports whether an expression has one value wherever it stands: a local, or a part of one.
func isSteady(e *tree.Expr) bool {
	switch {
	case e == nil || e.Op == tree.OpLocal || e.Op == tree.OpConst:
		return true
	case e.Op == tree.OpElem || e.Op == tree.OpAssume:
		return isSteady(e.Args[0])
	}
	return false
}

// steady is v, which a field of an event is to be, of which each part that may be None is computed once.
func steady(b *body, v val, pos plan.Pos) val {
	if v.comp {
		v.elems = slices.Clone(v.elems)
		for i, e := range v.elems {
			v.elems[i] = steady(b, e, pos)
		}
		return v
	}
	if v.expr != nil && v.expr.Type.MayNone && !isSteady(v.expr) {
		return b.bind("", v, pos)
	}
	return v
}

// narrowed is what is known where x, which is kept, has the value v: the variable, or the variable with another field.
func (b walker) narrowed(x syntax.Expr, v val) facts {
	if bind, ok := local(x); ok {
		return facts{bind: v}
	}
	dot := unparen(x).(*syntax.DotExpr)
	of, name := b.opened(b.expr(dot.X)), dot.Name.Name
	if ev, ok := of.obj.(*event); ok {
		with := *ev
		with.unasked = ev.beforeTests()
		with.over = maps.Clone(ev.over)
		with.over[name] = v
		return b.narrowed(dot.X, objVal(&with))
	}
	of.elems = slices.Clone(of.elems)
	of.elems[slices.Index(of.names, name)] = v
	return b.narrowed(dot.X, of)
}

// beforeTests is the event before any of its fields was tested.
func (e *event) beforeTests() *event {
	if e.unasked != nil {
		return e.unasked
	}
	return e
}

// sameEvent is the event that x and y both are, if they differ only in what was tested of it. What holds on both ways
// goes on holding.
func sameEvent(x, y val) (val, bool) {
	a, isX := x.obj.(*event)
	c, isY := y.obj.(*event)
	if !isX || !isY || a.beforeTests() != c.beforeTests() || x.start != y.start {
		return val{}, false
	}
	both := *a
	both.over = maps.Clone(a.beforeTests().over)
	for name, v := range a.over {
		if same(v, c.over[name]) {
			both.over[name] = v
		}
	}
	x.obj = &both
	return x, true
}
