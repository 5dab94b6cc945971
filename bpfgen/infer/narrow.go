package infer

import (
	"maps"
	"slices"

	"go.starlark.net/syntax"
)

// A test for None narrows what it asks, as far as it holds: a variable, or a field of a record or of an event that a
// variable has. That field is one value for good, so that the next use has what was tested:
//
//	def f(e): return record(x = e.args.k if e.args.v > 2 else None)
//	probe(event((POINT, f)), …, where = lambda e: e.x != None and e.x > 1)
//	                                              the second e has a field x that is not None
//
// Other fields, as those that are read by a pointer, are read anew each time, and no test tells of the next one.

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
	of := b.expr(dot.X)
	if ev, ok := of.obj.(*event); ok && of.start == nil {
		_, ok := ev.over[dot.Name.Name]
		return ok
	}
	return of.isRecord() && slices.Contains(of.names, dot.Name.Name)
}

// held is the value of x. Of a kept field it is computed once, for the test and for what comes after it.
func (b walker) held(x syntax.Expr) val {
	v := b.expr(x)
	if v.expr != nil && v.expr.Type.MayNone && b.keptField(x) {
		return b.bind("", v, start(x))
	}
	return v
}

// narrowed is what is known where x, which is kept, has the value v: the variable, or the variable with another field.
func (b walker) narrowed(x syntax.Expr, v val) facts {
	if bind, ok := local(x); ok {
		return facts{bind: v}
	}
	dot := unparen(x).(*syntax.DotExpr)
	of, name := b.expr(dot.X), dot.Name.Name
	if ev, ok := of.obj.(*event); ok {
		with := *ev
		with.over = maps.Clone(ev.over)
		with.over[name] = v
		return b.narrowed(dot.X, objVal(&with))
	}
	of.elems = slices.Clone(of.elems)
	of.elems[slices.Index(of.names, name)] = v
	return b.narrowed(dot.X, of)
}
