package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Pointers of the kernel that are errors (ERR_PTR): comparisons with negative numbers, and errno(p).
//
// A pointer of the kernel can be an error: ERR_PTR(-ENOENT) is the address of the
// highest 4095 bytes (include/linux/err.h). Compared with an int it is that negative
// number, as readers see it (starlark/value), and every other pointer its address.

// isError is the test whether a pointer, as an int, is an error.
func isError(p *tree.Expr, pos plan.Pos) *tree.Expr {
	least := &tree.Expr{Op: tree.OpConst, Type: types.U64, Int: -wire.MaxErrno, Pos: pos}
	return operation(tree.OpGe, types.Boolean, as(p, types.U64, pos), least, pos)
}

// pointerCompare applies a comparison to two ints of which one is a pointer: compare
// gets it as an error's number, and as an address.
func pointerCompare(p *tree.Expr, pos plan.Pos, compare func(*tree.Expr) *tree.Expr) *tree.Expr {
	e := isError(p, pos)
	number := logic(tree.OpLAnd, e, compare(as(p, types.I64, pos)), pos)
	address := logic(tree.OpLAnd, not(e, pos), compare(as(p, types.U64, pos)), pos)
	return logic(tree.OpLOr, number, address, pos)
}

// comparePointers is a comparison of l and r where one of them, x or y, is a pointer
// and the other an int; ok is false elsewhere.
func comparePointers(op tree.Op, x, y types.Type, l, r *tree.Expr, pos plan.Pos) (_ *tree.Expr, ok bool) {
	compare := func(l, r *tree.Expr) *tree.Expr {
		return &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{l, r}, Pos: pos}
	}
	switch {
	case x.Kind == types.Ptr && y.Kind == types.Int:
		return pointerCompare(l, pos, func(p *tree.Expr) *tree.Expr { return compare(p, r) }), true
	case x.Kind == types.Int && y.Kind == types.Ptr:
		return pointerCompare(r, pos, func(p *tree.Expr) *tree.Expr { return compare(l, p) }), true
	}
	return nil, false
}

// errorOf is what errno() names of a pointer: its number where it is an error, else
// None.
func errorOf(p *tree.Expr, pos plan.Pos) *tree.Expr {
	return orFault(p, pos, func(p *tree.Expr) *tree.Expr {
		return orNone(isError(p, pos), as(p, types.I64, pos), pos)
	})
}

// wordError is what errno() names of an unsigned number of 64 bits: one that fits into no signed number of that size
// is an address. It is an error's number, or None.
func wordError(n *tree.Expr, pos plan.Pos) *tree.Expr {
	return orAbsent(n, pos, func(n *tree.Expr) *tree.Expr {
		small := operation(tree.OpGe, types.Boolean, as(n, types.I64, pos), intExpr(0, pos), pos)
		return orNone(logic(tree.OpLOr, small, isError(n, pos), pos), as(n, types.I64, pos), pos)
	})
}

// orNone is e where the condition holds, else None.
func orNone(condition, e *tree.Expr, pos plan.Pos) *tree.Expr {
	t := e.Type.OrNone()
	return &tree.Expr{Op: tree.OpCond, Type: t, Args: []*tree.Expr{condition, as(e, t, pos),
		as(constExpr(plan.None{}, pos), t, pos)}, Pos: pos}
}
