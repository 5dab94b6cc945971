package opt

import (
	"math"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass fold for arithmetic: `x * 8` becomes a shift, `x & mask`, joined constants.

// alu simplifies arithmetic of two operands.
func (o *folder) alu(v *ir.Value) bool {
	if len(v.Args) == 1 {
		return o.aluImm(v, v.Imm)
	}
	x, y := v.Args[0], v.Args[1]
	cx, okX := constant(x)
	cy, okY := constant(y)
	switch {
	case okX && okY:
		return become(v, ir.OpConst, v.Op.ALU(cx, cy))
	case okX && v.Op.IsCommutative():
		v.Args[0], v.Args[1] = y, x
		return true
	case okX && cx == 0 && v.Op == ir.OpSub:
		return become(v, ir.OpNeg, 0, y)
	case okY && cy == 0 && (v.Op == ir.OpUDiv || v.Op == ir.OpUMod):
		return o.byZero(v, x)
	case okY && ir.Fits32(cy):
		return become(v, v.Op, cy, x)
	case okY:
		return o.aluWide(v, cy)
	case x == y:
		return o.aluSame(v, x)
	}
	return false
}

// byZero: the machine gives 0 for x / 0 and x for x % 0.
func (o *folder) byZero(v, x *ir.Value) bool {
	if v.Op == ir.OpUDiv {
		return become(v, ir.OpConst, 0)
	}
	o.s.replace(v, x)
	return false
}

func (o *folder) aluSame(v, x *ir.Value) bool {
	switch v.Op {
	case ir.OpSub, ir.OpXor:
		return become(v, ir.OpConst, 0)
	case ir.OpAnd, ir.OpOr:
		o.s.replace(v, x)
	}
	return false
}

// aluWide simplifies where the second operand is a constant that is no
// immediate.
func (o *folder) aluWide(v *ir.Value, c int64) bool {
	x := v.Args[0]
	switch v.Op {
	case ir.OpAnd:
		if covers(c, knownBits(x)) {
			o.s.replace(v, x)
			return false
		}
		return o.nested(v, x, c)
	case ir.OpShl, ir.OpLShr, ir.OpAShr:
		return become(v, v.Op, c&63, x)
	case ir.OpMul:
		if k, ok := log2(c); ok {
			return become(v, ir.OpShl, int64(k), x)
		}
	case ir.OpUDiv:
		if k, ok := log2(c); ok {
			return become(v, ir.OpLShr, int64(k), x)
		}
	case ir.OpSub:
		if c != math.MinInt64 {
			return become(v, ir.OpAdd, 0, x, o.constBefore(v, -c))
		}
	}
	return false
}

// constBefore makes a constant in front of v.
func (o *folder) constBefore(v *ir.Value, c int64) *ir.Value {
	k := o.f.NewValue(ir.OpConst, v.Pos)
	k.Imm, k.Block = c, v.Block
	for i, w := range v.Block.Values {
		if w == v {
			v.Block.Values = append(v.Block.Values[:i], append([]*ir.Value{k}, v.Block.Values[i:]...)...)
			break
		}
	}
	return k
}

// aluImm simplifies arithmetic with an immediate.
func (o *folder) aluImm(v *ir.Value, c int64) bool {
	x := v.Args[0]
	if cx, ok := constant(x); ok {
		return become(v, ir.OpConst, v.Op.ALU(cx, c))
	}
	if o.neutral(v, x, c) {
		o.s.replace(v, x)
		return false
	}
	if r, ok := absorbed(v, x, c); ok {
		return become(v, ir.OpConst, r)
	}
	return cheaper(v, x, c) || o.nested(v, x, c)
}

// neutral reports whether v is x.
func (o *folder) neutral(v, x *ir.Value, c int64) bool {
	switch v.Op {
	case ir.OpAdd, ir.OpSub, ir.OpOr, ir.OpXor:
		return c == 0
	case ir.OpShl, ir.OpLShr, ir.OpAShr:
		return c&63 == 0
	case ir.OpMul, ir.OpUDiv:
		return c == 1
	case ir.OpAnd:
		return covers(c, knownBits(x))
	}
	return false
}

// absorbed gives the constant that v is whatever x is.
func absorbed(v, x *ir.Value, c int64) (int64, bool) {
	switch v.Op {
	case ir.OpMul, ir.OpAnd:
		return 0, c == 0
	case ir.OpOr:
		return -1, c == -1
	case ir.OpUMod:
		return 0, c == 1
	case ir.OpLShr:
		return 0, knownBits(x) <= int(c&63)
	}
	return 0, false
}

// cheaper rewrites v to an op that costs less or folds better.
func cheaper(v, x *ir.Value, c int64) bool {
	k, pow := log2(c)
	switch {
	case v.Op == ir.OpSub && c != math.MinInt32:
		return become(v, ir.OpAdd, -c, x)
	case v.Op == ir.OpMul && c == -1:
		return become(v, ir.OpNeg, 0, x)
	case v.Op == ir.OpMul && pow:
		return become(v, ir.OpShl, int64(k), x)
	case v.Op == ir.OpUDiv && pow:
		return become(v, ir.OpLShr, int64(k), x)
	case v.Op == ir.OpUMod && pow:
		return become(v, ir.OpAnd, c-1, x)
	case v.Op == ir.OpAShr && knownBits(x) < 64:
		return become(v, ir.OpLShr, c, x)
	}
	return false
}

// nested joins v with an op on a constant that is its operand. c is the
// constant of v, an immediate or, for OpAnd, a wide one.
func (o *folder) nested(v, x *ir.Value, c int64) bool {
	if v.Op == ir.OpAdd && (x.Op == ir.OpSlot || x.Op == ir.OpMapValue) {
		return joinAddress(v, x, c)
	}
	d, ok := constantOperand(x)
	if !ok {
		return false
	}
	inner := x.Args[0]
	switch {
	case v.Op == ir.OpAdd && x.Op == ir.OpAdd && ir.Fits32(c+d):
		return become(v, ir.OpAdd, c+d, inner)
	case v.Op == ir.OpAnd && x.Op == ir.OpAnd:
		return o.and(v, inner, c&d)
	case (v.Op == ir.OpOr || v.Op == ir.OpXor) && x.Op == v.Op && ir.Fits32(v.Op.ALU(c, d)):
		return become(v, v.Op, v.Op.ALU(c, d), inner)
	case v.Op == ir.OpLShr && x.Op == ir.OpShl && c&63 == d&63:
		// Either 32-bit move or one AND in place of two shifts.
		if n := 64 - int(c&63); n <= 32 {
			return o.and(v, inner, int64(uint64(math.MaxUint64)>>(64-n)))
		}
	case v.Op == x.Op && (v.Op == ir.OpShl || v.Op == ir.OpLShr):
		return joinShifts(v, inner, c&63+d&63)
	}
	return false
}

func constantOperand(x *ir.Value) (int64, bool) {
	switch {
	case !x.Op.IsALU2():
		return 0, false
	case len(x.Args) == 1:
		return x.Imm, true
	}
	return constant(x.Args[1])
}

// and makes v x & mask.
func (o *folder) and(v, x *ir.Value, mask int64) bool {
	if ir.Fits32(mask) {
		return become(v, ir.OpAnd, mask, x)
	}
	return become(v, ir.OpAnd, 0, x, o.constBefore(v, mask))
}

func joinShifts(v, x *ir.Value, n int64) bool {
	if n > 63 {
		return become(v, ir.OpConst, 0)
	}
	return become(v, v.Op, n, x)
}

// joinAddress adds c to the address x, as long as that stays in the memory
// that x is in: the verifier refuses addresses outside of it.
func joinAddress(v, x *ir.Value, c int64) bool {
	off := x.Imm + c
	if off < 0 || off > math.MaxInt32 || x.Slot != nil && off > int64(x.Slot.Size) {
		return false
	}
	sym, slot := x.Sym, x.Slot
	become(v, x.Op, off)
	v.Sym, v.Slot = sym, slot
	return true
}
