package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// An argument of a system call that the kernel does not look at is None, as the mode of open without O_CREAT.

// takenArg is the argument v of a call as the kernel takes it. Whether a call uses an argument can depend on another
// one (spec). Of an argument that it does not use the register has what the program left there, so that is None here,
// and 0 for a mode. arg gives the argument with the number i.
func (b memory) takenArg(v val, spec kernel.SyscallArg, arg func(i int) *tree.Expr) val {
	if spec.Use != nil {
		return usedArg(v, spec.Use, arg(spec.Use.Selector))
	}
	return b.created(v, spec, arg)
}

// usedArg is v where the call uses it, and None where it does not. Scripts seldom test it for None, because they test
// the selector. So computing with it is not refused. It ends the handler where it is None.
func usedArg(v val, use *kernel.ArgumentUse, selector *tree.Expr) val {
	pos := v.expr.Pos
	number := func(n uint64) *tree.Expr { return intExpr(int64(n), pos) }
	if use.Mask != 0 {
		selector = operation(tree.OpAnd, types.U64, selector, number(use.Mask), pos)
	}
	compare := func(op tree.Op, n uint64) *tree.Expr {
		return &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{selector, number(n)}, Pos: pos}
	}
	var listed *tree.Expr
	for _, r := range slices.Concat(use.Only, use.Except) {
		in := compare(tree.OpEq, r.From)
		if r.From != r.To {
			in = logic(tree.OpLAnd, compare(tree.OpGe, r.From), compare(tree.OpLe, r.To), pos)
		}
		if listed == nil {
			listed = in
			continue
		}
		listed = logic(tree.OpLOr, listed, in, pos)
	}
	if listed == nil {
		listed = compare(tree.OpNe, 0)
	}
	t := v.expr.Type
	if t.Kind != types.Ptr {
		t = t.OrNone().OrFault()
	}
	choice := []*tree.Expr{listed, as(v.expr, t, pos), as(constExpr(plan.None{}, pos), t, pos)}
	if use.Except != nil {
		choice[1], choice[2] = choice[2], choice[1]
	}
	return exprVal(&tree.Expr{Op: tree.OpCond, Type: t, Args: choice, Pos: pos})
}

// The flags with which the kernel looks at the mode: O_CREAT and __O_TMPFILE (WILL_CREATE in include/linux/fcntl.h),
// whose values amd64 and arm64 share.
const willCreate = 0x40 | 0x400000

// created is v, the mode argument of a call that may create a file. It is 0 where the flags of the call do not ask for
// that (O_CREAT): the kernel does not look at the mode then.
func (b memory) created(v val, spec kernel.SyscallArg, arg func(i int) *tree.Expr) val {
	if spec.Creating == 0 {
		return v
	}
	pos := v.expr.Pos
	bits := operation(tree.OpAnd, types.U64, arg(spec.Creating-1), intExpr(willCreate, pos), pos)
	zero := intExpr(0, pos)
	will := operation(tree.OpNe, types.Boolean, bits, zero, pos)
	return exprVal(&tree.Expr{Op: tree.OpCond, Type: v.expr.Type,
		Args: []*tree.Expr{will, v.expr, convert(zero, v.expr.Type)}, Pos: pos})
}
