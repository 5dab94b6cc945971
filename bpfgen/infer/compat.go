package infer

import (
	"runtime"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Whether a system call is one of a program of 32 bits (e.compat), and the number of such a call.

// isCompat is whether the thread is in a call of the 32-bit interface; nil where that cannot be known.
func (b memory) isCompat(pos plan.Pos) *tree.Expr {
	mark := points.CompatMark(b.u.facts)
	if mark == nil {
		return nil
	}
	word := assume(load(memPlace{b.task(pos), mark.Offset, tree.Kernel, b.body}, types.U32, pos))
	bit := operation(tree.OpAnd, types.U32, word, intExpr(mark.Mask, pos), pos)
	return operation(tree.OpNe, types.Boolean, bit, intExpr(0, pos), pos)
}

// rawNumber is the number of a system call as the tracepoints of all calls have it, as startrace's own: that of a call
// of the 32-bit interface has kernel.CompatBase added, so that it has a name.
func (b memory) rawNumber(nr *tree.Expr, pos plan.Pos) *tree.Expr {
	is := b.isCompat(pos)
	if is == nil {
		return nr
	}
	is = logic(tree.OpLAnd, operation(tree.OpGe, types.Boolean, nr, intExpr(0, pos), pos), is, pos)
	own := operation(tree.OpAdd, types.I64, nr, intExpr(kernel.CompatBase, pos), pos)
	if runtime.GOARCH == "arm64" {
		base := int64(kernel.CompatExtras)
		extra := operation(tree.OpGe, types.Boolean, nr, intExpr(base, pos), pos)
		shift := intExpr(kernel.CompatBase+kernel.TableSize-kernel.Extras-base, pos)
		own = conditional(extra, operation(tree.OpAdd, types.I64, nr, shift, pos), own, pos)
	}
	return conditional(is, own, convert(nr, types.I64), pos)
}
