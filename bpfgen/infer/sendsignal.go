package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// send_signal(n) in kernel halves: its numbers (`maxSignal`), and that --unsafe grants it.

// maxSignal is _NSIG of Linux.
const maxSignal = 64

// callSendSignal is send_signal(n): whether the kernel took it. It happens
// where it stands, so its outcome is a variable.
func callSendSignal(b *body, args []arg, pos plan.Pos) val {
	a := named(args, 1, 1, "send_signal(signal)", pos)
	if !b.u.plan.Unsafe {
		wrong(pos, "send_signal changes what is traced: --unsafe grants it")
	}
	if n, ok := a[0].constInt(); ok && (n < 1 || n > maxSignal) {
		wrong(pos, "send_signal: %d is no signal; they have the numbers 1 to %d", n, maxSignal)
	}
	e := &tree.Expr{Op: tree.OpSignal, Type: types.Boolean, Args: []*tree.Expr{b.signalNumber(a[0], pos)}, Pos: pos}
	return exprVal(b.assign("", e))
}

// signalNumber is the number of a signal as the kernel takes it, in 32 bits. What is none becomes one that it refuses:
// the low half of the number might be that of a signal.
func (b *body) signalNumber(v val, pos plan.Pos) *tree.Expr {
	n := b.num(b.bind("", v, pos), pos)
	if n.Op == tree.OpConst {
		return convert(n, types.U32)
	}
	is := logic(tree.OpLAnd, operation(tree.OpGe, types.Boolean, n, intExpr(1, pos), pos),
		operation(tree.OpLe, types.Boolean, n, intExpr(maxSignal, pos), pos), pos)
	none := convert(intExpr(maxSignal+1, pos), types.U32)
	return conditional(is, convert(n, types.U32), none, pos)
}
