package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// FAULT in kernel halves: a value that could not be read, carried through operators and choices.

// faultT is the type of the constant FAULT: None or FAULT, without a value.
var faultT = types.NoneT.OrFault()

// isFaultExpr reports whether e is the constant FAULT.
func isFaultExpr(e *tree.Expr) bool {
	return e.Op == tree.OpConst && e.Type.Kind == types.None && e.Type.MayFault
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

// orAbsent is f of e where e is neither FAULT nor None, else what e is.
func orAbsent(e *tree.Expr, pos plan.Pos, f func(*tree.Expr) *tree.Expr) *tree.Expr {
	return orFault(e, pos, func(there *tree.Expr) *tree.Expr {
		out := f(there)
		if !e.Type.MayNone {
			return out
		}
		is := not(&tree.Expr{Op: tree.OpIsNone, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}, pos)
		return orNone(is, out, pos)
	})
}

// chooseFault is FAULT where the condition holds, else e.
func chooseFault(condition, e *tree.Expr, pos plan.Pos) *tree.Expr {
	t := e.Type.OrFault()
	return &tree.Expr{Op: tree.OpCond, Type: t, Args: []*tree.Expr{condition, as(faultExpr(pos), t, pos),
		as(e, t, pos)}, Pos: pos}
}

// isLost reports whether e is what the compiler of the program has optimized out.
func isLost(e *tree.Expr) bool {
	return e != nil && e.Op == tree.OpUnreadable && e.Int == tree.Lost
}

// asText is x where a text is wanted: what is optimized out can be a text that has no place, so it is the FAULT of one.
func asText(x val, pos plan.Pos) val {
	if !isLost(x.expr) || x.expr.Type.Leads() {
		return x
	}
	t := types.StrOf(1).OrFault()
	return exprVal(as(faultExpr(pos), t, pos))
}

// faultExpr is FAULT.
func faultExpr(pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpConst, Type: types.NoneT.OrFault(), Pos: pos}
}
