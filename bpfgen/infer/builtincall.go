package infer

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Calls of builtins and methods in kernel halves: abs, len, bool, int, hasattr, getattr, startswith, strip, record,
// sizeof, update, and messages about their arguments.

// call is f(args), or by truth a value that is true where that is.
func (b walker) call(x *syntax.CallExpr, truth bool) val {
	pos := x.Lparen
	fn := b.expr(x.Fn)
	if name, ok := fn.c.(plan.Builtin); ok {
		f := builtinOf(name)
		checkBuiltinArguments(name, x)
		if f.unwalked != nil {
			return f.unwalked(b, f, x)
		}
	}
	var args []arg
	for _, a := range x.Args {
		if bin, ok := a.(*syntax.BinaryExpr); ok && bin.Op == syntax.EQ {
			args = append(args, arg{bin.X.(*syntax.Ident).Name, b.tryExpr(bin.Y), start(bin.Y)})
			continue
		}
		args = append(args, arg{"", b.tryExpr(a), start(a)})
	}
	return b.apply1(fn, args, truth, start(x.Fn), pos)
}

// tryExpr walks an argument; after a mistake in it the walk goes on with the
// next one.
func (b walker) tryExpr(x syntax.Expr) (v val) {
	if r := b.attempt(func() { v = b.expr(x) }); r != nil {
		b.u.mistake(r)
		if r.Silent && b.u.unknown.Len() > 0 {
			return untoldValue(b.body, x)
		}
		return objVal(poison{})
	}
	return v
}

// apply1 calls a value.
func (b walker) apply1(fn val, args []arg, truth bool, at, pos plan.Pos) val {
	switch o := fn.obj.(type) {
	case *closure:
		return b.inliner().callClosure(o, args, truth, pos)
	case *method:
		return b.callMethod(o, args, pos)
	case *eventMethod:
		return b.inliner().callEvent(o, args, pos)
	}
	switch c := fn.c.(type) {
	case *plan.Func:
		return b.inliner().callFunc(c, args, truth, pos)
	case plan.Builtin:
		f := builtinOf(c)
		if v, ok := foldedArgs(f, args); ok {
			return v
		}
		if f.kernel == nil {
			refuse(at, "%s runs in user space only%s", c, f.instead)
		}
		return f.kernel(b.body, args, pos)
	}
	refuse(at, "%s cannot be called in a kernel half", fn.describe())
	return val{}
}

func (b walker) callMethod(m *method, args []arg, pos plan.Pos) val {
	if r, ok := m.recv.obj.(*row); ok {
		return b.tables().rowMethod(r, m.name, args, pos)
	}
	switch c := m.recv.c.(type) {
	case plan.Ref:
		return b.tables().containerMethod(c.Container, m.name, args, pos)
	case plan.Dict:
		if m.name == "get" {
			a := want(args, 1, 2, "get(key, default)", pos)
			missing := noneVal()
			if len(a) > 1 {
				missing = a[1]
			}
			return b.attributes().dictGet(c, a[0], &missing, pos)
		}
	case plan.Builtin:
		refuse(pos, "%s.%s runs in user space only", c, m.name)
	}
	if v, ok := b.ops().edgeOfName(m, args, pos); ok {
		return v
	}
	if m.recv = b.ops().nameAsText(m.recv, pos); m.recv.typ().Kind == types.Str {
		return b.stringMethod(m, args, pos)
	}
	refuse(pos, "the method %s cannot run in a kernel half", m.name)
	return val{}
}

// stringMethod is startswith and endswith with a constant.
func (b walker) stringMethod(m *method, args []arg, pos plan.Pos) val {
	if sep, ok := m.recv.constStr(); ok && m.name == "join" {
		return b.memory().joined(sep, want(args, 1, 1, "join(list)", pos)[0], pos)
	}
	if s, ok := stripped(m, args, pos); ok {
		return s
	}
	ops := map[string]tree.Op{"startswith": tree.OpStartsWith, "endswith": tree.OpEndsWith}
	op, ok := ops[m.name]
	if !ok {
		if m.name == "contains" || m.name == "find" || m.name == "index" || m.name == "count" {
			refuse(pos, `a string has no %s in a kernel half: "part" in s says whether it is there`, m.name)
		}
		refuse(pos, `the string method %s runs in user space only; startswith, endswith, "part" in s `+
			`and matches(s, "glob*") run in a kernel half`, m.name)
	}
	parts := edges(m, args, pos)
	if v, ok := foldedVal(fold.Method(m.recv.c, m.name, []plan.Value{textsOf(parts)})); ok {
		return v
	}
	e := b.present(m.recv, "a string", pos)
	out := known(false)
	for _, s := range parts {
		c := known(true)
		if s != "" {
			c.known, c.expr = false, &tree.Expr{Op: op, Type: types.Boolean,
				Args: []*tree.Expr{e, constExpr(plan.String(s), pos)}, Pos: pos}
		}
		if out, ok = connected(tree.OpLOr, out, c, pos); ok {
			break
		}
	}
	return condVal(out)
}

// edges are what startswith or endswith asks for: a constant, or a tuple of some, one of
// which is enough.
func edges(m *method, args []arg, pos plan.Pos) (parts []string) {
	v := want(args, 1, 1, m.name+"(constant)", pos)[0]
	if s, ok := v.constStr(); ok {
		return []string{s}
	}
	list, _ := v.c.(plan.Tuple)
	for _, e := range v.elems {
		list = append(list, e.c)
	}
	for _, c := range list {
		s, ok := c.(plan.String)
		if !ok {
			break
		}
		parts = append(parts, string(s))
	}
	_, constant := v.c.(plan.Tuple)
	if len(parts) < len(list) || !constant && (!v.comp || v.names != nil) {
		refuse(pos, "%s needs a constant string in a kernel half, or a tuple of such", m.name)
	}
	return parts
}

func textsOf(parts []string) plan.Tuple {
	out := make(plan.Tuple, len(parts))
	for i, s := range parts {
		out[i] = plan.String(s)
	}
	return out
}

// stripped is strip, lstrip or rstrip of a constant.
func stripped(m *method, args []arg, pos plan.Pos) (val, bool) {
	_, text := m.recv.constStr()
	if !text || m.name != "strip" && m.name != "lstrip" && m.name != "rstrip" {
		return val{}, false
	}
	var list []plan.Value
	for _, a := range want(args, 0, 1, m.name+"(characters)", pos) {
		list = append(list, a.c)
	}
	c, ok := fold.Method(m.recv.c, m.name, list)
	if !ok {
		refuse(pos, "%s takes constant characters in a kernel half", m.name)
	}
	return constant(c), true
}

// callHasOrGetAttr folds for each point: whether a field is there is known.
func callHasOrGetAttr(b walker, f *builtin, x *syntax.CallExpr) val {
	fn, pos := string(f.name), x.Lparen
	obj := b.expr(x.Args[0])
	name, ok := b.expr(x.Args[1]).constStr()
	if !ok {
		refuse(pos, "%s needs a constant name in a kernel half", fn)
	}
	if names, ok := b.attributes().namesOf(obj, pos); ok {
		name = nameAmong(names, obj, name)
		return b.byNames(fn, x, obj, name, slices.Contains(names, name))
	}
	var v val
	r := refusal.Attempt(func() { v = b.attributes().ownAttr(obj, name, pos) })
	if fn == "hasattr" {
		return boolVal(r == nil)
	}
	if r == nil {
		return v
	}
	if len(x.Args) == 2 {
		panic(r)
	}
	return b.expr(x.Args[2])
}

// byNames is hasattr or getattr of a value that is no part of the event's structs: what it has follows from its type,
// as in user space. None and FAULT have nothing.
func (b walker) byNames(fn string, x *syntax.CallExpr, obj val, name string, has bool) val {
	pos := x.Lparen
	there := known(has)
	if has && obj.expr != nil {
		there = b.ops().isPresent(obj, pos)
	}
	attr := func() val {
		if obj.expr != nil {
			obj = exprVal(assume(b.rv(obj, pos)))
		}
		return b.attributes().attr(obj, name, pos)
	}
	switch {
	case fn == "hasattr":
		return condVal(there)
	case len(x.Args) == 2 && !has:
		wrong(pos, "%s has no field or method %s", obj.describe(), name)
	case len(x.Args) == 2:
		return b.attributes().attr(obj, name, pos)
	case there.known && there.value:
		return attr()
	case there.known:
		return b.expr(x.Args[2])
	}
	return b.choose(there, attr, func() val { return b.expr(x.Args[2]) }, pos)
}

// isPresent is that v is not None and not FAULT.
func (b operators) isPresent(v val, pos plan.Pos) cond {
	out, _ := connected(tree.OpLAnd, negate(b.isNone(v, pos), pos), negate(b.isFault(v, pos), pos), pos)
	return out
}

// nameAmong is the one of names that is meant. Behind the name of a record's field a script may write a _.
func nameAmong(names []string, of val, name string) string {
	if _, constant := of.c.(plan.Record); !constant && of.typ().Kind != types.Record || slices.Contains(names, name) {
		return name
	}
	return strings.TrimSuffix(name, "_")
}

// namesOf are the names that v has behind a dot in user space. ok is false where types of the kernel decide that, as
// for the event and for structs.
func (b attributes) namesOf(v val, pos plan.Pos) (names []string, ok bool) {
	switch o := v.obj.(type) {
	case *row:
		return o.names(), true
	case *memObj:
		return attrs.Of("bytes")
	case *method, *closure, *rangeObj, *arrayObj, *ctxArray, *dynArray, *countedArray:
		return nil, true
	}
	if v.obj != nil || v.typ().Leads() || v.typ().Kind == types.Mem {
		return nil, false
	}
	switch c := v.c.(type) {
	case plan.Ref:
		return attrs.OfContainer(c.Container, false), true
	case plan.Opaque, plan.PointValue:
		refuse(pos, "what %s has is known in user space only", v.describe())
	case plan.Builtin:
		if c == "math" || c == "json" {
			refuse(pos, "what the module %s has is known in user space only", c)
		}
	case plan.Record:
		return constType(c).Names, true
	}
	if t := v.typ(); t.Kind == types.Record {
		return t.Names, true
	} else if t.Label == "errno" {
		refuse(pos, "errno(…) is a text, or the number of what is no error, which is known in user space only")
	}
	names, _ = attrs.Of(userType(v))
	return names, true
}

// names are the methods and members of one entry of an aggregation, or of an aggregation without keys.
func (r *row) names() []string {
	c := r.c
	if r.member != nil {
		c = r.member.Agg
	}
	return attrs.OfContainer(c, r.keyed)
}

// ownAttr is attr for hasattr and getattr. What only other points have is missing here, where attr gives None. So is
// all of e.args where the arguments have no names.
func (b attributes) ownAttr(obj val, name string, pos plan.Pos) val {
	if a, ok := obj.obj.(*argsObj); ok {
		v, ok := a.ev.args.get(a.ev.b, name, pos)
		if !ok {
			wrong(pos, "no %s", name)
		}
		return a.ev.mine(v)
	}
	if o, ok := obj.obj.(*globalsObj); ok {
		return o.variable(name, pos)
	}
	if o, ok := obj.obj.(*varsObj); ok {
		v, ok := o.lookup(name, pos)
		if !ok {
			wrong(pos, "no %s", name)
		}
		return v
	}
	if e, ok := obj.obj.(*event); ok && e.lacks(name) {
		wrong(pos, "no %s", name)
	}
	v := b.attr(obj, name, pos)
	if a, ok := v.obj.(*argsObj); ok && a.unnamed() {
		wrong(pos, "no names of arguments")
	}
	return v
}

func callAbs(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 1, 1, "abs(x)", pos)
	e := b.num(a[0], pos)
	if nonNegative(e) {
		return exprVal(e)
	}
	return exprVal(&tree.Expr{Op: tree.OpAbs, Type: types.I64, Args: []*tree.Expr{e}, Pos: pos})
}

func callLen(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 1, 1, "len(x)", pos)
	a[0] = asText(a[0], pos)
	if arr, ok := a[0].obj.(*arrayObj); ok {
		arr.mustEnd(pos)
	}
	if n := a[0].arrayLen(); n > 0 {
		return intVal(int64(n))
	}
	if elems, ok := b.elements(a[0], pos); ok {
		return intVal(int64(len(elems)))
	}
	if s, ok := a[0].obj.(*regStruct); ok {
		if n, ok := s.length(b); ok {
			return intVal(int64(n))
		}
	}
	if arr, ok := a[0].obj.(*dynArray); ok {
		return b.attributes().inPlace(arr.memPlace, func(*body) val { return exprVal(arr.count(pos)) })
	}
	if _, ok := b.attributes().listOf(a[0], pos); ok {
		return b.attributes().listLength(a[0], pos)
	}
	if n, ok := (library{b}).size(a[0], pos); ok {
		return n
	}
	if o, ok := a[0].obj.(*goValue); ok && o.counts() {
		return b.attributes().inPlace(memPlace{from: o.from}, func(at *body) val {
			return exprVal((golang{at}).length(o, pos))
		})
	}
	if m, ok := a[0].obj.(*memObj); ok {
		a[0] = exprVal(b.rv(objVal(m), pos))
	}
	if k := a[0].typ().Kind; k == types.Str || k == types.Bytes && a[0].typ().Label == "" {
		e := b.present(a[0], "a string", pos)
		return exprVal(&tree.Expr{Op: tree.OpStrLen, Type: types.IntOf(32, false), Args: []*tree.Expr{e}, Pos: pos})
	}
	if t := a[0].typ(); t.Kind == types.Stack && t.Label == "" {
		return b.memory().stackLength(a[0], pos)
	}
	b.attributes().noPointer(a[0], pos)
	refuse(pos, "len of %s cannot be had in a kernel half", a[0].describe())
	return val{}
}

func callBool(b *body, args []arg, pos plan.Pos) val {
	return condVal(b.ops().truth(want(args, 1, 1, "bool(x)", pos)[0], pos))
}

func callInt(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 1, 1, "int(x)", pos)
	if a[0].c != nil {
		refuse(pos, "int of %s is made in user space", a[0].describe())
	}
	if a[0].typ().Kind == types.Bool {
		e := b.present(a[0], "a bool", pos)
		return exprVal(&tree.Expr{Op: tree.OpConvert, Type: types.IntOf(8, false), Args: []*tree.Expr{e}, Pos: pos})
	}
	return exprVal(b.num(a[0], pos))
}

func callRecord(b *body, args []arg, pos plan.Pos) val {
	v := val{comp: true, names: make([]string, 0, len(args)), elems: slices.Grow([]val(nil), len(args))}
	for _, a := range args {
		if a.name == "" {
			wrong(a.pos, "record takes named values: record(pid = e.pid)")
		}
		v.names = append(v.names, a.name)
		v.elems = append(v.elems, a.v)
	}
	return v
}

// swapped is ntohs and ntohl on a little-endian machine.
func swapped(bits uint8) func(*body, []arg, plan.Pos) val {
	return func(b *body, args []arg, pos plan.Pos) val {
		a := named(args, 1, 1, "ntohs(n)", pos)
		if fold.IsFault(a[0].c) {
			return a[0]
		}
		return exprVal(orFault(b.numOrFault(a[0], pos), pos, func(e *tree.Expr) *tree.Expr {
			if e.Type.Bits != bits || e.Type.Signed {
				e = as(e, types.IntOf(bits, false), pos)
			}
			return &tree.Expr{Op: tree.OpBswap, Type: types.IntOf(bits, false), Int: int64(bits / 8),
				Args: []*tree.Expr{e}, Pos: pos}
		}))
	}
}

// word is int32(n) and uint32(n).
func word(signed bool) func(*body, []arg, plan.Pos) val {
	return func(b *body, args []arg, pos plan.Pos) val {
		n := named(args, 1, 1, "int32(n)", pos)[0]
		if fold.IsFault(n.c) {
			return n
		}
		e, t := b.numOrFault(n, pos), types.IntOf(32, signed)
		t.MayFault = e.Type.MayFault
		return exprVal(as(e, t, pos))
	}
}

func callSizeof(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 1, 1, `sizeof("T")`, pos)
	s, ok := a[0].constStr()
	if !ok {
		wrong(pos, "sizeof wants the type's name as a constant string")
	}
	id := b.memory().typeByName(s, pos)
	if strings.HasSuffix(strings.TrimSpace(s), "*") {
		return intVal(8) // a pointer, whatever it points to
	}
	n, err := b.u.btf(pos).Size(id)
	if err != nil {
		wrong(pos, "%v", err)
	}
	return intVal(int64(n))
}

// callUpdate is what the host makes of `x[k] op= v`.
func callUpdate(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 4, 4, "x[k] op= v", pos)
	ref, ok := a[0].c.(plan.Ref)
	if !ok {
		refuse(pos, "%s cannot be changed in a kernel half: use a table", a[0].describe())
	}
	op, _ := a[2].constStr()
	b.tables().update(ref.Container, a[1], op, a[3], pos)
	return noneVal()
}
