package lower

import (
	"math"
	"math/bits"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Arithmetic that is several instructions: signed division and modulo, shifts for signs, masks.

// shifts moves the low v.Imm bits up and down again.
func (l *lowerer) shifts(v *ir.Value, down ir.Op) {
	n := 64 - v.Imm
	l.become(v, down, n, l.imm(ir.OpShl, v.Args[0], n))
}

// zeroExtend is a mask; that of 32 bits is one 32-bit move.
func (l *lowerer) zeroExtend(v *ir.Value) {
	x := v.Args[0]
	switch mask := int64(1)<<v.Imm - 1; {
	case v.Imm < 32:
		l.become(v, ir.OpAnd, mask, x)
	case v.Imm == 32:
		l.become(v, ir.OpAnd, 0, x, l.konst(mask))
	default:
		l.shifts(v, ir.OpLShr)
	}
}

// divide is floor division and modulo of signed numbers. The machine divides
// unsigned only (signed division came with 6.6), so magnitudes are divided
// and the quotient is rounded down where the signs differ.
func (l *lowerer) divide(v *ir.Value) {
	x, y := v.Args[0], v.Args[1]
	if y.Op == ir.OpConst && y.Imm > 0 && y.Imm <= math.MaxInt32 {
		l.divideConst(v, x, y.Imm)
		return
	}
	sx := l.imm(ir.OpAShr, x, 63)
	ax := l.add(ir.OpSub, l.add(ir.OpXor, x, sx), sx)
	sy := l.imm(ir.OpAShr, y, 63)
	ay := l.add(ir.OpSub, l.add(ir.OpXor, y, sy), sy)
	sign := l.add(ir.OpXor, sx, sy)
	q, r := l.add(ir.OpUDiv, ax, ay), l.add(ir.OpUMod, ax, ay)
	q = l.add(ir.OpSub, l.add(ir.OpXor, q, sign), sign)
	rest := l.imm(ir.OpAShr, l.add(ir.OpOr, l.add(ir.OpNeg, r), r), 63) // -1 if r != 0
	round := l.add(ir.OpAnd, rest, sign)
	if v.Op == ir.OpFloorDiv {
		l.become(v, ir.OpAdd, 0, q, round)
		return
	}
	l.become(v, ir.OpSub, 0, x, l.add(ir.OpMul, l.add(ir.OpAdd, q, round), y))
}

// divideConst divides by c > 0: (x ^ m) / c ^ m rounds down, m being all ones
// for a negative x, for then ^x = -x-1.
func (l *lowerer) divideConst(v, x *ir.Value, c int64) {
	k := int64(bits.TrailingZeros64(uint64(c)))
	power := c == 1<<k
	switch {
	case power && v.Op == ir.OpFloorDiv:
		l.become(v, ir.OpAShr, k, x)
		return
	case power:
		l.become(v, ir.OpAnd, c-1, x)
		return
	}
	m := l.imm(ir.OpAShr, x, 63)
	q := l.imm(ir.OpUDiv, l.add(ir.OpXor, x, m), c)
	if v.Op == ir.OpFloorDiv {
		l.become(v, ir.OpXor, 0, q, m)
		return
	}
	l.become(v, ir.OpSub, 0, x, l.imm(ir.OpMul, l.add(ir.OpXor, q, m), c))
}
