package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// A pointer of the kernel can be an error: ERR_PTR(-ENOENT) is the address of the
// highest 4095 bytes (include/linux/err.h). Compared with an int it is that negative
// number, as readers see it (starlark/value), and every other pointer its address.

// isError is the test whether a pointer, as an int, is an error.
func isError(p *tree.Expr, pos plan.Pos) *tree.Expr {
	least := &tree.Expr{Op: tree.OpConst, Type: types.U64, Int: -wire.MaxErrno, Pos: pos}
	return &tree.Expr{Op: tree.OpGe, Type: types.Boolean, Args: []*tree.Expr{as(p, types.U64, pos), least}, Pos: pos}
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
func (b *body) errorOf(p *tree.Expr, pos plan.Pos) *tree.Expr {
	t := types.I64.OrNone()
	t.MayFault = p.Type.MayFault
	number := as(as(assume(p), types.I64, pos), t, pos)
	e := &tree.Expr{Op: tree.OpCond, Type: t, Args: []*tree.Expr{isError(assume(p), pos), number, as(constExpr(plan.None{}, pos), t, pos)}, Pos: pos}
	if !t.MayFault {
		return e
	}
	fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{p}, Pos: pos}
	return &tree.Expr{Op: tree.OpCond, Type: t, Args: []*tree.Expr{fault, as(faultExpr(pos), t, pos), e}, Pos: pos}
}
