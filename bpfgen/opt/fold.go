package opt

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass fold: values become cheaper ones or constants; comparisons, memory accesses.

// fold simplifies values in place or replaces them by their operands, and
// decides branches on constants.
func fold(f *ir.Func) bool {
	o := &folder{f: f, s: newSubst(f)}
	for _, b := range f.Order() {
		// A fold may add a constant in front of what it folds.
		for i := 0; i < len(b.Values); i++ {
			v := b.Values[i]
			o.s.operands(v)
			before := len(b.Values)
			for n := 0; n < 8 && o.value(v); n++ {
				o.changed = true
			}
			i += len(b.Values) - before
		}
		o.s.term(&b.Term)
		for n := 0; n < 8 && o.branch(&b.Term); n++ {
			o.changed = true
		}
	}
	o.s.apply(f)
	o.s.forget(f)
	return o.changed || o.s.changed
}

type folder struct {
	f       *ir.Func
	s       *subst
	uses    []int // by value, counted when first needed
	changed bool
}

// become makes v another op in place.
func become(v *ir.Value, op ir.Op, imm int64, args ...*ir.Value) bool {
	v.Op, v.Imm, v.Args, v.Sym, v.Slot = op, imm, args, "", nil
	return true
}

// constant gives the constant that v is.
func constant(v *ir.Value) (int64, bool) { return v.Imm, v.Op == ir.OpConst }

// value simplifies v by one step, and reports whether it changed v. A value
// that is to be replaced changes no more.
func (o *folder) value(v *ir.Value) bool {
	switch {
	case o.s.get(v) != v:
		return false
	case v.Op.IsALU2():
		return o.alu(v)
	case v.Op.IsMemory():
		return o.memory(v)
	case v.Op == ir.OpCmp:
		return o.cmp(v)
	case v.Op == ir.OpFloorDiv, v.Op == ir.OpFloorMod:
		return o.floor(v)
	case len(v.Args) == 1:
		return o.unary(v)
	}
	return false
}

func (o *folder) unary(v *ir.Value) bool {
	x := v.Args[0]
	if c, ok := constant(x); ok {
		if r, ok := evalUnary(v, c); ok {
			return become(v, ir.OpConst, r)
		}
	}
	switch {
	case v.Op == ir.OpNeg && x.Op == ir.OpNeg:
		o.s.replace(v, x.Args[0])
	case v.Op == ir.OpZExt && knownBits(x) <= int(v.Imm), v.Op == ir.OpSExt && knownBits(x) < int(v.Imm):
		o.s.replace(v, x)
	}
	return false
}

func (o *folder) cmp(v *ir.Value) bool {
	x, y, cond := v.Args[0], v.Args[1], ir.Cond(v.Imm)
	cx, okX := constant(x)
	cy, okY := constant(y)
	switch {
	case okX && okY:
		return become(v, ir.OpConst, b2i(cond.Holds(cx, cy)))
	case okX:
		return become(v, ir.OpCmp, int64(cond.Swap()), y, x)
	case x == y && cond != ir.SET:
		return become(v, ir.OpConst, b2i(cond.Holds(0, 0)))
	case okY && x.Op == ir.OpCmp && (cy == 0 || cy == 1) && (cond == ir.EQ || cond == ir.NE):
		if (cond == ir.EQ) == (cy == 1) {
			o.s.replace(v, x)
		} else if neg, ok := ir.Cond(x.Imm).Negate(); ok {
			return become(v, ir.OpCmp, int64(neg), x.Args...)
		}
	}
	return false
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (o *folder) floor(v *ir.Value) bool {
	x, y := v.Args[0], v.Args[1]
	c, ok := constant(y)
	if !ok || c == 0 {
		return false
	}
	if cx, ok := constant(x); ok {
		return become(v, ir.OpConst, evalFloor(v.Op, cx, c))
	}
	k, pow := log2(c)
	switch {
	case v.Op == ir.OpFloorDiv && c == 1:
		o.s.replace(v, x)
	case v.Op == ir.OpFloorMod && (c == 1 || c == -1):
		return become(v, ir.OpConst, 0)
	case v.Op == ir.OpFloorDiv && pow:
		return become(v, ir.OpAShr, int64(k), x)
	case v.Op == ir.OpFloorMod && pow && ir.Fits32(c-1):
		return become(v, ir.OpAnd, c-1, x)
	}
	return false
}

// log2 gives k where c is 2^k, c > 0.
func log2(c int64) (k int, ok bool) {
	if c <= 0 || c&(c-1) != 0 {
		return 0, false
	}
	for c > 1 {
		c >>= 1
		k++
	}
	return k, true
}

// memory moves the constant part of an address into the offset, and drops
// what a store cuts off anyway.
func (o *folder) memory(v *ir.Value) bool {
	a := v.Args[0]
	if a.Op == ir.OpAdd && len(a.Args) == 1 {
		if off := v.Imm + a.Imm; off == int64(int16(off)) {
			v.Args[0], v.Imm = a.Args[0], off
			return true
		}
	}
	if !v.Op.IsStore() || v.Op == ir.OpStore64 {
		return false
	}
	x, n := v.Args[1], 8*v.Op.Width()
	switch {
	case x.Op == ir.OpAnd && len(x.Args) == 1 && covers(x.Imm, n),
		x.Op == ir.OpAnd && len(x.Args) == 2 && x.Args[1].Op == ir.OpConst && covers(x.Args[1].Imm, n),
		(x.Op == ir.OpZExt || x.Op == ir.OpSExt) && int(x.Imm) >= n:
		v.Args[1] = x.Args[0]
		return true
	}
	return false
}
