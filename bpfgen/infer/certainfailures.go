package infer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// What is sure to fail in a user half, told when the script is compiled: `has no field or method`, values that have no
// order, no elements, indices, what a table cannot hold.
//
// A handler in user space is run by the interpreter, which would tell of a field of a number, or of a text and a number
// that are added, at the first event. The types of parts of the event are known before, so what is certain to fail is
// said when the script is compiled. Where a type is not known, or may be another one, nothing is said.

// clash notes what is certain to fail at this point. It waits for the end of the walks, because it must be so at all
// points of the probe, and because a handler that asks for type() of a value or whether it has an attribute may do one
// thing here and another there.
func (u certainty) clash(pos plan.Pos, format string, args ...any) {
	if u.frame.perhaps() {
		return
	}
	d := refusal.Diag{Pos: pos, Msg: fmt.Sprintf(format, args...)}
	if u.proj.clashes == nil {
		u.proj.clashes = map[refusal.Diag]map[int]bool{}
	}
	if u.proj.clashes[d] == nil {
		u.proj.clashes[d] = map[int]bool{}
	}
	u.proj.clashes[d][u.proj.current()] = true
}

// clashes reports what is certain to fail in the functions of the probe that run in user space.
func (pr *probe) clashes() {
	for _, r := range []*placedFunc{pr.handler, pr.starter} {
		clashes := map[refusal.Diag]int{}
		asksType := false
		for _, p := range r.halves {
			asksType = asksType || p.asksType
			for d, walks := range p.clashes {
				clashes[d] += len(walks)
			}
		}
		if asksType {
			continue
		}
		// The places are sorted at the end.
		inOrder := func(a, b refusal.Diag) int { return strings.Compare(a.Msg, b.Msg) }
		for _, d := range slices.SortedFunc(maps.Keys(clashes), inOrder) {
			if clashes[d] == r.walks {
				pr.u.diags = append(pr.u.diags, d)
			}
		}
	}
}

// checkAttr is about x.name.
func (u certainty) checkAttr(x *syntax.DotExpr, recv uval) {
	attr, pos := x.Name.Name, x.Name.NamePos
	if c, entry, ok := u.containerOf(x.X, recv); ok {
		if msg := lacking(c, entry, attr); msg != "" {
			u.clash(pos, "%s", msg)
		}
		return
	}
	typ := typeName(recv)
	if recv.pointer() {
		return // what lies there has fields
	}
	if name := u.pr.u.onlyNamed[recv.v.expr]; name != "" {
		u.clash(pos, unknownMembers, name, attr)
		return
	}
	if names, ok := attrs.Of(typ); ok && !slices.Contains(names, attr) {
		hint := refusal.Near(attr, names)
		if u.leftOfAnd(x) {
			hint = ": where the left side of `and` is false it is the value; write `x." + attr + " if c else None`"
		}
		u.clash(pos, "%s has no field or method %s%s", withArticle(typ), attr, hint)
	}
}

// leftOfAnd reports whether x stands for `(c and y).field` where c is false.
func (u certainty) leftOfAnd(x syntax.Expr) bool {
	for from, to := range u.half.Instead {
		one, is := oneOfTwo(from).(*syntax.BinaryExpr)
		if each, ok := to.(*syntax.CondExpr); ok && is && one.Op == syntax.AND && each.False == x {
			return true
		}
	}
	return false
}

// pointer reports whether v is a pointer to something of a known type.
func (v uval) pointer() bool { return v.known && v.v.typ().Leads() }

// containerOf is the container that x stands for, where recv is the value of x. entry: x is one entry of it, as
// c[key] and the members of groups.
func (u certainty) containerOf(x syntax.Expr, recv uval) (c *plan.Container, entry, ok bool) {
	if ref, is := recv.v.c.(plan.Ref); is && recv.known {
		return ref.Container, false, true
	}
	switch x := unparen(x).(type) {
	case *syntax.IndexExpr:
		c, ok = u.containerNamed(x.X)
		return c, true, ok && c.Kind != plan.Table
	case *syntax.DotExpr: // g.a or g[key].a
		of := x.X
		if index, is := unparen(of).(*syntax.IndexExpr); is {
			of = index.X
		}
		if c, ok = u.containerNamed(of); !ok {
			return nil, false, false
		}
		m, ok := u.b.attributes().member(c, x.Name.Name)
		if !ok {
			return nil, false, false
		}
		return m.Agg, true, true
	}
	return nil, false, false
}

// containerNamed is the container that a name stands for.
func (u certainty) containerNamed(x syntax.Expr) (*plan.Container, bool) {
	id, is := unparen(x).(*syntax.Ident)
	if !is {
		return nil, false
	}
	of, _ := u.frame.Lookup(id, captured)
	ref, is := of.v.c.(plan.Ref)
	return ref.Container, is && of.known
}

// withArticle is the name of a type of the interpreter in a sentence.
func withArticle(typ string) string {
	switch typ {
	case "bytes":
		return typ
	case "int", "event":
		return "an " + typ
	}
	return "a " + typ
}

// plainTypes are those of which it is known what operators and builtins do with them.
var plainTypes = map[string]bool{"int": true, "float": true, "bool": true, "string": true, "tuple": true, "list": true,
	"dict": true, "stack": true, "event": true}

// checkBinary is about x op y.
func (u certainty) checkBinary(x *syntax.BinaryExpr, l, r uval) {
	if r.known && r.part && (x.Op == syntax.IN || x.Op == syntax.NOT_IN) {
		u.b.attributes().noPointer(r.v, start(x.Y))
	}
	lt, rt := typeName(l), typeName(r)
	switch x.Op {
	case syntax.IN, syntax.NOT_IN:
		noElements(r.v, x.OpPos)
	case syntax.EQL, syntax.NEQ:
		notNumber(l.v, r.v, x.OpPos)
		notNumber(r.v, l.v, x.OpPos)
	}
	if !plainTypes[lt] || !plainTypes[rt] || fold.Works(x.Op, lt, rt) {
		return
	}
	switch {
	case x.Op == syntax.PLUS && (lt == "string" || rt == "string") && (fold.IsNumber(lt) || fold.IsNumber(rt)):
		u.clash(x.OpPos, `%s + %s: str(x) makes a string of a number, and sprintf("%%d", x) formats it`, lt, rt)
	case x.Op == syntax.IN || x.Op == syntax.NOT_IN:
		u.clash(x.OpPos, "%s %s %s: %s", lt, x.Op, rt, notIn(lt, rt))
	case x.Op == syntax.LT || x.Op == syntax.LE || x.Op == syntax.GT || x.Op == syntax.GE:
		u.clash(x.OpPos, "%s %s %s: values of these types have no order", lt, x.Op, rt)
	default:
		u.clash(x.OpPos, "%s %s %s: these types have no %s", lt, x.Op, rt, x.Op)
	}
}

func notIn(l, r string) string {
	if r == "string" {
		return "a string has only strings in it"
	}
	return withArticle(r) + " has no elements"
}

// checkChoice is about what stands on the left of `and` and `or`, which may be the value of the whole.
func (u certainty) checkChoice(pos plan.Pos, x uval) {
	if x.known && x.part && u.b.attributes().onlyParts(x.v, pos) {
		wrong(pos, "this list of the program is no value as a whole, which it would be here: ask `len(list) > 0`")
	}
}

// checkElements is about what goes through x: a loop, or a builtin that takes a list.
func (u certainty) checkElements(pos plan.Pos, x uval) {
	noElements(x.v, pos)
	if x.known && x.part && u.b.attributes().isList(x.v, pos) {
		return // of one that is no value as a whole that is said where it is captured
	}
	if x.known && x.part {
		u.b.attributes().noPointer(x.v, pos)
	}
	switch typ := typeName(x); typ {
	case "int", "float", "bool", "event", "cell":
		u.clash(pos, "%s has no elements to go through", withArticle(typ))
	case "string":
		u.clash(pos, "a string is not gone through by itself: use .elems(), or .split()")
	}
}

// flattened is what is said of the second index of an array of the kernel, which has one row where C has several.
func flattened(x syntax.Expr, recv uval) string {
	if _, is := x.(*syntax.IndexExpr); !is || !recv.part {
		return ""
	}
	return inOneRow
}

// checkIndex is about x[y].
func (u certainty) checkIndex(x *syntax.IndexExpr, recv, i uval) {
	noElements(recv.v, x.Lbrack)
	if recv.pointer() {
		return
	}
	switch typ := typeName(recv); typ {
	case "event":
		u.clash(x.Lbrack, "an event has no elements, it has fields: %s", fieldForm(x.X, i))
	case "int", "float", "bool", "cell":
		u.clash(x.Lbrack, "%s has no elements, so no [ ]%s", withArticle(typ), flattened(x.X, recv))
	case "string", "tuple", "list", "stack", "bytes":
		if at := typeName(i); at != "" && at != "int" {
			u.clash(x.Lbrack, "the index of %s is an int, got %s", withArticle(typ), at)
		}
	}
}

// fieldForm is x["name"] as a field.
func fieldForm(x syntax.Expr, i uval) string {
	of := dotted(x)
	if of == "" {
		of = "e"
	}
	if s, ok := i.v.constStr(); ok && i.known {
		return of + "." + s
	}
	return of + ".pid, " + of + ".args.NAME"
}

// checkCalled is about a call of what is no function.
func (u certainty) checkCalled(x *syntax.CallExpr, fn uval) {
	switch typ := typeName(fn); typ {
	case "":
	case "int", "float", "bool", "string", "bytes", "tuple", "list", "dict", "record", "stack", "event":
		what := withArticle(typ)
		if of := dotted(x.Fn); of != "" && fn.part {
			what = of + " is " + what + " and"
		}
		u.clash(x.Lparen, "%s cannot be called", what)
	default:
		c := fn.v.c.(plan.Ref).Container
		u.clash(x.Lparen, "%s %s cannot be called; it has %s", c.Kind, name(c),
			strings.Join(attrs.OfContainer(c, false), ", "))
	}
}

// checkStored is about t[k] = v of a table.
func (u certainty) checkStored(lhs syntax.Expr, v uval) {
	index, ok := unparen(lhs).(*syntax.IndexExpr)
	if !ok {
		return
	}
	ref, ok := u.nameOf(index.X).v.c.(plan.Ref)
	if typ := typeName(v); ok && ref.Kind == plan.Table && (typ == "list" || typ == "dict") {
		u.clash(index.Lbrack,
			"table %s holds values that cannot change, not %s: a tuple, a record, or a dict outside of the table",
			name(ref.Container), withArticle(typ))
	}
}

// checkUnpacked is about a, b = x.
func (u certainty) checkUnpacked(lhs, rhs syntax.Expr, v uval) {
	names := elementsOf(lhs)
	if names == nil {
		return
	}
	switch typ := typeName(v); typ {
	case "int", "float", "bool", "string", "event":
		u.clash(start(rhs), "got one value (%s) for %s", typ, counted(len(names), "name"))
	case "tuple", "list":
		n := len(elementsOf(rhs))
		if v.known {
			n = len(v.v.typ().Elems)
		}
		if n > 0 && n != len(names) {
			u.clash(start(rhs), "got %s for %s", counted(n, "value"), counted(len(names), "name"))
		}
	}
}

// checkSlice is about x[i:j], of which at is one of the numbers.
func (u certainty) checkSlice(x *syntax.SliceExpr, recv, at uval) {
	switch typ := typeName(recv); typ {
	case "int", "float", "bool", "event", "dict":
		u.clash(x.Lbrack, "%s has no parts, so no [ : ]", withArticle(typ))
		return
	}
	if typ := typeName(at); plainTypes[typ] && typ != "int" {
		u.clash(x.Lbrack, "[ : ] takes ints, got %s", typ)
	}
}

// sliced is the type of a part of a value.
func sliced(typ string) string {
	switch typ {
	case "string", "tuple", "list", "bytes":
		return typ
	}
	return ""
}

// checkUnary is about -x, +x and ~x.
func (u certainty) checkUnary(x *syntax.UnaryExpr, v uval) {
	typ := typeName(v)
	if x.Op == syntax.NOT || !plainTypes[typ] || typ == "int" || typ == "float" && x.Op != syntax.TILDE {
		return
	}
	u.clash(x.OpPos, "%s%s: this type has no %s", x.Op, typ, x.Op)
}
