package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The truth of a value in kernel halves, the tests for None and FAULT, and the message about a truth that only user
// space knows, as that of a table.

// truth is Starlark's bool(v).
func (b operators) truth(v val, pos plan.Pos) cond {
	if v.asked != nil {
		return unsaid(b.body, pos)
	}
	v.mustKnow()
	v = b.attributes().counted(v, pos)
	v, _ = b.unfolded(v, pos)
	switch {
	case v.c != nil && !fold.Lasting(v.c):
		unlasting(v, pos)
	case v.c != nil:
		return known(fold.Truth(v.c))
	case v.comp:
		return known(v.names != nil || len(v.elems) > 0)
	case v.obj != nil:
		if r, ok := v.obj.(*rangeObj); ok {
			return b.truth(b.rangeHas(r, pos), pos)
		}
		if _, is := v.obj.(*event); is {
			refuse(pos, "the event e is always true, and cannot be stored or computed with in a kernel half: "+
				"use its parts")
		}
		if _, ok := v.obj.(addressed); !ok {
			return known(true)
		}
	}
	e := b.rv(v, pos)
	if e.Type.Kind == types.None {
		return b.isFault(v, pos) // FAULT is true
	}
	notLabelled(e.Type, pos)
	if e.Type.Kind != types.Ptr || e.Type.MayFault {
		e = onceAbsent(b.body, e)
	}
	out := b.presentTruth(assume(e), pos)
	if e.Type.MayFault {
		out = logic(tree.OpLOr, &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos},
			out, pos)
	}
	if e.Type.MayNone && e.Type.Kind != types.Ptr {
		none := &tree.Expr{Op: tree.OpIsNone, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}
		out = logic(tree.OpLAnd, not(none, pos), out, pos)
	}
	return cond{expr: out}
}

// unlasting refuses to ask for a truth that only user space knows.
func unlasting(v val, pos plan.Pos) {
	if _, ok := v.c.(plan.Ref); ok {
		refuse(pos, "%s is true while it has entries, which user space can ask: "+
			"a kernel half asks for a key, as k in t, or counts in a cell", v.describe())
	}
	refuse(pos, "whether %s is true is known in user space only", v.describe())
}

// rangeHas is whether a range has any elements.
func (b operators) rangeHas(r *rangeObj, pos plan.Pos) val {
	if r.step < 0 {
		return b.binary(syntax.GT, r.start, r.stop, pos)
	}
	return b.binary(syntax.LT, r.start, r.stop, pos)
}

// presentTruth is the truth of a value that is there.
func (b operators) presentTruth(e *tree.Expr, pos plan.Pos) *tree.Expr {
	switch e.Type.Kind {
	case types.Bool:
		return e
	case types.Stack: // of which a view is nobody's number; the ids of stacks are odd: wire.NoStack
		notView(e.Type, pos)
		odd := operation(tree.OpAnd, types.U64, e, intExpr(1, pos), pos)
		return operation(tree.OpNe, types.Boolean, odd, intExpr(0, pos), pos)
	case types.Float:
		return isNonzero(e, pos)
	case types.Int, types.Ptr:
		return operation(tree.OpNe, types.Boolean, e, intExpr(0, pos), pos)
	case types.Str, types.Bytes:
		n := &tree.Expr{Op: tree.OpStrLen, Type: types.IntOf(32, false), Args: []*tree.Expr{e}, Pos: pos}
		return operation(tree.OpNe, types.Boolean, n, intExpr(0, pos), pos)
	}
	return constExpr(plan.Bool(e.Type.Kind == types.Record || len(e.Type.Elems) > 0), pos)
}

func (b operators) isNone(v val, pos plan.Pos) cond {
	notView(v.typ(), pos)
	if v.asked != nil {
		return unsaid(b.body, pos)
	}
	v.mustKnow()
	v = golang(b).orNone(v, pos)
	switch {
	case v.isNone():
		return known(true)
	case v.expr == nil:
		if _, ok := v.obj.(*unjoined); !ok {
			return known(false)
		}
	}
	e := b.rv(v, pos)
	switch t := e.Type; {
	case isFaultExpr(e):
		return known(false)
	case t.Kind == types.None && t.MayFault:
	case !t.MayNone && t.Kind != types.Ptr:
		return known(t.Kind == types.None)
	}
	return cond{expr: &tree.Expr{Op: tree.OpIsNone, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}}
}

// isFault is v == FAULT.
func (b operators) isFault(v val, pos plan.Pos) cond {
	if v.asked != nil {
		return unsaid(b.body, pos)
	}
	v.mustKnow()
	v = golang(b).orNone(v, pos)
	switch {
	case v.c != nil:
		return known(fold.IsFault(v.c))
	case v.comp:
		return known(false)
	}
	e := b.rv(v, pos)
	if !e.Type.MayFault {
		return known(false)
	}
	return cond{expr: &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}}
}

// equalAbsent is l == r where one of them is None or FAULT whenever it is read.
func (b operators) equalAbsent(l, r *tree.Expr, pos plan.Pos) cond {
	if l.Type.Kind == types.None {
		l, r = r, l
	}
	none := b.isNone(exprVal(l), pos)
	if !r.Type.MayFault {
		return none
	}
	both := func(c, d cond) cond {
		out, _ := connected(tree.OpLAnd, c, d, pos)
		return out
	}
	fault := both(b.isFault(exprVal(l), pos), b.isFault(exprVal(r), pos))
	out, _ := connected(tree.OpLOr, both(none, b.isNone(exprVal(r), pos)), fault, pos)
	return out
}
