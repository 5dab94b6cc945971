package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Operators on ints: `+ - * // % << >>`, abs, min, max, and the ends of handlers at errors as division by 0.

var plainOps = map[tree.Op]ir.Op{
	tree.OpAdd: ir.OpAdd, tree.OpSub: ir.OpSub, tree.OpMul: ir.OpMul,
	tree.OpAnd: ir.OpAnd, tree.OpOr: ir.OpOr, tree.OpXor: ir.OpXor,
}

// arith is an operator on present ints. It reports whether e is one.
func (b exprs) arith(e *tree.Expr) (val, bool) {
	if op, ok := plainOps[e.Op]; ok {
		return b.plain(e, op), true
	}
	var x *ir.Value
	switch e.Op {
	case tree.OpNeg:
		x = b.Op(ir.OpNeg, b.number(e.Args[0]))
	case tree.OpNot:
		x = b.Imm(ir.OpXor, b.number(e.Args[0]), -1)
	case tree.OpFloorDiv, tree.OpFloorMod:
		x = b.divide(e)
	case tree.OpShl, tree.OpShr:
		x = b.shift(e)
	case tree.OpAbs:
		x = b.abs(e.Args[0])
	case tree.OpMin, tree.OpMax:
		return b.extreme(e), true
	case tree.OpBswap:
		x = b.bswap(b.number(e.Args[0]), e.Int)
	default:
		return val{}, false
	}
	return intVal(e.Type, b.wrap(x, e.Type)), true
}

// wrap cuts a 64-bit result to the type that inference gave it.
func (b exprs) wrap(x *ir.Value, t types.Type) *ir.Value {
	if t.Kind != types.Int || t.Bits == 64 || t.Bits == 0 {
		return x
	}
	return b.Extend(x, int(t.Bits), t.Signed)
}

func (b exprs) plain(e *tree.Expr, op ir.Op) val {
	x := b.number(e.Args[0])
	for _, a := range e.Args[1:] {
		if a.Op == tree.OpConst && b.given[a] == nil {
			x = b.Imm(op, x, a.Int)
		} else {
			x = b.Op(op, x, b.number(a))
		}
	}
	if e.Op == tree.OpAnd || e.Op == tree.OpOr || e.Op == tree.OpXor {
		if fits(e) {
			return intVal(e.Type, x)
		}
	}
	return intVal(e.Type, b.wrap(x, e.Type))
}

// fits reports whether the operands of a bit operation are within its type.
func fits(e *tree.Expr) bool {
	for _, a := range e.Args {
		if a.Type.Kind != types.Int || a.Type.Signed != e.Type.Signed || a.Type.Bits > e.Type.Bits {
			return false
		}
	}
	return true
}

// divide is // and %; the divisor 0 ends the handler. Unsigned operands need
// no rounding.
func (b exprs) divide(e *tree.Expr) *ir.Value {
	x, y := b.number(e.Args[0]), b.number(e.Args[1])
	if y.Op != ir.OpConst {
		b.unless(ir.EQ, y, 0, func() { b.errorSite("division by zero") })
	} else if y.Imm == 0 {
		b.errorSite("division by zero")
	}
	xt, yt := e.Args[0].Type, e.Args[1].Type
	positive := !signed(xt) && (!signed(yt) || y.Op == ir.OpConst && y.Imm > 0)
	switch {
	case positive && e.Op == tree.OpFloorDiv:
		return b.Op(ir.OpUDiv, x, y)
	case positive:
		return b.Op(ir.OpUMod, x, y)
	case xt.Unsigned64() || yt.Unsigned64():
		return b.divideMixed(e, x, y)
	case e.Op == tree.OpFloorDiv:
		return b.Op(ir.OpFloorDiv, x, y)
	}
	return b.Op(ir.OpFloorMod, x, y)
}

// divideMixed divides where one operand exceeds int64 and the other may be
// negative. The quotient is taken of the magnitudes and rounded down; where
// it has no place in 64 bits it wraps.
func (b exprs) divideMixed(e *tree.Expr, x, y *ir.Value) *ir.Value {
	sx, sy := b.Const(0), b.Const(0)
	if signed(e.Args[0].Type) {
		sx = b.Imm(ir.OpAShr, x, 63)
	}
	if signed(e.Args[1].Type) {
		sy = b.Imm(ir.OpAShr, y, 63)
	}
	ax := b.Op(ir.OpSub, b.Op(ir.OpXor, x, sx), sx)
	ay := b.Op(ir.OpSub, b.Op(ir.OpXor, y, sy), sy)
	sign := b.Op(ir.OpXor, sx, sy)
	q, r := b.Op(ir.OpUDiv, ax, ay), b.Op(ir.OpUMod, ax, ay)
	q = b.Op(ir.OpSub, b.Op(ir.OpXor, q, sign), sign)
	rest := b.Imm(ir.OpAShr, b.Op(ir.OpOr, b.Op(ir.OpNeg, r), r), 63)
	// A rest of 2^63 and more has its top bit set in r itself.
	q = b.Op(ir.OpAdd, q, b.Op(ir.OpAnd, rest, sign))
	if e.Op == tree.OpFloorDiv {
		return q
	}
	return b.Op(ir.OpSub, x, b.Op(ir.OpMul, q, y))
}

// shift is << and >>. Starlark refuses negative counts and counts from 512;
// 64..511 shift everything out.
func (b exprs) shift(e *tree.Expr) *ir.Value {
	x, n := b.number(e.Args[0]), b.number(e.Args[1])
	arithmetic := e.Op == tree.OpShr && signed(e.Args[0].Type)
	op := ir.OpShl
	if e.Op == tree.OpShr {
		op = ir.OpLShr
		if arithmetic {
			op = ir.OpAShr
		}
	}
	if n.Op == ir.OpConst {
		return b.shiftConst(op, x, n.Imm)
	}
	b.unless(ir.UGE, n, 512, func() { b.errorSite("shift count out of range") })
	if arithmetic { // beyond 63 the sign is left
		far, near := b.NewBlock(), b.NewBlock()
		j := b.newJoin(types.I64)
		b.BranchImm(ir.UGT, n, 63, far, near)
		b.Begin(far)
		b.jumpWith(j, intVal(types.I64, b.Const(63)))
		b.Begin(near)
		b.jumpWith(j, intVal(types.I64, n))
		return b.Op(op, x, b.enter(j).x)
	}
	far, near := b.NewBlock(), b.NewBlock()
	j := b.newJoin(types.I64)
	b.BranchImm(ir.UGT, n, 63, far, near)
	b.Begin(far)
	b.jumpWith(j, intVal(types.I64, b.Const(0)))
	b.Begin(near)
	b.jumpWith(j, intVal(types.I64, b.Op(op, x, n)))
	return b.enter(j).x
}

func (b exprs) shiftConst(op ir.Op, x *ir.Value, n int64) *ir.Value {
	switch {
	case n < 0 || n >= 512:
		b.errorSite("shift count out of range")
		return b.Const(0)
	case n > 63 && op == ir.OpAShr:
		n = 63
	case n > 63:
		return b.Const(0)
	}
	return b.Imm(op, x, n)
}

func (b exprs) abs(e *tree.Expr) *ir.Value {
	x := b.number(e)
	if !signed(e.Type) {
		return x
	}
	s := b.Imm(ir.OpAShr, x, 63)
	return b.Op(ir.OpSub, b.Op(ir.OpXor, x, s), s)
}

// extreme is min() and max() of ints. The numbers that exceed int64 are compared among themselves first, and so are
// the others, because the result of a comparison of both sorts has no type with which it could be compared again.
func (b exprs) extreme(e *tree.Expr) val {
	var large, others []val
	for _, a := range e.Args {
		if v := b.scalar(a); v.t.Unsigned64() {
			large = append(large, v)
		} else {
			others = append(others, v)
		}
	}
	var last []val
	for _, group := range [][]val{large, others} {
		if len(group) > 0 {
			last = append(last, b.bestOf(e.Op, group))
		}
	}
	return b.convert(b.bestOf(e.Op, last), e.Type)
}

func (b exprs) bestOf(o tree.Op, list []val) val {
	best := list[0]
	op := tree.OpLt
	if o == tree.OpMax {
		op = tree.OpGt
	}
	for _, v := range list[1:] {
		other, keep := b.NewBlock(), b.NewBlock()
		t, _ := types.Join(best.t, v.t)
		j := b.newJoin(t)
		b.compareInts(op, v, best, other, keep)
		b.Begin(other)
		b.jumpWith(j, v)
		b.Begin(keep)
		b.jumpWith(j, best)
		best = b.enter(j)
	}
	return best
}

func (b exprs) bswap(x *ir.Value, width int64) *ir.Value {
	switch width {
	case 2:
		return b.Op(ir.OpBswap16, x)
	case 4:
		return b.Op(ir.OpBswap32, x)
	}
	return b.Op(ir.OpBswap64, x)
}
