package opt

import (
	"math/bits"

	"github.com/startrace/startrace/bpfgen/ir"
)

// What operations of one operand, and floor division, give of constants.

// evalUnary computes an op of one operand; ok is false if op is none.
func evalUnary(v *ir.Value, x int64) (c int64, ok bool) {
	switch v.Op {
	case ir.OpNeg:
		return -x, true
	case ir.OpBswap16:
		return int64(bits.ReverseBytes16(uint16(x))), true
	case ir.OpBswap32:
		return int64(bits.ReverseBytes32(uint32(x))), true
	case ir.OpBswap64:
		return int64(bits.ReverseBytes64(uint64(x))), true
	case ir.OpSExt:
		return x << (64 - v.Imm) >> (64 - v.Imm), true
	case ir.OpZExt:
		return int64(uint64(x) << (64 - v.Imm) >> (64 - v.Imm)), true
	case ir.OpLog2:
		return int64(bits.Len64(uint64(x))), true
	}
	return 0, false
}

// evalFloor is floor division or its rest; y is not 0.
func evalFloor(op ir.Op, x, y int64) int64 {
	q, r := x/y, x%y
	if r != 0 && (r < 0) != (y < 0) {
		q, r = q-1, r+y
	}
	if op == ir.OpFloorDiv {
		return q
	}
	return r
}
