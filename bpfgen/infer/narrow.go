package infer

import (
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What a test for None proves of variables, fields of events and records, and elements of tuples.
//
// A test for None narrows what it asks, as far as it holds: a variable, or a part of a record, a tuple or an event that
// a variable has, as a field of the event's start. That part is one value for good, so that the next use has what was
// tested:
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

// keptField reports whether x is such a field, an element of a tuple, or the start that an event has.
func (b walker) keptField(x syntax.Expr) bool {
	part, ok := b.partOf(x)
	if !ok {
		return false
	}
	if ev, ok := part.of.obj.(*event); ok {
		v, has := ev.over[part.name]
		return has && isSteady(v.expr) || !has && part.name == "start" && ev.startEv != nil
	}
	return part.i >= 0 && isSteady(part.of.elems[part.i].expr)
}

// keptPart is a part of a value that is kept: a field of an event or of a record, or an element of a tuple.
type keptPart struct {
	x    syntax.Expr // the value itself
	of   val
	name string
	i    int // of a record and of a tuple, -1: it has none
}

// partOf finds which part of which value x is.
func (b walker) partOf(x syntax.Expr) (keptPart, bool) {
	switch x := unparen(x).(type) {
	case *syntax.DotExpr:
		if !b.keeps(x.X) {
			return keptPart{}, false
		}
		of, name := b.opened(b.expr(x.X)), x.Name.Name
		_, isEvent := of.obj.(*event)
		return keptPart{x.X, of, name, slices.Index(of.names, name)}, isEvent || of.isRecord()
	case *syntax.IndexExpr:
		if !isNumeral(x.Y) || !b.keeps(x.X) {
			return keptPart{}, false
		}
		of := b.opened(b.expr(x.X))
		i, ok := b.expr(x.Y).constInt()
		if i < 0 {
			i += int64(len(of.elems))
		}
		ok = ok && of.comp && of.names == nil && i >= 0 && i < int64(len(of.elems))
		return keptPart{x.X, of, "", int(i)}, ok
	}
	return keptPart{}, false
}

// isNumeral reports whether an index is written as a number.
func isNumeral(x syntax.Expr) bool {
	if u, ok := unparen(x).(*syntax.UnaryExpr); ok && u.Op == syntax.MINUS {
		x = u.X
	}
	_, ok := unparen(x).(*syntax.Literal)
	return ok
}

// opened is a record or a tuple of the program as one whose parts stand for themselves. Each belongs to the program to
// which the whole does. Other values are what they are.
func (b walker) opened(v val) val {
	if v.comp {
		if v.start != nil && v.start != b.body {
			v = v.eachPart(func(part val) val { return part })
		}
		return v
	}
	if v.expr == nil || v.obj != nil || !isSteady(v.expr) {
		return v
	}
	t := v.expr.Type
	if t.Kind != types.Record && t.Kind != types.Tuple || t.MayNone || t.MayFault {
		return v
	}
	out := val{comp: true, names: t.Names}
	for i, elem := range t.Elems {
		part := &tree.Expr{Op: tree.OpElem, Type: elem, Int: int64(i), Args: []*tree.Expr{v.expr}, Pos: v.expr.Pos}
		out.elems = append(out.elems, exprVal(part).of(v.start))
	}
	return out
}

// of is v, which belongs to the program of a start unless it is known to belong to another one.
func (v val) of(start *body) val {
	if v.start == nil {
		v.start = start
	}
	return v
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
	part, _ := b.partOf(x)
	v = v.of(b.body) // what it is a part of may belong to the program of a start
	if ev, ok := part.of.obj.(*event); ok {
		with := *ev
		with.unasked = ev.beforeTests()
		if start, ok := v.obj.(*event); ok {
			with.startEv = start
		} else {
			with.over = maps.Clone(ev.over)
			with.over[part.name] = v
		}
		return b.narrowed(part.x, objVal(&with))
	}
	part.of.elems = slices.Clone(part.of.elems)
	part.of.elems[part.i] = v
	return b.narrowed(part.x, part.of)
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
	if a.startEv != c.startEv {
		start, _ := sameEvent(objVal(a.startEv), objVal(c.startEv)) // both differ from the one only in what was tested
		both.startEv = start.obj.(*event)
	}
	x.obj = &both
	return x, true
}
