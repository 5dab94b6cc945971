package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Mistakes in numbers that can be seen when a handler is compiled.

// wantWord refuses constants of more than 64 bits where the low ones alone
// would give something else: in comparisons, divisions, shifts to the right and
// as what says how far to shift.
func wantWord(pos plan.Pos, vals ...val) {
	for _, v := range vals {
		if i, ok := v.c.(plan.Int); ok && !i.Big.IsInt64() && !i.Big.IsUint64() {
			refuse(pos, "%s has %d bits: an int of a kernel half has 64", i.Big, i.Big.BitLen())
		}
	}
}

// maxShift is where the interpreter refuses to shift to the left (go.starlark.net, eval.go).
const maxShift = 512

// warnFault warns of an operation with a constant that always ends the handler.
func (b *body) warnFault(op tree.Op, r *tree.Expr, pos plan.Pos) {
	if r.Op != tree.OpConst || r.Type.Kind != types.Int {
		return
	}
	switch op {
	case tree.OpFloorDiv, tree.OpFloorMod:
		if r.Int == 0 {
			b.u.warnf(pos, "division by zero: this ends the handler at each event that comes here")
		}
	case tree.OpShl, tree.OpShr:
		if r.Int < 0 || r.Int >= maxShift {
			b.u.warnf(pos, "a shift by %d: this ends the handler at each event that comes here", r.Int)
		}
	}
}
