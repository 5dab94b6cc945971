package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// x.name and x[i] in kernel halves, of all sorts of values, and messages: `has no .name in a kernel half`, takes a
// constant index, may be None here.

// attr is x.name.
func (b attributes) attr(x val, name string, pos plan.Pos) val {
	v := b.attribute(x, name, pos)
	if of, ok := b.memory().whole(x, name); ok && v.expr != nil {
		nameReads(v.expr, of+name)
	}
	b.noteKnown(x, name, v)
	v.field = fieldOf(x, name)
	return v
}

// fieldOf is the path by which items() knows x.name, where x is a part of the event at the start of a span: `comm` for
// e.start.comm, and `.args.p.comm` for e.start.args.p.comm.
func fieldOf(x val, name string) string {
	if _, own := x.obj.(*event); own {
		return name
	}
	if within := strings.TrimPrefix(x.field, tree.Inner); within != "" {
		name = within + "." + name
	}
	return tree.Inner + name
}

// attribute is attr. A value of the span's start stays one: the whole chain is
// evaluated there.
func (b attributes) attribute(x val, name string, pos plan.Pos) val {
	if x.start != nil && x.start != b.body {
		at := x.start
		x.start = nil
		v := at.attributes().attr(x, name, pos)
		if v.expr != nil || v.comp {
			v.start = at
		}
		if m, ok := v.obj.(*method); ok && m.recv.expr != nil {
			m.recv.start = at
		}
		return v
	}
	if ofText, _ := attrs.Of("string"); slices.Contains(ofText, name) {
		untold{b.u}.likeText(x)
	}
	x.mustKnow()
	if x.obj != nil {
		return b.objAttr(x, name, pos)
	}
	if x.isRecord() {
		for i, n := range x.names {
			if n == name {
				return x.elems[i]
			}
		}
		wrong(pos, "the record has no field %s%s", name, refusal.Near(name, x.names))
	}
	if x.c != nil {
		return b.constAttr(x, name, pos)
	}
	if x.comp {
		wrong(pos, "a tuple has no field %s: its elements are t[0], t[1] …", name)
	}
	return b.exprAttr(x, name, pos)
}

func (b attributes) objAttr(x val, name string, pos plan.Pos) val {
	switch o := x.obj.(type) {
	case *event:
		return o.mustField(name, pos)
	case *argsObj:
		return o.argument(name, pos)
	case *varsObj:
		return o.variable(name, pos)
	case *globalsObj:
		return o.variable(name, pos)
	case *regsObj:
		return o.register(name, pos)
	case *structObj:
		return b.inPlace(o.memPlace, func(at *body) val { return at.memory().structField(o, name, pos) })
	case *regStruct:
		return o.field(b.body, name, pos)
	case *goValue:
		return b.goMember(o, name, pos)
	case *rustEnum:
		return b.enumMember(o, name, pos)
	case *row:
		return b.rowAttr(o, name, pos)
	}
	wrong(pos, "%s has no field %s", x.obj.what(), name)
	return val{}
}

// inPlace runs f in the program that an address belongs to.
func (b attributes) inPlace(p memPlace, f func(*body) val) val {
	if p.from == nil || p.from == b.body {
		return f(b.body)
	}
	v := f(p.from)
	if v.expr != nil || v.comp {
		v.start = p.from
	}
	return v
}

func (b attributes) constAttr(x val, name string, pos plan.Pos) val {
	switch c := x.c.(type) {
	case plan.Record:
		var names []string
		for _, f := range c {
			if f.Name == name {
				return constant(f.Value)
			}
			names = append(names, f.Name)
		}
		wrong(pos, "the record has no field %s%s", name, refusal.Near(name, names))
	case plan.Ref:
		if m, ok := b.member(c.Container, name); ok {
			return objVal(&row{c: c.Container, member: m})
		}
		if msg := lacking(c.Container, false, name); msg != "" {
			wrong(pos, "%s", msg)
		}
		readLater(name, pos)
		return objVal(&method{x, name})
	case plan.String, plan.Dict, plan.Builtin:
		return objVal(&method{x, name})
	}
	refuse(pos, "%s has no .%s in a kernel half", x.describe(), name)
	return val{}
}

func (b attributes) exprAttr(x val, name string, pos plan.Pos) val {
	e := x.expr
	switch e.Type.Kind {
	case types.Ptr:
		return b.memory().pointerField(e, name, pos)
	case types.Record:
		return recordAttr(e, name, pos)
	case types.Str:
		return objVal(&method{x, name})
	case types.Int:
		if e.Type.IsName() {
			return objVal(&method{x, name})
		}
		if e.Type.Leads() {
			return b.memory().pointerField(e, name, pos)
		}
		if names, _ := attrs.Of("string"); isLost(e) && slices.Contains(names, name) {
			return objVal(&method{asText(x, pos), name})
		}
	case types.Stack:
		if v, ok := b.memory().stackAttr(x, name, pos); ok {
			return v
		}
	}
	if of := b.u.onlyNamed[x.expr]; of != "" {
		wrong(pos, unknownMembers, of, name)
	}
	wrong(pos, "%s has no field %s%s", x.describe(), name, ofSeveral(e))
	return val{}
}

// recordAttr is a field of a record that is made at run time; FAULT of one that is that. A variable that may be None
// must be tested before. What is no variable is read anew each time, so no test tells of the next one: its field is
// FAULT where it is None, as those of pointers that lead nowhere are.
func recordAttr(e *tree.Expr, name string, pos plan.Pos) val {
	if e.Type.MayNone && e.Op == tree.OpLocal {
		wrong(pos, "this may be None here: test it with `!= None` before .%s", name)
	}
	i := slices.Index(e.Type.Names, name)
	if i < 0 {
		wrong(pos, "the record has no field %s%s", name, refusal.Near(name, e.Type.Names))
	}
	return exprVal(orFault(e, pos, func(there *tree.Expr) *tree.Expr {
		out := &tree.Expr{Op: tree.OpElem, Type: e.Type.Elems[i], Int: int64(i), Args: []*tree.Expr{there}, Pos: pos}
		if !e.Type.MayNone {
			return out
		}
		none := &tree.Expr{Op: tree.OpIsNone, Type: types.Boolean, Args: []*tree.Expr{e}, Pos: pos}
		return chooseFault(none, out, pos)
	}))
}

// ofSeveral is a hint for an int that is one of two values: pointers to two structs have no type together.
func ofSeveral(e *tree.Expr) string {
	for e.Op == tree.OpConvert || e.Op == tree.OpAssume {
		e = e.Args[0]
	}
	if e.Type.Kind == types.Int && e.Type.Label == "" && (e.Op == tree.OpLocal || e.Op == tree.OpCond) {
		return ": what is set on several ways, as by an if, has fields where it is a pointer to the same struct on " +
			"all of them; take the field on each way, or give it the type by cast"
	}
	return ""
}

// ints are the elements of constant bytes.
func ints(text plan.Bytes) (out []val) {
	for _, c := range []byte(text) {
		out = append(out, intVal(int64(c)))
	}
	return out
}

// index is x[i].
func (b attributes) index(x, i val, pos plan.Pos) val {
	v := b.indexed(x, i, pos)
	if x.field != "" {
		v.field = x.field + elementText(i)
	}
	return v
}

// elementText is the index of an element in the path of what lies in it.
func elementText(i val) string {
	if n, ok := i.constInt(); ok {
		return fmt.Sprintf("[%d]", n)
	}
	return "[…]"
}

// indexed is index. An element of a value of the span's start is read there.
func (b attributes) indexed(x, i val, pos plan.Pos) val {
	x.mustKnow()
	if x.start != nil && x.start != b.body {
		at := x.start
		if i = alsoAtStart(b.body, i, at); i.c == nil && i.start != at {
			refuse(pos, "this element is read at the start of the call, and the index is known at its end: take the "+
				"index from e.start, or the address from e.args, which is read at the end")
		}
		x.start = nil
		v := at.attributes().indexed(x, i, pos)
		v.start = at
		return v
	}
	switch o := x.obj.(type) {
	case *argsObj:
		return o.position(i, pos)
	case *memObj:
		return b.inPlace(o.memPlace, func(*body) val { return exprVal(o.at(i, pos)) })
	case *ctxArray:
		n, ok := i.constInt()
		if !ok {
			refuse(pos, constantIndex, "an array field")
		}
		return o.element(n, pos)
	case *dynArray:
		return b.inPlace(o.memPlace, func(*body) val { return o.element(i, pos) })
	case *arrayObj:
		return b.inPlace(o.memPlace, func(at *body) val { return at.memory().element(o, i, pos) })
	case *countedArray:
		return b.inPlace(o.memPlace, func(at *body) val { return at.attributes().elementOf(o, i, pos) })
	case *structObj, *heldList:
		if _, ok := b.listOf(x, pos); ok {
			return b.listElement(x, i, pos)
		}
	case *regStruct:
		if _, ok := b.listOf(x, pos); ok {
			return b.listElement(x, i, pos)
		}
		return o.element(b.body, i, pos)
	}
	if x.expr != nil && x.expr.Type.Leads() {
		return b.memory().pointerElement(x.expr, i, pos)
	}
	if ref, ok := x.c.(plan.Ref); ok {
		return b.tables().getIndex(ref.Container, i, pos)
	}
	if d, ok := x.c.(plan.Dict); ok {
		v := b.dictGet(d, i, nil, pos)
		return v
	}
	if t := x.typ(); x.expr != nil && t.Kind == types.Bytes && t.Label == "" {
		return b.byteAt(x, i, pos)
	}
	if t := x.typ(); x.expr != nil && t.Kind == types.Stack && t.Label == "" {
		return b.memory().stackFrame(x, i, pos)
	}
	noElements(x, pos)
	elems, ok := b.elements(x, pos)
	if text, isBytes := x.c.(plan.Bytes); isBytes {
		elems, ok = ints(text), true
	}
	if !ok {
		if x.typ().Kind == types.Int && b.u.guesses() {
			refuse(pos, "%s has no elements: a table or cell has ints where nothing says what it has; get() takes "+
				"what to give instead, as get(k, (0, 0)), which says so", x.describe())
		}
		if x.typ().Kind == types.Int {
			refuse(pos, "%s has no elements, so no [ ]%s", x.describe(), inOneRow)
		}
		refuse(pos, "%s cannot be indexed in a kernel half", x.describe())
	}
	n, ok := i.constInt()
	if !ok {
		refuse(pos, "%s takes a constant index in a kernel half; a constant dict takes any: d.get(key, default)",
			x.describe())
	}
	at := n
	if at < 0 {
		at += int64(len(elems))
	}
	if at < 0 || at >= int64(len(elems)) {
		wrong(pos, "index %d, and %s has %s here", n, x.describe(), format.Count(len(elems), "element"))
	}
	return elems[at]
}

// listElement is x[i] of a list of a program, in the program in which the list is.
func (b attributes) listElement(x, i val, pos plan.Pos) val {
	where, _ := listPlace(x)
	return b.inPlace(where, func(at *body) val {
		l, _ := at.attributes().listOf(x, pos)
		return at.attributes().element(l, i, pos)
	})
}

// byteAt is x[i] of bytes that are a value, as those of a table.
func (b attributes) byteAt(x, i val, pos plan.Pos) val {
	n, ok := i.constInt()
	if !ok {
		refuse(pos, constantIndex, "bytes")
	}
	if most := int64(x.typ().Cap); n < -most || n >= most {
		wrong(pos, "an index of these bytes is from 0 to %d, or from -1 to %d", most-1, -most)
	}
	return exprVal(&tree.Expr{Op: tree.OpByteAt, Type: types.IntOf(8, false), Int: n,
		Args: []*tree.Expr{b.present(x, "bytes", pos)}, Pos: pos})
}

// position is e.args[i].
func (a *argsObj) position(i val, pos plan.Pos) val {
	n, ok := i.constInt()
	if !ok {
		if s, named := i.constStr(); named {
			wrong(pos, "an argument is a field: e.args.%s", s)
		}
		refuse(pos, "e.args takes a constant index")
	}
	if n >= 0 && n < mostAsked {
		if v, ok := a.ev.args.at(a.ev.b, int(n), pos); ok {
			return a.ev.mine(v)
		}
	}
	return a.missing(n, pos)
}

// mostAsked bounds the number of an argument: no function of a language takes so many, and places are found one by one.
const mostAsked = 1 << 10

// dictGet looks key up in a constant dict: a chain of comparisons.
func (b attributes) dictGet(d plan.Dict, key val, missing *val, pos plan.Pos) val {
	if len(d) > maxUnroll {
		refuse(pos, "this dict has %d entries; a constant dict in a kernel half has at most %d", len(d), maxUnroll)
	}
	key = b.bind("", key, pos)
	var next func(i int) val
	next = func(i int) val {
		if i == len(d) {
			if missing == nil {
				refuse(pos, "d[key] of a constant dict may fail in a kernel half: use d.get(key, default)")
			}
			return *missing
		}
		c := b.ops().equal(key, constant(d[i].Key), pos)
		if c.known {
			if c.value {
				return constant(d[i].Value)
			}
			return next(i + 1)
		}
		return b.choose(c, func() val { return constant(d[i].Value) }, func() val { return next(i + 1) }, pos)
	}
	return next(0)
}
