package diff

import "strconv"

// Random bools: comparisons, tests of strings, None, membership.

var orderings = []string{"==", "!=", "<", "<=", ">", ">="}

// boolean is a bool.
func (g *gen) boolean(d int) *Expr {
	if d <= 0 || g.nodes <= 0 {
		return g.leafOf(boolean)
	}
	g.nodes--
	switch g.r.IntN(15) {
	case 0, 1, 2:
		return operator(pick(g, orderings), boolean, g.anyInt(d-1), g.anyInt(d-1))
	case 3:
		return g.hugeComparison(d)
	case 4, 5:
		return g.stringTest(d)
	case 6, 7:
		return g.connective(d)
	case 8:
		x, _ := g.condition(d - 1)
		return not(x)
	case 9:
		return g.noneTest(d)
	case 10:
		switch g.r.IntN(4) {
		case 0:
			if b := g.mem(); b != nil { // on the left: constants of the reference are the library's bytes
				return operator(pick(g, []string{"==", "!="}), boolean, b, g.bytes())
			}
		case 1:
			return operator(pick(g, []string{"==", "!="}), boolean, g.expr(g.scalarType().present(), d-1),
				leaf(Type{Kind: Func}, "FAULT"))
		}
		return g.equality(d)
	case 11:
		return g.membership(d)
	case 12:
		return g.conversionToBool(d)
	case 13:
		if g.one(2) {
			return g.askedOf(d)
		}
	case 14:
		return g.floatTest(d)
	}
	return g.leafOf(boolean)
}

// asks are questions about values of which the compiler knows the shape: letters stand for what userExprs has by them.
var asks = []string{
	"record(a = $i, b = $s) == record(b = $s, a = $i)", "record(a = $i) == record(b = $i)", "record(a = $i) == ($i,)",
	"($n,) != record(a = $n)", "record(a = record(b = $n)) == record(a = ($n,))", "record(a = $n) == record(a = $n)",
	"record(a = $n, b = None) == record(b = None, a = $n)", "record(a = FAULT) == record(a = $n)",
	"(record(a = $n) if $b else None) == record(b = $n)", "(($n,) if $b else FAULT) == ($n,)",
	"(record(a = $n) if $b else None) != (record(a = $n) if $b else None)",
	"record(a = $n) in ((1,), record(b = 1), record(a = 1))", "($n,) in (record(a = 1), (1,))",
	"hasattr($s, \"upper\")", "hasattr($s, \"nope\")", "hasattr($i, \"upper\")", "hasattr(FAULT, \"upper\")",
	"hasattr((None if $b else $s), \"upper\")", "hasattr(record(a = $i), \"a_\")", "hasattr(($i, $s), \"a\")",
	"hasattr((record(a = $n) if $b else FAULT), \"a\")", "getattr($s, \"nope\", $b)",
	"getattr(record(a = $b), \"a\", False)", "getattr(FAULT, \"a\", $b)",
	"record(a = $f) == record(a = $f)", "($f, $n) != ($f, $n)", "bool($f)", "hasattr($f, \"real\")",
	"type(record(a = $i)) == \"record\"", "type(($i, $s)) in (\"list\", \"tuple\")",
	"$f in (1, 0.5, None)", "(None if $b else $f) == $f", "(FAULT if $b else $f) == 0",
	"bool(range($n))", "bool(range($n, $n))", "bool(range($n, $n, -2))", "not range($n, 3)", "not ()", "bool(record())",
}

// askedOf is one of these, or asks for the truth of a container: in a kernel half, of one that is always true.
func (g *gen) askedOf(d int) *Expr {
	var names []string
	for _, c := range g.cells {
		names = append(names, c.name)
	}
	for _, a := range g.aggs {
		names = append(names, a.name)
	}
	if len(names) > 0 && g.one(2) {
		return call(boolean, "bool", leaf(Type{}, pick(g, names)))
	}
	for _, t := range g.tables {
		if g.user {
			return not(leaf(Type{Kind: Func}, t.name))
		}
	}
	s := g.filled(pick(g, asks), d, nil)
	return &Expr{Form: Shape, Type: boolean, Text: s.text, Args: s.args}
}

func (g *gen) hugeComparison(d int) *Expr {
	x, y := g.anyInt(d-1), g.huge()
	if g.one(3) {
		y = g.wide()
	}
	if g.one(2) {
		x, y = y, x
	}
	return operator(pick(g, orderings), boolean, x, y)
}

// wide is a constant that has more bits than an int of a kernel half.
func (g *gen) wide() *Expr {
	return leaf(Type{Kind: Func, Class: Unsigned}, pick(g, []string{"18446744073709551616", "(-9223372036854775809)",
		"(1 << 100)", "(-(1 << 64))"}))
}

func (g *gen) stringTest(d int) *Expr {
	s, constant := g.expr(text, d-1), leaf(text, strconv.Quote(pick(g, texts)))
	switch g.r.IntN(6) {
	case 5:
		glob := pick(g, []string{"*", "a*", "*b", "a?c", "[ab]*", "*/*", "{a,b,abc}", "/etc*", "*pass*", "?", "[!a]*",
			""})
		return call(boolean, "matches", s, leaf(text, strconv.Quote(glob)))
	case 0:
		return operator(pick(g, []string{"in", "not in"}), boolean, constant, s)
	case 1:
		return method(boolean, s, pick(g, []string{"startswith", "endswith"}), constant)
	case 2:
		return operator(pick(g, orderings), boolean, s, g.expr(text, d-1))
	}
	return operator(pick(g, orderings), boolean, s, constant)
}

// connective is `and` or `or` of bools; the right side may know what the left one proves.
func (g *gen) connective(d int) *Expr {
	if v, ok := g.optionalName(); ok && g.one(2) {
		op, test := "and", operator("!=", boolean, v, none)
		switch g.r.IntN(3) {
		case 0:
			op, test = "or", operator("==", boolean, v, none)
		case 1:
			test = not(operator("==", boolean, none, v))
		}
		var y *Expr
		g.knowing([]variable{{v.Text, v.Type.present(), true}}, func() { y = g.boolean(d - 1) })
		return operator(op, boolean, test.proof(), y)
	}
	return operator(pick(g, []string{"and", "or"}), boolean, g.boolean(d-1), g.boolean(d-1))
}

func (g *gen) noneTest(d int) *Expr {
	if g.event && !g.user && g.one(3) && g.nodesThere() {
		return g.pointerTest(d)
	}
	t := g.scalarType().opt()
	return operator(pick(g, []string{"==", "!="}), boolean, g.expr(t, d-1), none)
}

// equality compares values of the same kind, which may be None on either side.
func (g *gen) equality(d int) *Expr {
	t := g.valueType()
	u := t
	if t.Kind <= Str || t.Kind == Float {
		u.Opt = g.one(2)
	}
	return operator(pick(g, []string{"==", "!="}), boolean, g.expr(t, d-1), g.expr(u, d-1))
}

// membership is x in something.
func (g *gen) membership(d int) *Expr {
	op := pick(g, []string{"in", "not in"})
	if tables := g.usable(); len(tables) > 0 && g.one(2) {
		c := pick(g, tables)
		return operator(op, boolean, g.keyExpr(c.key, d-1), leaf(Type{}, c.name))
	}
	if len(g.dicts) > 0 && g.one(2) {
		c := pick(g, g.dicts)
		return operator(op, boolean, g.expr(c.key, d-1), leaf(Type{}, c.name))
	}
	t := pick(g, []Type{plainInt, text, floating})
	x := g.expr(text, d-1)
	switch t.Kind {
	case Int:
		x = g.anyInt(d - 1)
	case Float:
		x = g.expr(pick(g, g.floats()), d-1)
	}
	for _, l := range g.lists {
		if l.t.Kind == t.Kind {
			return operator(op, boolean, x, leaf(Type{}, l.name))
		}
	}
	list := g.written()
	for range 1 + g.r.IntN(3) {
		e := g.literal(t)
		if t.Kind == Float && g.one(3) {
			e = g.literal(plainInt)
		}
		list.Args = append(list.Args, e)
	}
	return operator(op, boolean, x, list)
}

func (g *gen) conversionToBool(d int) *Expr {
	if names := g.argNames(signed); g.event && g.one(3) && len(names) > 0 {
		name := pick(g, append([]string{"zz", "missing"}, names...))
		return call(boolean, "hasattr", leaf(Type{}, "e.args"), leaf(text, strconv.Quote(name)))
	}
	return call(boolean, "bool", g.expr(g.valueType(), d-1))
}
