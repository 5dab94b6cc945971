package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// How many rounds a loop over a computed range can have at most, as range(n % 4).

// mostRounds is how many rounds a computed loop can have by the form of its range, as range(n % 4) has 3: the verifier
// is then asked to follow no more. It is at least 1: a loop without a round would have no body to follow.
func mostRounds(from, to val, step int64) int64 {
	start, ok := from.constInt()
	if !ok || start < 0 || step < 1 || to.expr == nil {
		return maxRange
	}
	most, ok := greatest(to.expr)
	if !ok {
		return maxRange
	}
	return min(maxRange, max(1, (most-start+step-1)/step))
}

// greatest is what an int is at most, where its form or its width tells that it is little.
func greatest(e *tree.Expr) (int64, bool) {
	constant := func(i int) (int64, bool) {
		if len(e.Args) != 2 || e.Args[i].Op != tree.OpConst || e.Args[i].Int <= 0 {
			return 0, false
		}
		return e.Args[i].Int, true
	}
	switch e.Op {
	case tree.OpConst:
		return e.Int, true
	case tree.OpFloorMod: // rounds down: of a divisor above 0 the rest is at least 0
		if n, ok := constant(1); ok {
			return n - 1, true
		}
	case tree.OpAnd, tree.OpMin:
		for i := range e.Args {
			if n, ok := constant(i); ok {
				return n, true
			}
		}
	case tree.OpConvert, tree.OpAssume, tree.OpPresent:
		if n, ok := greatest(e.Args[0]); ok && e.Type.Kind == types.Int && uint64(n) < 1<<(e.Type.Bits-1) {
			return n, true
		}
	}
	if e.Type.Kind == types.Int && e.Type.Bits <= 8 && !e.Type.Signed {
		return 255, true
	}
	return 0, false
}
