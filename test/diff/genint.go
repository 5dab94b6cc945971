package diff

import (
	"fmt"
	"strconv"
)

// Random ints: operators, division, shifts, conversions.

// integer is an int of a class.
func (g *gen) integer(c Class, d int) *Expr {
	switch c {
	case Signed:
		return g.signed(d)
	case Unsigned:
		return g.unsigned(d)
	}
	return g.plain(d)
}

func (g *gen) anyInt(d int) *Expr {
	return g.expr(pick(g, []Type{plainInt, signed, signed, unsigned}), d)
}

// sides are two ints of which at least one has class c.
func (g *gen) sides(c Class, d int) (x, y *Expr) {
	x, y = g.expr(Type{Class: c}, d-1), g.anyInt(d-1)
	if g.one(2) {
		return y, x
	}
	return x, y
}

func (g *gen) signed(d int) *Expr {
	switch g.r.IntN(11) {
	case 0, 1, 2, 3:
		x, y := g.sides(pick(g, []Class{Signed, Signed, Unsigned}), d)
		return arith(pick(g, []string{"+", "-", "*"}), x, y)
	case 4:
		return g.unary(pick(g, []string{"-", "~"}), g.expr(pick(g, []Type{signed, unsigned}), d-1), signed)
	case 5, 6:
		return g.division(Signed, d)
	case 7:
		x, y := g.sides(Signed, d)
		return arith(pick(g, []string{"|", "^"}), x, y)
	case 8:
		return g.shift(Signed, d)
	case 9:
		if g.one(2) {
			return g.cast(signed, []string{"s8", "s16", "s32", "s64"}, d)
		}
		return call(signed, "int32", g.anyInt(d-1))
	}
	return g.few(signed, d)
}

func (g *gen) unsigned(d int) *Expr {
	switch g.r.IntN(9) {
	case 0, 1:
		x, y := g.sides(Unsigned, d)
		return arith("&", x, y)
	case 2:
		return arith(pick(g, []string{"|", "^"}), g.expr(unsigned, d-1), g.expr(unsigned, d-1))
	case 3:
		return arith(pick(g, []string{"//", "%"}), g.expr(unsigned, d-1), g.expr(unsigned, d-1))
	case 4, 5:
		return g.shift(Unsigned, d)
	case 6:
		return g.conversion(d)
	case 7:
		return g.besideConstant(d)
	}
	if b := g.memByte(); b != nil && g.one(3) {
		return b
	}
	return g.few(unsigned, d)
}

func (g *gen) plain(d int) *Expr {
	switch g.r.IntN(8) {
	case 0, 1:
		return g.literal(plainInt)
	case 2, 3:
		return arith(pick(g, []string{"+", "-", "*", "|", "^", "&", "//", "%"}), g.expr(plainInt, d-1),
			g.expr(plainInt, d-1))
	case 4:
		return arith(pick(g, []string{"//", "%", "|", "^"}), g.expr(unsigned, d-1), g.expr(plainInt, d-1))
	case 5:
		return arith(pick(g, []string{"+", "-", "*"}), g.expr(plainInt, d-1),
			leaf(plainInt, number(int64(g.r.IntN(9)))))
	case 6:
		if g.one(6) && g.nodesThere() {
			size := call(plainInt, "sizeof", leaf(text, `"struct node"`))
			size.Ref = "_sizeof"
			return size
		}
		if len(g.lists) > 0 {
			return call(plainInt, "len", leaf(Type{}, pick(g, g.lists).name))
		}
		t := g.valueType()
		if t.Kind == Tuple {
			return call(plainInt, "len", g.expr(t.present(), d-1))
		}
		return call(plainInt, "len", g.expr(text, d-1))
	}
	return g.few(plainInt, d)
}

// few are abs, min and max.
func (g *gen) few(t Type, d int) *Expr {
	x := g.expr(t, d-1)
	if g.one(3) {
		return g.wrapped(call(t, "abs", x))
	}
	other := t
	if t.Class == Signed {
		other = pick(g, []Type{signed, unsigned, plainInt})
	}
	e := call(t, pick(g, []string{"min", "max"}), x, g.expr(other, d-1))
	for range g.r.IntN(3) {
		e.Args = append(e.Args, g.expr(pick(g, []Type{t, other}), d-1))
	}
	g.r.Shuffle(len(e.Args), func(i, j int) { e.Args[i], e.Args[j] = e.Args[j], e.Args[i] })
	if !other.Equal(t) {
		e.Wrap = asInt
	}
	return e
}

// extremeText is the first or the last of a few strings.
func (g *gen) extremeText(t Type, d int) *Expr {
	e := call(t, pick(g, []string{"min", "max"}), g.expr(t, d-1), g.expr(t, d-1))
	if g.one(3) {
		e.Args = append(e.Args, g.leafOf(t))
	}
	return e
}

func (g *gen) wrapped(e *Expr) *Expr {
	e.Wrap = wrapTo(e.Type)
	return e
}

func (g *gen) unary(op string, x *Expr, t Type) *Expr {
	return g.wrapped(&Expr{Form: Unary, Type: t, Text: op, Args: []*Expr{x}})
}

// division mostly avoids the divisor 0.
func (g *gen) division(c Class, d int) *Expr {
	x, y := g.sides(c, d)
	switch g.r.IntN(4) {
	case 0:
		y = arith("|", y, leaf(plainInt, "1"))
	case 1:
		y = leaf(plainInt, pick(g, []string{"1", "2", "3", "7", "10", "1000", "1000000", "(-1)", "(-3)", "4096"}))
		x = g.expr(Type{Class: c}, d-1)
	}
	if binaryClass("//", x.Type.Class, y.Type.Class) != c { // `| 1` can turn Unsigned to Plain
		x = g.expr(Type{Class: c}, d-1)
	}
	return arith(pick(g, []string{"//", "%"}), x, y)
}

// shift mostly has a count that Starlark takes.
func (g *gen) shift(c Class, d int) *Expr {
	x := g.expr(Type{Class: c}, d-1)
	if c == Unsigned && g.one(6) {
		return arith(pick(g, []string{"<<", ">>"}), g.natural(), arith("&", g.intLeaf(Unsigned), leaf(plainInt, "63")))
	}
	var n *Expr
	switch g.r.IntN(5) {
	case 0, 1:
		n = leaf(plainInt, fmt.Sprint(g.r.IntN(70)))
	case 2:
		n = arith("&", g.anyInt(d-1), leaf(plainInt, pick(g, []string{"7", "63", "255", "511"})))
	case 3:
		if fields := g.fields(unsigned); g.event && len(fields) > 0 {
			n = leaf(unsigned, fields[0].path())
		} else {
			n = g.expr(unsigned, d-1)
		}
	default:
		n = g.anyInt(d - 1)
	}
	return arith(pick(g, []string{"<<", ">>"}), x, n)
}

// conversion makes an unsigned int of something else.
func (g *gen) conversion(d int) *Expr {
	if !g.event {
		return g.leafOf(unsigned)
	}
	switch g.r.IntN(5) {
	case 4:
		return g.cast(unsigned, []string{"u8", "u16", "u32", "u64"}, d)
	case 0:
		if fields := g.fields(text); len(fields) > 0 {
			return call(unsigned, "len", leaf(text, pick(g, fields).path()))
		}
	case 1:
		if fields := g.fields(boolean); len(fields) > 0 {
			return call(unsigned, "int", leaf(boolean, fields[0].path()))
		}
	case 2:
		return call(unsigned, pick(g, []string{"ntohs", "ntohl", "uint32"}),
			g.expr(pick(g, []Type{signed, unsigned}), d-1))
	}
	return arith("&", g.expr(pick(g, []Type{signed, unsigned}), d-1), g.huge())
}

// cast is an int in the bits of a type of C.
func (g *gen) cast(t Type, names []string, d int) *Expr {
	x := g.expr(pick(g, []Type{signed, unsigned}), d-1)
	e := call(t, "cast", leaf(text, strconv.Quote(pick(g, names))), x)
	e.Ref = "_cast"
	return e
}
