package diff

import (
	"fmt"
	"strconv"
)

// Random reads through pointers, mem() and arrays.

// path is an expression of a kind of member: it begins at a pointer and goes through members.
func (g *gen) path(from *Expr, members []Member, fits func(Member) bool) *Expr {
	var ends, ways []Member
	for _, m := range members {
		if fits(m) {
			ends = append(ends, m)
		}
		if m.Kind == MemberPtr || m.Kind == MemberStruct {
			ways = append(ways, m)
		}
	}
	g.nodes--
	if len(ends) > 0 && (!g.one(4) || g.nodes <= 0) {
		m := pick(g, ends)
		return member(from, m)
	}
	m := pick(g, ways)
	if m.Kind == MemberStruct {
		return g.path(member(from, m), m.In, fits)
	}
	return g.path(member(from, m), Members, fits)
}

func member(from *Expr, m Member) *Expr {
	e := &Expr{Form: Attr, Type: m.Type, Text: m.Name, Args: []*Expr{from}, Ref: "_attr"}
	if m.Kind == MemberStruct || m.Kind == MemberArray || m.Kind == MemberTexts {
		e.Type = Type{Kind: Func} // of its own: Shrink takes it for nothing else
	}
	return e
}

// somePointer is a pointer without operators. As a value of its own it is one of the end of a span: behind one of the
// start there may be something else when the end reads it.
func (g *gen) somePointer(value bool) *Expr {
	if v, ok := g.variable(pointer); ok && (g.one(2) || !g.event) {
		return v
	}
	if !value && g.startArgs() {
		return leaf(pointer, "e.start.args.p")
	}
	if !value && !g.user && g.one(10) {
		return g.around()
	}
	return leaf(pointer, "e.args.p")
}

// mem is bytes of a node, before the first of its pointers; nil without one.
func (g *gen) mem() *Expr {
	if _, ok := g.variable(pointer); !ok && !g.event || !g.nodesThere() {
		return nil
	}
	return &Expr{Form: Call, Type: octets, Text: "mem", Args: []*Expr{g.somePointer(false),
		leaf(plainInt, fmt.Sprint(1+g.r.IntN(56)))}, Ref: "_mem"}
}

// memByte is one of them.
func (g *gen) memByte() *Expr {
	b := g.mem()
	if b == nil {
		return nil
	}
	n, _ := strconv.Atoi(b.Args[1].Text)
	return &Expr{Form: Index, Type: unsigned, Args: []*Expr{b, leaf(plainInt, fmt.Sprintf("(%d)", g.r.IntN(2*n)-n))},
		Ref: "_byte"}
}

// bytes is some, or a constant.
func (g *gen) bytes() *Expr {
	if b := g.mem(); b != nil && !g.one(3) {
		return b
	}
	return leaf(octets, pick(g, []string{`b""`, `b"\x00"`, `b"\xff\x00"`, `b"ab"`, `b"\x00\x00\x00\x00"`}))
}

// around is the argument by way of its address, or of what lies in it.
func (g *gen) around() *Expr {
	p := leaf(pointer, "e.args.p")
	if g.one(2) {
		return &Expr{Form: Call, Type: pointer, Text: "cast", Args: []*Expr{leaf(text, `"struct node"`), p},
			Ref: "_cast"}
	}
	inner := &Expr{Form: Attr, Text: "inner", Args: []*Expr{p}, Ref: "_attr"}
	return &Expr{Form: Call, Type: pointer, Text: "container_of",
		Args: []*Expr{inner, leaf(text, `"struct node"`), leaf(text, `"inner"`)}, Ref: "_around"}
}

// read is an int, a bool, a string or a pointer in memory; nil without the event.
func (g *gen) read(t Type) *Expr {
	if _, ok := g.variable(pointer); !ok && !g.event || t.Kind == Int && t.Class == Plain || !g.nodesThere() {
		return nil
	}
	if t.Kind == Str && g.one(6) && !g.user {
		return &Expr{Form: Call, Type: text, Text: "cstr", Args: []*Expr{g.read(text)}, Ref: "_same"}
	}
	if t.Kind == Str && g.one(6) {
		list := g.path(g.somePointer(false), Members, func(m Member) bool { return m.Kind == MemberTexts })
		return &Expr{Form: Method, Type: text, Text: "join", Args: []*Expr{leaf(text, pick(g, []string{`" "`, `"/"`})),
			list}, Ref: "_join"}
	}
	if (t.Kind == Int || t.Kind == Float) && g.one(4) {
		array := func(m Member) bool { return m.Kind == MemberArray && g.has(m.Type, t) }
		list := g.path(g.somePointer(false), Members, array)
		return &Expr{Form: Index, Type: t, Args: []*Expr{list, leaf(plainInt, fmt.Sprint(g.r.IntN(2)))}, Ref: "_at"}
	}
	return g.path(g.somePointer(t.Kind == Ptr), Members, func(m Member) bool {
		return g.has(m.Type, t) && m.Kind != MemberArray && m.Kind != MemberTexts && m.Kind != MemberStruct
	})
}

// has reports whether what lies in memory as a type is of type t for programs.
func (g *gen) has(in, t Type) bool {
	return in.Equal(t) || g.user && in.Kind == Float && t.Kind == Float
}

// arrayLoop is what a loop over an array goes over, with the type of its elements.
func (g *gen) arrayLoop() (*Expr, Type, int) {
	t := pick(g, append([]Type{signed, unsigned}, g.floats()...))
	var m Member
	list := g.path(g.somePointer(false), Members, func(x Member) bool {
		if x.Kind == MemberArray && g.has(x.Type, t) {
			m = x
			return true
		}
		return false
	})
	n := leaf(plainInt, fmt.Sprint(m.Len))
	return &Expr{Form: Given, Args: []*Expr{list, n}, Ref: "_all"}, t, m.Len
}

// pointerTest asks whether a pointer is None. What is read through a variable that is known to be None is refused, so a
// variable that was tested is not used any more.
func (g *gen) pointerTest(d int) *Expr {
	if v, ok := g.variable(pointer); ok {
		var y *Expr
		g.knowing([]variable{{v.Text, pointer, true}}, func() { y = g.boolean(d - 1) })
		g.tested[v.Text] = true
		if g.one(2) {
			return operator("and", boolean, operator("!=", boolean, v, none).proof(), y)
		}
		return operator("or", boolean, operator("==", boolean, none, v).proof(), y)
	}
	return operator(pick(g, []string{"==", "!="}), boolean, g.pointerExpr(d-1), none)
}

// pointerExpr is a pointer.
func (g *gen) pointerExpr(d int) *Expr {
	if g.one(2) {
		if p := g.read(pointer); p != nil {
			return p
		}
	}
	return g.leafOf(pointer)
}
