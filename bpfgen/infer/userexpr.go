package infer

import (
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// Expressions in user halves, and what of the event each of them needs.
//
// A user half is a function that runs in user space, in the interpreter, some milliseconds after the event. By then
// the event is over: its process may have ended, and what its pointers led to may be gone. So the kernel must send all
// that the function takes from the event. The walk in this file and its siblings (userstmt.go, userloop.go,
// usercall.go …) finds out what that is. It makes no code.
//
// The walk follows the event through the function, as values of type uval. The event and its parts are known to the
// compiler; what user space computes is not. A part of the event stays a part as long as only other parts are taken of
// it. Where user space needs it as a value, to print it, to add it or to branch by it, it is captured (capture): the
// expression at this place becomes a field of the record. In
//
//	def handle(e):
//	    name = e.comm
//	    if e.args.ret > limit:
//	        printf("%s %d\n", name, e.args.ret)
//
// the parts are e, e.comm, e.args and e.args.ret. Binding e.comm to a name captures nothing, e.args by itself is not
// needed, limit is a constant of the script. Captured are e.args.ret, by the comparison, and name, by the call of
// printf; e.args.ret in the call is the same at every point, so it shares the field of the first (mergeSlots). The
// record has two fields:
//
//	record r0 probe 0 fixed 32 max 48
//	  args.ret sint@16+8
//	  comm str@24+4
//
// Both ways of a condition are walked, unless the compiler knows which one is taken, since the record must do for
// either. The result is a plan.UserHalf. It says of the expressions that were captured in which fields of the record
// they are. The host compiles a copy of the function in which these expressions read the fields
// (starlark/script/specialise.go).

func (u *userWalk) captureAll(list []syntax.Expr) []uval {
	out := make([]uval, len(list))
	for i, x := range list {
		out[i] = u.captureExpr(x)
	}
	return out
}

// captureElements walks the elements of a tuple or list that user space makes.
func (u *userWalk) captureElements(list []syntax.Expr) []uval {
	out := u.captureAll(list)
	u.noBuiltins(list, out)
	return out
}

// captureExpr walks an expression whose value user space needs; after a mistake
// in it the walk goes on with the next one.
func (u *userWalk) captureExpr(x syntax.Expr) (v uval) {
	r := refusal.Attempt(func() {
		v = u.expr(x)
		u.capture(v)
	})
	if r != nil {
		u.pr.u.mistake(r)
		return uval{}
	}
	return v
}

// expr walks an expression of user code.
func (u *userWalk) expr(x syntax.Expr) uval {
	v := valueOf(u, x)
	if !v.part {
		u.proj.comesTo(place{u.half, x, aValue}, own)
	}
	return v
}

// valueOf is the value of an expression of user code.
func valueOf(u *userWalk, x syntax.Expr) uval {
	if u.proj.moved[x] {
		u.half.Drop[x] = true
		return knownVal(constant(plan.None{}))
	}
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return u.expr(x.X)
	case *syntax.Literal:
		var v val
		if r := refusal.Attempt(func() { v = literal(x) }); r != nil {
			return uval{}
		}
		return knownVal(v)
	case *syntax.Ident:
		return u.ident(x)
	case *syntax.DotExpr:
		return u.dot(x)
	case *syntax.IndexExpr:
		return u.index(x)
	case *syntax.CallExpr:
		return u.calling().call(x)
	case *syntax.UnaryExpr:
		return u.unary(x)
	case *syntax.BinaryExpr:
		return u.binary(x)
	case *syntax.CondExpr:
		return u.condExpr(x)
	case *syntax.TupleExpr:
		return constTuple(uval{typ: "tuple", elems: u.captureElements(x.List)})
	case *syntax.ListExpr:
		return uval{typ: "list", elems: u.captureElements(x.List)}
	case *syntax.DictExpr:
		return u.dictExpr(x)
	case *syntax.SliceExpr:
		recv := u.expr(x.X)
		u.capture(recv)
		for _, e := range []syntax.Expr{x.Lo, x.Hi, x.Step} {
			if e != nil {
				at := u.expr(e)
				u.certain().checkSlice(x, recv, at)
				u.capture(at)
			}
		}
		return uval{typ: sliced(typeName(recv)), bits: fieldWidth(recv), row: recv.row, may: recv.callees(),
			held: recv.holds()}
	case *syntax.LambdaExpr:
		f := u.calling().defined(x, "", x.Function.(*resolve.Function)).fn
		u.calling().function(f)
		return uval{fn: f, away: true}
	case *syntax.Comprehension:
		return u.rounds().comprehension(x)
	}
	return uval{}
}

func (u *userWalk) dictExpr(x *syntax.DictExpr) uval {
	var keys, vals []uval
	for _, e := range x.List {
		entry := e.(*syntax.DictEntry)
		k := u.expr(entry.Key)
		u.capture(k)
		v := u.expr(entry.Value)
		u.capture(v)
		u.noBuiltins([]syntax.Expr{entry.Value}, []uval{v})
		keys, vals = append(keys, k), append(vals, v)
	}
	return uval{typ: "dict", entries: entriesOf(keys, vals), may: calleesOf(vals),
		held: holdsOf(append(keys, vals...)...)}
}

func (u *userWalk) ident(id *syntax.Ident) uval {
	x, ok := u.frame.Lookup(id, captured)
	if !ok {
		return uval{}
	}
	if x.part && x.v.obj != nil && x.caps == nil {
		return u.partVal(id, x.v)
	}
	if _, is := x.v.c.(plan.Record); x.known && !(is && u.pr.led[id]) {
		before := len(u.pr.u.userUses)
		u.pr.noteContainers(x.v.c, id.NamePos, u.pr.asks[id], map[*plan.Func]bool{})
		for i := range u.pr.u.userUses[before:] {
			u.pr.u.userUses[before+i].timed = u.pr.timed[id] || u.frame.inTimer(map[*uframe]bool{})
		}
	}
	return whileItRuns(x)
}

func (u *userWalk) dot(x *syntax.DotExpr) uval {
	if to := u.ofEach(x); to != nil {
		return u.expr(to)
	}
	if !changing[x.Name.Name] {
		u.onlyAsks(x.X)
	}
	u.leads(x.X)
	call := u.called
	recv := u.expr(x.X)
	u.certain().checkAttr(x, recv)
	if call != nil && call.Fn == x {
		u.certain().checkMethodArguments(x, recv, call)
	}
	if field, ok := u.fieldOrNone(x, recv); ok {
		u.capture(recv)
		return uval{bits: fieldWidth(uval{v: field, known: true, part: true})}
	}
	if recv.part && recv.known && !isText(recv.v) {
		return u.partOf(x, x.X, recv, u.b.attributes().attr(recv.v, x.Name.Name, x.Name.NamePos))
	}
	if recv.part && !recv.known && recv.caps.lead() {
		u.frame.chooses(&chosenArg{field: x})
		u.capture(recv)
		return uval{}
	}
	u.fieldOfHeld(x, recv)
	if r, ok := recv.v.c.(plan.Record); ok && recv.known {
		for _, f := range r {
			if f.Name == x.Name.Name {
				if _, is := f.Value.(plan.Record); !is || !u.pr.led[x] {
					u.noteContainers(f.Value, x.Name.NamePos, u.pr.asks[x])
				}
				return whileItRuns(knownVal(constant(f.Value)))
			}
		}
	}
	u.capture(recv)
	u.proj.asked++
	if v, is := wasField(recv, x.Name.Name); is {
		return v
	}
	return uval{may: recv.callees(), held: recv.held.ofField()}
}

// fieldOrNone is the field of a record that may be None, which user space takes of the record that it is sent: whether
// that is there is for its own tests to say. A field that leads to others is read in the kernel.
func (u *userWalk) fieldOrNone(x *syntax.DotExpr, recv uval) (field val, ok bool) {
	e := recv.v.expr
	if !recv.part || !recv.known || e == nil || e.Type.Kind != types.Record || !e.Type.MayNone || e.Type.MayFault {
		return val{}, false
	}
	there := exprVal(assumeNotNone(u.b.rv(recv.v, x.NamePos)))
	field = u.b.attributes().attr(there, x.Name.Name, x.Name.NamePos)
	return field, !innermostLeads(field)
}

func (u *userWalk) index(x *syntax.IndexExpr) uval {
	if to := u.ofEach(x); to != nil {
		return u.expr(to)
	}
	u.onlyAsks(x.X)
	recv := u.expr(x.X)
	i := u.expr(x.Y)
	u.certain().checkIndex(x, recv, i)
	u.keyed(recv, i, start(x.Y))
	if isRef(recv.v) || typeName(recv) == "dict" {
		u.calling().noEvent(x.Y)
	}
	if recv.elems != nil {
		u.capture(i)
		return u.element(x, recv.elems, i)
	}
	_, isArray := recv.v.obj.(*arrayObj)
	_, isArgs := recv.v.obj.(*argsObj)
	switch recv.v.obj.(type) {
	case *ctxArray, *dynArray, *regStruct, *countedArray, *heldList:
		isArray = true
	case *structObj:
		_, isArray = u.b.attributes().listOf(recv.v, x.Lbrack)
	}
	if _, ok := recv.v.obj.(*memObj); ok {
		_, isArray = i.v.constInt() // of others user space takes what it wants
	}
	if recv.part && !recv.known && recv.caps.point() {
		u.frame.chooses(&chosenArg{element: x})
	}
	isPointer := recv.pointer()
	if isPointer && recv.part && !i.known {
		wrong(x.Lbrack, "the kernel reads what lies there, and the index is computed in user space: want a constant, "+
			"or the bytes, by mem(p, n)")
	}
	if recv.part && recv.known && i.known && !u.indexedWhole(recv, i, x) &&
		(isArray || isArgs || isPointer || recv.v.comp) {
		return u.partOf(x, x.X, recv, u.b.attributes().index(recv.v, i.v, x.Lbrack))
	}
	if isArgs && recv.part && recv.known {
		u.frame.choose(x)
	}
	if t, ok := recv.v.c.(plan.Tuple); ok && recv.known && i.known && fold.Unchanging(t) {
		var out val
		if refusal.Attempt(func() { out = u.b.attributes().index(recv.v, i.v, x.Lbrack) }) == nil {
			return knownVal(out)
		}
	}
	u.capture(recv)
	u.capture(i)
	if recv.was != nil {
		return wasAt(recv.was, i)
	}
	if t, ok := recv.v.c.(plan.Tuple); ok && recv.known && !recv.part && i.known {
		if v := wasAt(t, i); len(v.callees()) > 0 {
			v.bits, v.held = fieldWidth(recv), recv.elementHeld(i)
			return v
		}
	}
	if recv.row != nil {
		return tupleOf(recv.row)
	}
	bits := fieldWidth(recv)
	if n, ok := i.v.constInt(); ok && i.known {
		bits = elementBits(recv, int(n))
	}
	return uval{bits: bits, may: recv.callees(), held: recv.elementHeld(i)}
}

// indexedWhole reports whether user space takes the element of an array or a tuple of the event of which it has all:
// the kernel takes one at a constant index, and no parts are read of these elements.
func (u *userWalk) indexedWhole(recv, i uval, x *syntax.IndexExpr) bool {
	if _, constant := i.v.constInt(); constant {
		return false
	}
	if recv.v.comp {
		return !recv.v.isRecord() && !slices.ContainsFunc(recv.v.elems, needsKernel)
	}
	n := recv.v.arrayLen()
	return n > 0 && n <= maxUnroll && u.partsOf(x.X, recv) == nil
}

func (u *userWalk) unary(x *syntax.UnaryExpr) uval {
	if x.X == nil {
		return uval{}
	}
	v := uval{}
	if x.Op == syntax.NOT {
		v = u.asked(x.X)
	} else {
		v = u.expr(x.X)
	}
	u.certain().checkUnary(x, v)
	if !v.known {
		u.capture(v)
		return uval{}
	}
	var out val
	r := refusal.Attempt(func() {
		if x.Op == syntax.NOT {
			out = condVal(negate(u.b.ops().truth(v.v, x.OpPos), x.OpPos))
			return
		}
		out = u.b.ops().unaryVal(x.Op, v.v, x.OpPos)
	})
	if r != nil {
		u.capture(v)
		return uval{}
	}
	fails := v.fails || endsAbove(out, v.v)
	return uval{v: out, known: true, part: v.part, caps: v.caps, fails: fails}
}

func (u *userWalk) binary(x *syntax.BinaryExpr) uval {
	l := u.expr(x.X)
	if x.Op == syntax.AND || x.Op == syntax.OR {
		return u.andOr(x, l)
	}
	if x.Op == syntax.IN || x.Op == syntax.NOT_IN {
		u.onlyAsks(x.Y)
	}
	r := u.expr(x.Y)
	if c := containerIn(r); c != nil && c.Kind == plan.Table && (x.Op == syntax.IN || x.Op == syntax.NOT_IN) {
		u.keyed(r, l, start(x.X))
	}
	u.certain().checkBinary(x, l, r)
	if value, ok := decidedByType(x.Op, l, r); ok {
		u.capture(l)
		u.capture(r)
		return knownVal(boolVal(value)).after(l).after(r)
	}
	if x.Op == syntax.PERCENT {
		u.certain().checkPercent(x, l, r)
	}
	makesList := (x.Op == syntax.PLUS || x.Op == syntax.STAR) && (isWhole(l) || isWhole(r))
	if l.known && r.known && (l.part || r.part) && !makesList && !isRef(r.v) && !alwaysIn(x.Op, l, r) {
		var out val
		if refusal.Attempt(func() { out = u.b.ops().binary(x.Op, l.v, r.v, x.OpPos) }) == nil {
			return uval{v: out, known: true, part: true, caps: united(l.caps, r.caps),
				fails: l.fails || r.fails || endsAbove(out, l.v, r.v)}
		}
	}
	if l.known && r.known && !l.part && !r.part {
		if v, ok := folded(x.Op, l.v.c, r.v.c); ok {
			return knownVal(v)
		}
	}
	u.capture(l)
	u.capture(r)
	return uval{may: withCallees(l.callees(), r.callees()...), held: (l.holds() | r.holds()) &^ comparing(x.Op)}
}

// isWhole reports whether a tuple of the event, as an array, is one value of the kernel, of which + and * make lists in
// user space.
func isWhole(x uval) bool {
	switch x.v.obj.(type) {
	case *arrayObj, *ctxArray, *dynArray, *countedArray:
		return true
	}
	return x.known && typeName(x) == "tuple" && !x.v.comp && x.v.c == nil
}

// alwaysIn reports whether x is in y whatever text y is: "" is in each. Where y is no text, which only user space can
// say, that is an error, so it is left to user space.
func alwaysIn(op syntax.Token, x, y uval) bool {
	needle, ok := x.v.constStr()
	return ok && needle == "" && (op == syntax.IN || op == syntax.NOT_IN) && y.v.typ().Kind == types.Str
}

// andOr walks the right side only where the left one does not decide.
func (u *userWalk) andOr(x *syntax.BinaryExpr, l uval) uval {
	u.certain().checkChoice(x.OpPos, l)
	if c, ok := u.truth(l); ok {
		u.capture(l)
		if c == (x.Op == syntax.AND) {
			return u.expr(x.Y).after(l)
		}
		return l
	}
	u.capture(l)
	u.frame.open = true
	r := u.expr(x.Y)
	u.capture(r)
	return undecided(l, r)
}

// asked is a condition. Of a list of a program that is no value as a whole the kernel says whether it has elements.
func (u *userWalk) asked(x syntax.Expr) uval {
	v := u.expr(x)
	if v.known && v.part && u.b.attributes().onlyParts(v.v, start(x)) {
		return u.partVal(x, condVal(u.b.ops().truth(v.v, start(x))))
	}
	return v
}

func (u *userWalk) condExpr(x *syntax.CondExpr) uval {
	c := u.asked(x.Cond)
	u.capture(c)
	if value, ok := u.truth(c); ok {
		if value {
			return u.expr(x.True).after(c)
		}
		return u.expr(x.False).after(c)
	}
	u.frame.open = true
	yes := u.expr(x.True)
	u.capture(yes)
	no := u.expr(x.False)
	u.capture(no)
	return undecided(yes, no)
}

// unknown makes variables values of user space.
func (u *userWalk) unknown(x syntax.Expr) {
	switch x := unparen(x).(type) {
	case *syntax.Ident:
		u.bind(x.Binding.(*resolve.Binding), uval{})
	case *syntax.TupleExpr:
		for _, e := range x.List {
			u.unknown(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			u.unknown(e)
		}
	case *syntax.IndexExpr:
		recv, i := u.expr(x.X), u.expr(x.Y)
		u.writes().changesAt(x, recv)
		u.certain().checkIndex(x, recv, i)
		u.keyed(recv, i, start(x.Y))
		u.calling().noEvent(x.Y)
		u.capture(recv)
		u.capture(i)
	case *syntax.DotExpr:
		recv := u.expr(x.X)
		if recv.part && recv.known {
			readOnly(x, recv.v)
		}
		if c, _, ok := u.certain().containerOf(x.X, recv); ok {
			u.certain().clash(x.Dot, "%s of %s %s cannot be assigned; it has %s", x.Name.Name, c.Kind, name(c),
				strings.Join(attrs.OfContainer(c, false), ", "))
		}
		u.capture(recv)
	}
}
