package diff

import (
	"math"
	"slices"
	"strconv"
)

// Random floats.

// floats are the types of floats that can be made here. Those of 32 bits lie in memory only, and user space does not
// tell them from others.
func (g *gen) floats() []Type {
	if g.user || !g.event || !g.nodesThere() {
		return []Type{floating}
	}
	return []Type{floating, narrow}
}

// makes reports whether a value of a type can be made here.
func (g *gen) makes(t Type) bool {
	if t.Equal(narrow) || t.Equal(narrow.opt()) {
		_, ok := g.variable(t)
		return ok || slices.ContainsFunc(g.floats(), t.present().Equal)
	}
	return !slices.ContainsFunc(t.Elems, func(e Type) bool { return !g.makes(e) })
}

// takes reports whether a function can be called here.
func (g *gen) takes(fn *Function) bool {
	return !slices.ContainsFunc(fn.Params, func(p Param) bool { return !g.makes(p.Type) })
}

// constantFloats are those that scripts write, and specialFloats those that they compute at their top.
var (
	constantFloats = []string{"0.0", "0.5", "1.5", "(-2.25)", "1e10", "3.0", "(-1.0)", "0.1", "9007199254740993.0",
		"16777217.0", "4.9e-324", "1e-45", "3.4028234663852886e38", "1e39", "1.7976931348623157e308", "(-1e300)",
		"9223372036854775808.0", "18446744073709551616.0", "127.0"}
	specialFloats = []string{`float("nan")`, `float("inf")`, `float("-inf")`, "-0.0"}
)

// constantFloat is a float at the top of the script.
func (g *gen) constantFloat() *Expr {
	if g.one(2) {
		return leaf(floating, pick(g, specialFloats))
	}
	return g.literal(floating)
}

// floatExpr is a float. Computing with floats is for user space.
func (g *gen) floatExpr(t Type, d int) *Expr {
	switch {
	case g.user && g.one(2):
		return g.float(d)
	case g.one(3):
		return g.condExpr(t, d)
	}
	return g.leafOf(t)
}

// float is what user space computes.
func (g *gen) float(d int) *Expr {
	switch g.r.IntN(4) {
	case 0:
		return operator("/", floating, g.anyInt(d-1), g.number(d-1))
	case 1:
		return operator(pick(g, []string{"+", "-", "*", "/", "//", "%"}), floating, g.expr(floating, d-1),
			g.number(d-1))
	case 2:
		return call(floating, "float", g.number(d-1))
	}
	return cond(operator(pick(g, orderings), boolean, g.expr(floating, d-1), g.number(d-1)), g.expr(floating, d-1),
		g.expr(floating, d-1))
}

// number is an int or a float.
func (g *gen) number(d int) *Expr {
	return g.expr(pick(g, []Type{floating, floating, signed, unsigned, plainInt}), d)
}

// floatTest compares a float. A kernel half compares one with a constant, or with one of the same width.
func (g *gen) floatTest(d int) *Expr {
	t := pick(g, g.floats())
	x, y, ops := g.expr(t, d-1), g.constantNumber(), orderings
	switch {
	case g.one(3):
		y = g.expr(t, d-1)
	case g.one(8):
		y, ops = none, orderings[:2]
	case g.one(8):
		y, ops = leaf(Type{Kind: Func}, "FAULT"), orderings[:2]
	case g.user:
		y = g.number(d - 1)
	}
	if g.one(3) {
		x, y = y, x
	}
	return operator(pick(g, ops), boolean, x, y)
}

// constantNumber is one that floats are compared with. Its type is one that no other place takes.
func (g *gen) constantNumber() *Expr {
	x := g.literal(pick(g, []Type{floating, floating, plainInt}))
	switch g.r.IntN(6) {
	case 0:
		x = g.wide()
	case 1:
		x = g.huge()
	case 2: // beside the ints that doubles and floats no longer have
		n := pick(g, []int64{1 << 53, 1 << 24, 1 << 62, -1 << 53}) + int64(g.r.IntN(5)) - 2
		x = leaf(plainInt, number(n))
	}
	return leaf(Type{Kind: Func}, x.Text)
}

// floatBits are those of numbers that a run must meet: both zeros, infinities, no numbers, the least and the greatest
// ones, ones that are no float of 32 bits, and ints beside those that a double no longer has.
var floatBits = []uint64{
	0, 1 << 63, math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), 0x7ff8000000000000, 0xfff8000000000001,
	0x7ff0000000000001, 1, 1<<63 | 1, 1<<52 - 1, 1 << 52, math.Float64bits(math.MaxFloat64),
	math.Float64bits(math.MaxFloat32), math.Float64bits(0.1), math.Float64bits(1 << 53), math.Float64bits(1<<53 + 2),
	math.Float64bits(1 << 63), math.Float64bits(-1 << 63), math.Float64bits(1 << 64), math.Float64bits(16777217),
}

var narrowBits = []uint32{
	0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 1, 1<<31 | 1, 1<<23 - 1, 1 << 23,
	math.Float32bits(math.MaxFloat32), math.Float32bits(0.1), math.Float32bits(1 << 24), math.Float32bits(1 << 63),
}

// floatWord is the bits of a float of so many bits: often one that a script has as a constant.
func (g *gen) floatWord(bits int) uint64 {
	written := func() float64 {
		if g.one(2) {
			return float64(g.int64())
		}
		text := pick(g, constantFloats)
		f, _ := strconv.ParseFloat(trimBrackets(text), 64)
		return f
	}
	switch n := g.r.IntN(8); {
	case n < 3 && bits == 64:
		return pick(g, floatBits)
	case n < 3:
		return uint64(pick(g, narrowBits))
	case n < 7 && bits == 64:
		return math.Float64bits(written())
	case n < 7:
		return uint64(math.Float32bits(float32(written())))
	}
	return g.r.Uint64()
}

// trimBrackets is a constant without those around a negative one.
func trimBrackets(text string) string {
	if text[0] == '(' {
		return text[1 : len(text)-1]
	}
	return text
}
