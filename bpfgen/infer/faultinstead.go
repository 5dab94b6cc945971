package infer

import (
	"math"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// What would end a kernel half gives FAULT where only user space decides whether it is reached.
//
// What ends a handler of the kernel must not end an event on its way to user space: whether the value is reached there
// only user space decides. So what the kernel reads for a user half is FAULT where it would need what is not there. The
// same expression in user space, computed before the value is taken, is the error that the script's author sees.

// An absorber makes copies of expressions that cannot end the program.
type absorber struct {
	done   map[*tree.Expr]bool // what has been absorbed before
	copies map[*tree.Expr]*tree.Expr
	ends   []*tree.Expr // the conditions for an end, in the order of evaluation
}

// absorbed is v with FAULT where computing it would end the program.
func (b *body) absorbed(v val) val {
	if v.comp {
		elems := make([]val, len(v.elems))
		for i, e := range v.elems {
			elems[i] = b.absorbed(e)
		}
		v.elems = elems
	}
	if v.expr != nil {
		v.expr = b.u.orEnds(v.expr)
	}
	return v
}

func (u *unit) orEnds(e *tree.Expr) *tree.Expr {
	a := &absorber{done: u.absorbed, copies: map[*tree.Expr]*tree.Expr{}}
	out := a.copy(e)
	if a.ends == nil {
		return e
	}
	condition := a.ends[0]
	for _, c := range a.ends[1:] {
		condition = logic(tree.OpLOr, condition, c, e.Pos)
	}
	out = chooseFault(condition, out, e.Pos)
	u.absorbed[out] = true
	return out
}

// copy gives e without ends. What is evaluated once has one copy.
func (a *absorber) copy(e *tree.Expr) *tree.Expr {
	if out, ok := a.copies[e]; ok {
		return out
	}
	if a.done[e] {
		return e
	}
	out := e
	args := make([]*tree.Expr, len(e.Args))
	for i, x := range e.Args {
		args[i] = a.copy(x)
		if args[i] != x && out == e {
			c := *e
			out = &c
		}
	}
	if out != e {
		out.Args = args
	}
	if mayEnd(e) {
		out = a.endless(out, args)
	}
	a.copies[e] = out
	return out
}

// endless notes when e ends the program.
func (a *absorber) endless(e *tree.Expr, args []*tree.Expr) *tree.Expr {
	test := func(op tree.Op, args ...*tree.Expr) {
		a.ends = append(a.ends, &tree.Expr{Op: op, Type: types.Boolean, Args: args, Pos: e.Pos})
	}
	number := func(n int64) *tree.Expr { return intExpr(n, e.Pos) }
	switch e.Op {
	case tree.OpPresent:
		if t := args[0].Type; t.MayNone || t.Kind == types.None {
			test(tree.OpIsNone, args[0])
		}
		if args[0].Type.MayFault {
			test(tree.OpIsFault, args[0])
		}
		return &tree.Expr{Op: tree.OpAssume, Type: e.Type, Args: args, Pos: e.Pos}
	case tree.OpSigned:
		test(tree.OpGt, args[0], number(math.MaxInt64))
		return as(args[0], e.Type, e.Pos)
	case tree.OpFloorDiv, tree.OpFloorMod:
		test(tree.OpEq, args[1], number(0))
	case tree.OpShl:
		test(tree.OpLt, args[1], number(0))
		test(tree.OpGt, args[1], number(fold.MaxShift-1))
	case tree.OpShr: // user space shifts by any count to the right, and nothing but the sign is left
		test(tree.OpLt, args[1], number(0))
		over := operation(tree.OpGt, types.Boolean, args[1], number(fold.MaxShift-1), e.Pos)
		out := *e
		out.Args = []*tree.Expr{args[0],
			conditional(over, as(number(fold.MaxShift-1), args[1].Type, e.Pos), args[1], e.Pos)}
		return &out
	}
	return e
}
