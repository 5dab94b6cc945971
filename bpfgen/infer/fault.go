package infer

import (
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// faultT is the type of the constant FAULT: None or FAULT, without a value.
var faultT = types.NoneT.OrFault()

// isFaultExpr reports whether e is the constant FAULT.
func isFaultExpr(e *tree.Expr) bool {
	return e.Op == tree.OpConst && e.Type.Kind == types.None && e.Type.MayFault
}

// isFault is v == FAULT.
func (b operators) isFault(v val, pos plan.Pos) cond {
	v.mustKnow()
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

// orFault is f of a value that is there, and FAULT where e is that.
func orFault(e *tree.Expr, pos plan.Pos, f func(*tree.Expr) *tree.Expr) *tree.Expr {
	out := f(assume(e))
	if !e.Type.MayFault {
		return out
	}
	fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}
	return chooseFault(fault, out, pos)
}

// chooseFault is FAULT where the condition holds, else e.
func chooseFault(condition, e *tree.Expr, pos plan.Pos) *tree.Expr {
	t := e.Type.OrFault()
	return &tree.Expr{Op: tree.OpCond, Type: t, Args: []*tree.Expr{condition, as(faultExpr(pos), t, pos),
		as(e, t, pos)}, Pos: pos}
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
