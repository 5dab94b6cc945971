package diff

import (
	"fmt"
	"math/big"
	"strconv"
)

// Random constants near limits.

// Texts are the strings that scripts and inputs share, so that they meet.
var texts = []string{"", "a", "b", "ab", "abc", "b/c", "/etc", "/etc/passwd", "passwd", "aaaaaaaaaaaaaaaaaaaaaaaa", "é",
	"abcdefghijklmnopqrstuvwxyz012345"}

// literal is a constant of a scalar type; an int is Plain.
func (g *gen) literal(t Type) *Expr {
	switch t.Kind {
	case Bool:
		return leaf(boolean, pick(g, []string{"True", "False"}))
	case Float:
		return leaf(floating, pick(g, constantFloats))
	case Str:
		if g.one(20) {
			return leaf(text, strconv.Quote(" "+pick(g, texts)+" \t")+pick(g,
				[]string{".strip()", ".lstrip()", ".rstrip()", `.strip(" a")`}))
		}
		return leaf(text, strconv.Quote(pick(g, texts)))
	}
	return leaf(plainInt, number(g.int64()))
}

func number(n int64) string {
	if n < 0 {
		return fmt.Sprintf("(%d)", n)
	}
	return strconv.FormatInt(n, 10)
}

// int64 is a number with a liking for limits.
func (g *gen) int64() int64 {
	switch g.r.IntN(4) {
	case 0, 1:
		return int64(g.r.IntN(20)) - 4
	case 2:
		n := int64(1)<<g.r.IntN(63) + int64(g.r.IntN(3)) - 1
		if g.one(3) {
			n = -n
		}
		return n
	}
	return int64(g.r.Uint64()) >> g.r.IntN(64)
}

// huge is a constant that only an unsigned int holds, for comparisons and &.
func (g *gen) huge() *Expr {
	n := new(big.Int).SetUint64(g.r.Uint64() | 1<<63)
	if g.one(2) {
		n.SetUint64(pick(g, []uint64{1 << 63, 1<<63 + 1, 1<<64 - 1}))
	}
	return leaf(Type{Kind: Func, Class: Unsigned}, n.String()) // a kind of its own: other places do not take it
}

// leafOf is an expression of type t without operators where there is one.
func (g *gen) leafOf(t Type) *Expr {
	if t.Opt && g.one(3) {
		return leaf(t, "None")
	}
	if v, ok := g.variable(t); ok && !g.one(3) {
		return v
	}
	t = t.present()
	if g.one(6) && t.Kind <= Str || t.Kind == Float && (g.one(2) || t.Class == Narrow) {
		if e := g.read(t); e != nil {
			return e
		}
	}
	switch t.Kind {
	case Fault:
		return leaf(t, "FAULT")
	case Ptr:
		return g.somePointer(true)
	case Bytes:
		return g.bytes()
	case Stack:
		return g.stack()
	case Label:
		return g.label(t, 0)
	case Tuple, Record:
		return g.compose(t, 0)
	case Bool:
		if g.event && g.one(2) {
			return g.field(boolean)
		}
	case Str:
		if g.event && !g.one(3) {
			return g.field(text)
		}
	case Int:
		return g.intLeaf(t.Class)
	}
	return g.literal(t)
}

func (g *gen) intLeaf(c Class) *Expr {
	if c == Plain {
		return g.literal(plainInt)
	}
	t := Type{Class: c}
	if g.event {
		return g.field(t)
	}
	if v, ok := g.variable(t); ok {
		return v
	}
	panic("diff: a function without the event needs parameters of both classes")
}

// startArgs reports whether the next argument is one of a span's start.
func (g *gen) startArgs() bool { return g.p.Span && !g.key && g.one(2) }

// variable is a name of type t.
func (g *gen) variable(t Type) (*Expr, bool) {
	var fit []variable
	for _, v := range g.vars {
		if v.t.Equal(t) && !g.tested[v.name] {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		return nil, false
	}
	return leaf(t, pick(g, fit).name), true
}

// compose is a tuple or record of parts.
func (g *gen) compose(t Type, d int) *Expr {
	e := &Expr{Form: Display, Type: t}
	if t.Kind == Record {
		e.Form, e.Text, e.Names = Call, "record", t.Names
	}
	for _, part := range t.Elems {
		e.Args = append(e.Args, g.expr(part, d-1))
	}
	return e
}
