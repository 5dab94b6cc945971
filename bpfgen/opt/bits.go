package opt

import (
	"math/bits"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Upper bounds of values, which the verifier knows, too.

// knownBits gives n such that the verifier of every kernel knows that v is
// below 2^n; 64 if it knows nothing. What only we can know does not count:
// without its mask the verifier would not accept v as an offset.
func knownBits(v *ir.Value) int {
	switch v.Op {
	case ir.OpConst:
		return bits.Len64(uint64(v.Imm))
	case ir.OpLoad8:
		return 8
	case ir.OpLoad16:
		return 16
	case ir.OpLoad32:
		return 32
	case ir.OpZExt:
		return int(v.Imm)
	case ir.OpCmp:
		return 1
	case ir.OpLShr:
		if len(v.Args) == 1 {
			return max(knownBits(v.Args[0])-int(v.Imm&63), 0)
		}
	case ir.OpAnd:
		return min(knownBits(v.Args[0]), secondBits(v))
	case ir.OpOr, ir.OpXor:
		return max(knownBitsShallow(v.Args[0]), secondBits(v))
	}
	return 64
}

// secondBits is knownBits of the second operand of v.
func secondBits(v *ir.Value) int {
	if len(v.Args) == 1 {
		return bits.Len64(uint64(v.Imm))
	}
	return knownBitsShallow(v.Args[1])
}

// knownBitsShallow looks at v alone, which bounds the time for trees.
func knownBitsShallow(v *ir.Value) int {
	switch v.Op {
	case ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpLShr:
		return 64
	}
	return knownBits(v)
}

// covers reports whether mask keeps the low n bits.
func covers(mask int64, n int) bool {
	if n >= 64 {
		return mask == -1
	}
	low := int64(1)<<n - 1
	return mask&low == low
}
