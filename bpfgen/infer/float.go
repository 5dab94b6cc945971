package infer

import (
	"math"
	"math/big"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Floating-point numbers of programs in kernel halves: their order, comparison with ints and constants, conversion to
// int, in keys.
//
// Floating-point numbers that lie in memory are kept by kernel halves as the bits that they are. eBPF has no
// instructions that compute with them, but none is needed to compare them: of IEEE 754 the bits without the sign, as an
// int, are larger where the number is larger. So a comparison is one of ints, which orderWord makes:
//
//	-2.0  0xc000000000000000  →  -0x4000000000000000
//	-0.0  0x8000000000000000  →   0
//	 1.5  0x3ff8000000000000  →   0x3ff8000000000000
//	 NaN  0x7ff8000000000000  →   the largest int: Starlark's NaN is equal to itself, and larger than all others

// floatOf is the type of a program's float in kernel halves; false: it has another width than these keep.
func floatOf(t kernel.Type) (types.Type, bool) {
	return types.FloatOf(uint8(8 * t.Size)), t.Kind == kernel.KindFloat && (t.Size == 4 || t.Size == 8)
}

// absentFloat is a float in a register that eBPF cannot read or, as tree.Lost, one of which nobody knows the place.
func absentFloat(t kernel.Type, why int64, pos plan.Pos) *tree.Expr {
	f, ok := floatOf(t)
	if !ok {
		f = types.I64
	}
	return &tree.Expr{Op: tree.OpUnreadable, Type: f.OrFault(), Int: why, Pos: pos}
}

// wordOf is a float as an int of its bits, and what they are without the sign.
func wordOf(e *tree.Expr, pos plan.Pos) (word, magnitude *tree.Expr) {
	word = as(e, types.U64, pos)
	return word, operation(tree.OpAnd, types.U64, word, intExpr(1<<(e.Type.Bits-1)-1, pos), pos)
}

// infinity is the bits of the largest number that is one.
func infinity(bits uint8) int64 {
	if bits == 32 {
		return int64(math.Float32bits(float32(math.Inf(1))))
	}
	return int64(math.Float64bits(math.Inf(1)))
}

// floatParts is a float in parts from which an int is made without branches, of which the kernel's verifier follows
// only so many. What is a condition is all ones where it holds, else 0.
type floatParts struct {
	word, magnitude *tree.Expr
	// nonzero: it is not 0. none: it is no number.
	nonzero, none *tree.Expr
	pos           plan.Pos
}

func floatPartsOf(e *tree.Expr, pos plan.Pos) floatParts {
	f := floatParts{pos: pos}
	f.word, f.magnitude = wordOf(e, pos)
	f.word, f.magnitude = as(f.word, types.I64, pos), as(f.magnitude, types.I64, pos)
	f.nonzero = f.lessThan(0)
	f.none = f.lessThan(infinity(e.Type.Bits))
	return f
}

func (f floatParts) op(o tree.Op, x, y *tree.Expr) *tree.Expr {
	return operation(o, types.I64, x, y, f.pos)
}

func (f floatParts) n(n int64) *tree.Expr { return intExpr(n, f.pos) }

// lessThan is whether n is less than the magnitude.
func (f floatParts) lessThan(n int64) *tree.Expr {
	return f.op(tree.OpShr, f.op(tree.OpSub, f.n(n), f.magnitude), f.n(63))
}

// unless is x where a condition does not hold, else 0.
func (f floatParts) unless(condition, x *tree.Expr) *tree.Expr {
	return f.op(tree.OpAnd, x, f.op(tree.OpXor, condition, f.n(-1)))
}

// orderWord is an int that is less than another one's where the float is, and equal where it is equal.
func orderWord(e *tree.Expr, pos plan.Pos) *tree.Expr {
	f := floatPartsOf(e, pos)
	sign := as(operation(tree.OpShr, types.U64, as(e, types.U64, pos), f.n(int64(e.Type.Bits-1)), pos), types.I64, pos)
	negative := f.unless(f.none, f.op(tree.OpSub, f.n(0), sign))
	number := f.op(tree.OpSub, f.op(tree.OpXor, f.magnitude, negative), negative)
	return f.op(tree.OpOr, number, f.op(tree.OpAnd, f.none, f.n(math.MaxInt64)))
}

// keyWord is the bits of a float in a key, where equal floats have equal bits: 0.0 is -0.0, and what is no number is
// one: see package wire.
func keyWord(e *tree.Expr, pos plan.Pos) *tree.Expr {
	f := floatPartsOf(e, pos)
	number := f.unless(f.none, f.op(tree.OpAnd, f.word, f.nonzero))
	return f.op(tree.OpOr, number, f.op(tree.OpAnd, f.none, f.n(infinity(e.Type.Bits)+1)))
}

// isNonzero is the truth of a float.
func isNonzero(e *tree.Expr, pos plan.Pos) *tree.Expr {
	_, magnitude := wordOf(e, pos)
	return operation(tree.OpNe, types.Boolean, magnitude, intExpr(0, pos), pos)
}

// keyed is a part of a key in which floats are as in all keys.
func keyed(b *body, e *tree.Expr, pos plan.Pos) *tree.Expr {
	switch {
	case e.Type.Kind == types.Float:
		return orAbsent(once(b, e), pos, func(e *tree.Expr) *tree.Expr {
			return as(as(keyWord(e, pos), types.IntOf(e.Type.Bits, false), pos), e.Type.Present(), pos)
		})
	case !hasFloat(e.Type):
		return e
	case e.Op == tree.OpTuple || e.Op == tree.OpRecord:
		return keyedParts(b, e, e.Args, pos)
	}
	return orAbsent(once(b, e), pos, func(e *tree.Expr) *tree.Expr {
		whole, _ := compositeOf(exprVal(e))
		var parts []*tree.Expr
		for _, v := range whole.elems {
			parts = append(parts, v.expr)
		}
		return keyedParts(b, e, parts, pos)
	})
}

// keyedParts is a tuple or a record of the parts of e as a key has them.
func keyedParts(b *body, e *tree.Expr, parts []*tree.Expr, pos plan.Pos) *tree.Expr {
	out := &tree.Expr{Op: tree.OpTuple, Type: e.Type, Pos: e.Pos}
	if e.Type.Kind == types.Record {
		out.Op = tree.OpRecord
	}
	for _, p := range parts {
		out.Args = append(out.Args, keyed(b, p, pos))
	}
	return out
}

// hasFloat reports whether a value of a type is a float or has one in it.
func hasFloat(t types.Type) bool {
	for _, e := range t.Elems {
		if hasFloat(e) {
			return true
		}
	}
	return t.Kind == types.Float
}

// byOrder makes a comparison with floats one of ints; ok is false where x and y are others. Where the constant is no
// float of the other one's width, the next smaller one stands for it, and the operator follows.
func byOrder(op syntax.Token, x, y val, pos plan.Pos) (_ syntax.Token, l, r val, ok bool) {
	varies := func(v val) bool { return v.c == nil && v.typ().Kind == types.Float }
	switch xf, yf := varies(x), varies(y); {
	case !xf && !yf:
		withFloat(x, y, pos)
		withFloat(y, x, pos)
		return op, x, y, false
	case xf && yf && x.typ().Bits != y.typ().Bits:
		refuse(pos, "floats of 32 and 64 bits are compared in user space only: compare each with a constant")
	case xf && yf:
		return op, ordered(x, pos), ordered(y, pos), true
	case yf:
		x, y = y, x
		if other, ordering := mirrored[op]; ordering {
			op = other
		}
	}
	c, isNumber := numberOf(y.c)
	switch kind := y.typ().Kind; {
	case isNumber:
	case y.c == nil && (kind == types.Bot || kind == types.None): // a cell that nothing has set yet
		return op, ordered(x, pos), y, true
	default:
		if y.c == nil && y.typ().Kind == types.Int {
			refuse(pos, "a float and an int are compared in user space only: compare with a constant")
		}
		return op, x, y, false
	}
	word, exact := constantOrder(c, x.typ().Bits)
	if !exact {
		op, word = besidesExact(op, word)
	}
	return op, ordered(x, pos), intVal(word), true
}

// withFloat refuses to compare an int with a constant float: 2 is 2.0.
func withFloat(x, c val, pos plan.Pos) {
	f, isFloat := c.c.(plan.Float)
	if kind := plainKind(x.typ().Kind); isFloat && x.c == nil && kind == types.Int {
		refuse(pos, "%v is a float, and the other value an int: compare with an int here", float64(f))
	}
}

// isFloat reports whether a part of the event that user code asks for is a float.
func isFloat(x uval) bool { return x.known && x.v.typ().Kind == types.Float }

// ordered is a float as the int by which it is compared. That of the start of a span is made at the start.
func ordered(v val, pos plan.Pos) val {
	out := exprVal(orAbsent(v.expr, pos, func(e *tree.Expr) *tree.Expr { return orderWord(e, pos) }))
	out.start = v.start
	return out
}

// besidesExact is a comparison with a constant that lies above the number of the word, and below the next one. No
// number is equal to it, so the word is then one that no number has.
func besidesExact(op syntax.Token, word int64) (syntax.Token, int64) {
	switch op {
	case syntax.LT:
		return syntax.LE, word
	case syntax.GE:
		return syntax.GT, word
	case syntax.EQL, syntax.NEQ:
		return op, math.MinInt64
	}
	return op, word
}

// numberOf is a constant that is a number, and not NaN or an infinity, or those.
func numberOf(c plan.Value) (*big.Float, bool) {
	switch c := c.(type) {
	case plan.Int:
		return new(big.Float).SetInt(c.Big), true
	case plan.Float:
		if math.IsNaN(float64(c)) {
			return nil, true
		}
		return big.NewFloat(float64(c)), true
	}
	return nil, false
}

// constantOrder is the int of the largest float of a width that is not larger than c, and whether it is c; nil is NaN.
func constantOrder(c *big.Float, bits uint8) (word int64, exact bool) {
	if c == nil {
		return math.MaxInt64, true
	}
	var near float64
	var way big.Accuracy
	if bits == 32 {
		var narrow float32
		narrow, way = c.Float32()
		near = float64(narrow)
	} else {
		near, way = c.Float64()
	}
	word = orderOf(near, bits)
	if way == big.Above {
		word--
	}
	return word, way == big.Exact
}

// orderOf is orderWord of a constant, which the width has.
func orderOf(f float64, bits uint8) int64 {
	word := int64(math.Float64bits(math.Abs(f)))
	if bits == 32 {
		word = int64(math.Float32bits(float32(math.Abs(f))))
	}
	if f < 0 {
		return -word
	}
	return word
}

// narrow is a constant float as one of 32 bits where it stands beside such a one and loses nothing by it.
func narrow(e *tree.Expr, beside types.Type) *tree.Expr {
	if e.Op != tree.OpConst || e.Type.Kind != types.Float || beside.Kind != types.Float || beside.Bits != 32 {
		return e
	}
	f := math.Float64frombits(uint64(e.Int))
	if e.Type.Bits != 64 || float64(float32(f)) != f && !math.IsNaN(f) {
		return e
	}
	out := *e
	out.Type.Bits, out.Int = 32, int64(math.Float32bits(float32(f)))
	return &out
}
