package infer

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What is known of the values of user halves, and the message that user space decides which part of the event, pointer
// or argument this is.

func containerIn(of uval) *plan.Container {
	if ref, ok := of.v.c.(plan.Ref); ok && of.known {
		return ref.Container
	}
	return nil
}

// nameOf is the value of x if it is a name.
func (u *userWalk) nameOf(x syntax.Expr) uval {
	id, ok := unparen(x).(*syntax.Ident)
	if !ok {
		return uval{}
	}
	v, _ := u.frame.Lookup(id, captured)
	return v
}

// within makes f the frame of a function that stands inside another, whose frame is outer.
func (f *uframe) within(outer *uframe) { f.outer, f.Outer = outer, &outer.Frame }

// captured is what a function has captured, as user code knows it.
func captured(c plan.Value) uval { return knownVal(constant(c)) }

// perhaps reports whether a place in a function that a handler calls may be for other calls than this one.
func (f *uframe) perhaps() bool {
	for ; f != nil; f = f.outer {
		if f.open && !f.top {
			return true
		}
	}
	return false
}

func newFrame(fn *plan.Func, def *resolve.Function) *uframe {
	return &uframe{Frame: scope.Frame[uval]{Fn: fn, Def: def}, shifting: shifting(def)}
}

func knownVal(v val) uval { return uval{v: v, known: true} }

// carried is v as a value of which only the captures are known.
func carried(v uval) uval {
	return uval{part: v.part, caps: v.caps, bits: fieldWidth(v), row: v.row, may: v.callees(), held: v.holds()}
}

// either is a value that is x or y.
func either(x, y uval) uval {
	return uval{part: x.part || y.part, caps: united(x.caps, y.caps), bits: commonWidth(x, y),
		may: withCallees(x.callees(), y.callees()...), held: x.holds() | y.holds()}
}

// undecided is the value that is one of several, of which user space decides. Where they lead to other parts of the
// event, or have no fields at all, that is remembered, so that asking for one can be refused.
func undecided(list ...uval) uval {
	out := uval{bits: commonWidth(list...), may: calleesOf(list), held: holdsOf(list...)}
	for _, v := range list {
		switch {
		case v.needsKernel():
			out.part, out.caps = true, united(out.caps, v.caps)
		case !v.fieldless():
			return uval{bits: out.bits, may: out.may, held: out.held}
		}
	}
	return out
}

// fieldless reports whether x is a value of user space that has no fields and no elements, as None.
func (x uval) fieldless() bool {
	if x.known && (x.v.isNone() || x.v.c == fold.Fault) {
		return true
	}
	return slices.Contains([]string{"bool", "int", "float"}, typeName(x))
}

// isText reports whether v is a value whose attributes are methods of a
// value of user space.
func isText(v val) bool {
	if v.obj != nil {
		_, isBytes := v.obj.(*memObj)
		return isBytes
	}
	switch t := v.typ(); t.Kind {
	case types.Int:
		return !t.Leads()
	case types.Str, types.Bytes, types.Bool, types.None, types.Stack, types.Float:
		return true
	}
	return false
}

// isRef reports whether v is a container: what user code asks of one is
// asked in user space.
func isRef(v val) bool { _, ok := v.c.(plan.Ref); return ok }

// leads reports whether x is a part of the event that has parts of its own.
func (x uval) leads() bool {
	if x.known {
		return x.part && !isText(x.v)
	}
	return x.part && x.caps.lead()
}

// needsKernel reports whether x is a part of the event of which the kernel reads what is taken of it. Of a record of
// numbers and texts user space has all.
func (x uval) needsKernel() bool {
	if x.known {
		return x.part && needsKernel(x.v)
	}
	return x.leads()
}

// needsKernel reports whether there are parts of v that only the kernel half can read.
func needsKernel(v val) bool {
	switch {
	case v.comp:
		return slices.ContainsFunc(v.elems, needsKernel)
	case v.c != nil:
		return !fold.Unchanging(v.c)
	case v.obj != nil:
		return innermostLeads(v)
	}
	return typeNeedsKernel(v.typ())
}

func typeNeedsKernel(t types.Type) bool {
	if t.Kind == types.Tuple || t.Kind == types.Record {
		return slices.ContainsFunc(t.Elems, typeNeedsKernel)
	}
	return !isText(exprVal(typed(t)))
}

// typed stands for a value of which only the type matters.
func typed(t types.Type) *tree.Expr { return &tree.Expr{Type: t} }

// anyNeedsKernel reports whether a value has parts that only the kernel half can read.
func anyNeedsKernel(list []uval) bool {
	return slices.ContainsFunc(list, func(v uval) bool { return v.needsKernel() || anyNeedsKernel(v.elems) })
}

// anyLeads reports whether a value has fields that the kernel half can read.
func anyLeads(list []uval) bool {
	for _, v := range list {
		if v.leads() || anyLeads(v.elems) {
			return true
		}
	}
	return false
}

// capture makes x a value of user space: the record gets a field for each part of the event that x is made of.
func (u *userWalk) capture(x uval) {
	if u.proj.trial {
		return
	}
	x.fn.mayLeave()
	if !x.part {
		return
	}
	used := u.proj.sends[len(u.proj.sends)-1].used
	x.caps.each(used, func(c capture) {
		if !c.there {
			u.proj.capture(u, c)
		}
	})
}

// partVal is a part of the event that stands at x.
func (u *userWalk) partVal(x syntax.Expr, v val) uval {
	caps := oneCapture(capture{u.half, x, v, u.nested, false})
	return uval{v: v, known: true, part: true, caps: caps, bits: (golang{u.b}).written(v)}
}

// partOf is partVal for a part of another one, of, that stands in x.
func (u *userWalk) partOf(x, of syntax.Expr, recv uval, v val) uval {
	out := u.partVal(x, v)
	if out.first = recv.first; out.first == nil && recv.fails {
		out.first = of
	}
	if out.first != nil {
		u.half.First[x] = out.first
		out.fails = true
	}
	return out
}

// noteContainers notes the tables and cells that user code reaches. reads says that this place only asks them.
func (u *userWalk) noteContainers(c plan.Value, pos plan.Pos, reads bool) {
	u.pr.noteContainers(c, pos, reads, map[*plan.Func]bool{})
}

// bind gives a variable a value.
func (u *userWalk) bind(to *resolve.Binding, v uval) {
	if v.typ == "list" || v.typ == "dict" {
		v.may, v.held = v.callees(), v.holds()
		v.elems, v.entries = nil, nil // it can change from here on
	}
	if u.frame.shifting[to] {
		if _, is := v.v.obj.(*event); !is {
			u.capture(v)
		}
		v = carried(v)
		v.bits, v.row = 0, nil
	}
	for _, l := range u.frame.loops {
		if was, ok := l.carried[to]; ok {
			l.carried[to] = either(was, v)
		} else {
			l.carried[to] = carried(v)
		}
	}
	u.frame.Vars.Set(to, v)
}

// whileItRuns is x as user code finds it when an event comes: of a list or dict that it captured only the type is known
// before, for user code may have changed it since.
func whileItRuns(x uval) uval {
	if x.known && !x.part && fold.MayChange(x.v.c) {
		return uval{typ: typeName(x), was: x.v.c}
	}
	return x
}

// passed is v where it is not seen any more what names stand for: behind a call.
func passed(v uval) uval {
	v.away = v.fn != nil
	for i, e := range v.elems {
		if e.fn != nil {
			v.elems = slices.Clone(v.elems)
			v.elems[i] = passed(e)
		}
	}
	return v
}

// mayLeave refuses a function as a value if it has to be known what it is called
// with: of calls elsewhere, as those of sorted(), nothing is known.
func (f *inner) mayLeave() {
	if f != nil && f.chosen != nil {
		f.chosen.refuse()
	}
}

func (c *chosenArg) refuse() {
	const why = "user space decides which argument this is, and the kernel reads it: "
	known := fmt.Sprintf("a constant, or what follows from the variable of a loop over a tuple of constants, or over "+
		"a range of at most %d, as for i in range(3)", maxUnroll)
	switch {
	case c.call != nil:
		wrong(c.call.Lparen, "which function is called here is not known when the script is compiled, so the kernel "+
			"cannot read what it takes of the event: call functions by their names, as f(p) if x else g(p), or give "+
			"it values, as p.x")
	case c.field != nil:
		wrong(c.field.Name.NamePos, "user space decides which part of the event this is: take .%s of each part "+
			"before", c.field.Name.Name)
	case c.asked != nil:
		wrong(c.asked.Lparen, "user space decides which part of the event this is: ask each part before for its .%s",
			c.name)
	case c.element != nil:
		wrong(c.element.Lbrack, "user space decides which pointer this is: take the element of each before")
	case c.shared != nil:
		wrong(c.at.Lbrack, why+"%[1]s changes, and a function inside reads it, which finds what it is when it "+
			"is called; give that function %[1]s as an argument, as f(%[1]s)", c.shared.Name)
	case c.param != nil:
		wrong(c.at.Lbrack, why+"%s is a parameter, so want calls of the function by its name that give it %s",
			c.param.Name, known)
	}
	wrong(c.at.Lbrack, why+"want %s", known)
}

// mayDrop notes an expression of user code whose value is needed only if its
// captures turn out to be.
func (u *userWalk) mayDrop(half *plan.UserHalf, x syntax.Expr, v uval) {
	switch {
	case v.fails:
		u.capture(v)
	case v.part:
		u.proj.drops = append(u.proj.drops, drop{half, x, v})
	default:
		u.proj.valued[copySite{half, unparen(x)}] = true
	}
}

// truth gives the truth of x where it is known while compiling.
func (u *userWalk) truth(x uval) (value, ok bool) {
	if !x.known {
		return false, false
	}
	var c cond
	if refusal.Attempt(func() { c = u.b.ops().truth(x.v, plan.Pos{}) }) != nil {
		return false, false
	}
	return c.value, c.known
}

// after is x where y is evaluated before it in the same expression.
func (x uval) after(y uval) uval {
	x.fails = x.fails || y.fails
	return x
}

// tupleOf is a tuple that the interpreter makes of values.
func tupleOf(elems []uval) uval {
	out := uval{typ: "tuple", elems: elems}
	for _, v := range elems {
		out.part = out.part || v.part
		out.caps = united(out.caps, v.caps)
	}
	return out
}

// onlyAsks notes that x, if it is the name of a table or cell, or a field that is one, is asked here and not changed.
func (u *userWalk) onlyAsks(x syntax.Expr) {
	if u.pr.asks == nil {
		u.pr.asks = map[syntax.Expr]bool{}
	}
	u.pr.asks[unparen(x)] = true
}

// leads notes that of x, if it is a record, only a field is taken.
func (u *userWalk) leads(x syntax.Expr) {
	if u.pr.led == nil {
		u.pr.led = map[syntax.Expr]bool{}
	}
	u.pr.led[unparen(x)] = true
}

// typeName is the interpreter's name for the type that x has in user space, "" where it is not known: see userType.
func typeName(x uval) string {
	if !x.known {
		return x.typ
	}
	if isLost(x.v.expr) {
		return "" // of any type: what becomes of it is found where it is known to be FAULT
	}
	return userType(x.v)
}
