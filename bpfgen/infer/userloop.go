package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/internal/plan"
)

// Loops and comprehensions in user halves: what user space needs of the event in them, and the message that a loop has
// too many rounds over parts of the event.
//
// Loops of user code. User space runs them, so of what a loop assigns nothing is known but from which parts of the
// event it can come: all of these are sent. A loop over parts of the event themselves, as in
//
//	for t in (e.task, e.task.real_parent):
//	    print(t.comm)
//
// would find numbers in user space, the addresses. It is therefore walked once for each of them, as if it were written
// out, and the host's copy has the statements of each round (plan.UserHalf.Rounds).

// bindAll gives a value to what stands on the left of an assignment or a loop.
func (u *userWalk) bindAll(to syntax.Expr, v uval) {
	if id, ok := unparen(to).(*syntax.Ident); ok {
		u.bind(id.Binding.(*resolve.Binding), v)
		return
	}
	names, elems := elementsOf(to), v.elems
	if elems == nil {
		if elems = u.partsOf(to, v); elems != nil {
			u.capture(v)
		}
	}
	if len(names) == 0 || len(names) != len(elems) {
		u.capture(v)
		if v.row != nil {
			for _, x := range names {
				u.bindAll(x, tupleOf(v.row))
			}
			return
		}
		if len(names) == 0 {
			u.eachAs(to, uval{bits: fieldWidth(v), may: v.callees(), held: v.holds()})
		}
		for i, x := range names {
			u.eachAs(x, uval{bits: elementBits(v, i), may: v.callees(), held: v.holds()})
		}
		return
	}
	for i, x := range names {
		u.bindAll(x, elems[i])
	}
}

// eachAs gives each name the value v, of which only the width is known.
func (u *userWalk) eachAs(to syntax.Expr, v uval) {
	if v.bits == 0 && v.may == nil && v.held == 0 {
		u.unknown(to)
		return
	}
	if id, ok := unparen(to).(*syntax.Ident); ok {
		u.bind(id.Binding.(*resolve.Binding), v)
		return
	}
	names := elementsOf(to)
	if names == nil {
		u.unknown(to)
	}
	for _, x := range names {
		u.eachAs(x, v)
	}
}

// element is x, an element of a tuple that user code made.
func (u *userWalk) element(x *syntax.IndexExpr, elems []uval, i uval) uval {
	n, ok := i.v.constInt()
	if n < 0 {
		n += int64(len(elems))
	}
	if !ok || !i.known || n < 0 || n >= int64(len(elems)) {
		return undecided(elems...)
	}
	v := elems[n]
	for _, e := range elems {
		v.fails = v.fails || e.fails || !e.known // it is computed with the tuple
	}
	if v.known && v.leads() {
		return u.partOf(x, x.X, v, v.v)
	}
	return v
}

// forStmt walks a loop, over again until nothing more is carried from one round to another.
func (u rounds) forStmt(s *syntax.ForStmt) {
	list := u.over(s, s.X, bodyOf(s))
	assigned := append(bound(s.Vars, nil), assignedIn(s.Body)...)
	begin := u.frame.Vars
	u.forget(&begin, assigned)
	loop := &loopVars{carried: map[*resolve.Binding]uval{}}
	u.frame.loops = append(u.frame.loops, loop)
	for grown := true; grown; {
		u.inLoop(list, func() { u.each(s, s.Vars, list, func() { u.stmts(s.Body) }, begin) })
		grown = false
		for _, to := range assigned {
			was := begin.At(to)
			v := either(was, loop.carried[to])
			grown = grown || !v.caps.within(was.caps) || v.bits != was.bits || v.held != was.held
			begin.Set(to, v)
		}
	}
	u.frame.loops = u.frame.loops[:len(u.frame.loops)-1]
	u.frame.Vars = begin
}

// inLoop walks the body of a loop. How often it comes to one that is not written out only user space knows.
func (u rounds) inLoop(list iterated, walk func()) {
	if !list.written {
		u.frame.decides++
		defer func() { u.frame.decides-- }()
	}
	walk()
}

// forget makes variables such that only what they can be is known.
func (u rounds) forget(vars *uvals, list []*resolve.Binding) {
	for _, to := range list {
		vars.Set(to, carried(vars.At(to)))
	}
}

// An iterated is what a loop goes over.
type iterated struct {
	// elems are the elements, nil where they are not known.
	elems []uval
	// written: the loop is written out. The elements are used only if it is not.
	written bool
	// bits is the width of the elements where these are not known, 0 where that is not known either.
	bits int
	may  []callee // the functions that they may be, or have in them
	held keeping  // the parts of the event that they may be, or have in them
}

// over walks what a loop goes over.
func (u rounds) over(at syntax.Node, x syntax.Expr, loop loopBody) iterated {
	var v uval
	list := elementsOf(x)
	if list == nil {
		v = u.expr(x)
		u.certain().checkElements(start(x), v)
		if known := u.selection().constants(x, v); known != nil {
			v.elems = known
		}
		parts := u.partsOf(x, v)
		if parts != nil {
			v.elems = parts
		}
		if parts == nil || parts[0].v.obj == nil || v.fails {
			u.capture(v)
		} else {
			u.mayDrop(u.half, x, v)
		}
	}
	for _, e := range list {
		v.elems = append(v.elems, u.expr(e))
	}
	wanted := anyLeads(v.elems) || len(v.elems) > 0 && len(v.elems) <= maxUnroll &&
		(u.selection().selects(loop) || anyPart(v.elems) && u.selection().readsAt(loop) ||
			haveOwnWidths(v.elems) && u.selection().gives(loop))
	if u.writtenOut(at, v.elems, wanted) {
		for i, e := range list {
			u.mayDrop(u.half, e, v.elems[i])
		}
		return iterated{elems: v.elems, written: true}
	}
	if anyNeedsKernel(v.elems) {
		wrong(start(x), "this loop goes over parts of the event, of which the kernel reads what is used: this handler "+
			"has too many such rounds and calls, or at another point these are no parts of the event")
	}
	for i := range list {
		u.capture(v.elems[i])
	}
	if list != nil {
		u.noBuiltins(list, v.elems)
	}
	if v.elems == nil && v.row != nil {
		return iterated{elems: []uval{tupleOf(v.row)}}
	}
	return iterated{elems: v.elems, bits: fieldWidth(v), may: v.callees(), held: v.holds()}
}

// anyPart reports whether a value is a part of the event, or made of some.
func anyPart(list []uval) bool {
	return slices.ContainsFunc(list, func(v uval) bool { return v.part || anyPart(v.elems) })
}

// writtenOut reports whether a loop is walked once for each of the elements. Points that want it otherwise get another
// version of the function, unless that it has too many copies was the reason.
func (u rounds) writtenOut(at syntax.Node, elems []uval, wanted bool) bool {
	rounds, decided := u.half.Rounds[at]
	here := place{u.half, at, aLoop}
	if !decided && wanted && *u.copies+len(elems) > maxCopies {
		u.proj.full[here] = true
	}
	wanted = wanted && !u.proj.full[here]
	if wanted {
		u.proj.comesTo(here, written)
	} else {
		u.proj.comesTo(here, own)
	}
	if decided && rounds == nil || !decided && !wanted {
		u.half.Rounds[at] = nil
		return false
	}
	for len(rounds) < len(elems) {
		*u.copies++
		rounds = append(rounds, u.half.Part())
	}
	u.half.Rounds[at] = rounds
	return true
}

// each walks the body of a loop, with the variables that hold before it.
func (u rounds) each(at syntax.Node, vars syntax.Expr, list iterated, body func(), before uvals) {
	if !list.written {
		u.frame.Vars = before
		if list.elems == nil {
			u.eachAs(vars, uval{bits: list.bits, may: list.may, held: list.held})
		} else {
			u.oneOf(vars, list.elems)
		}
		body()
		return
	}
	half := u.half
	for i, v := range list.elems {
		u.half = half.Rounds[at][i]
		u.frame.Vars = before
		u.bindAll(vars, v)
		body()
	}
	u.half = half
}

// oneOf makes variables values of user space, each an element of a list, of which only the width is known.
func (u rounds) oneOf(x syntax.Expr, elems []uval) {
	id, isName := unparen(x).(*syntax.Ident)
	if names := elementsOf(x); !isName && haveElements(elems, len(names)) {
		for i, name := range names {
			column := make([]uval, len(elems))
			for j, e := range elems {
				column[j] = e.elems[i]
			}
			u.oneOf(name, column)
		}
		return
	}
	if row := rowOf(elems); isName && row != nil {
		u.bind(id.Binding.(*resolve.Binding), tupleOf(row))
		return
	}
	width := commonWidth(elems...)
	if !isName || width == 0 {
		u.eachAs(x, uval{bits: width, may: calleesOf(elems), held: holdsOf(elems...)})
		return
	}
	one := carried(elems[0])
	for _, e := range elems[1:] {
		one = either(one, carried(e))
	}
	u.bind(id.Binding.(*resolve.Binding), one)
}

// haveElements reports whether there are values, and each has n elements.
func haveElements(list []uval, n int) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(v uval) bool { return v.elems == nil || len(v.elems) != n })
}

// comprehension walks one.
func (u rounds) comprehension(x *syntax.Comprehension) uval {
	bodies := u.clauses(x, x.Clauses)
	return uval{bits: max(commonWidth(bodies...), 0), row: rowOf(bodies), may: calleesOf(bodies),
		held: holdsOf(bodies...)}
}

// clauses gives the elements of a list that a comprehension makes, in each round that is walked.
func (u rounds) clauses(x *syntax.Comprehension, list []syntax.Node) (bodies []uval) {
	if len(list) == 0 {
		if entry, ok := x.Body.(*syntax.DictEntry); ok {
			u.capture(u.expr(entry.Key))
			v := u.expr(entry.Value)
			u.capture(v)
			return []uval{{held: v.holds()}}
		}
		v := u.expr(x.Body)
		u.capture(v)
		return []uval{v}
	}
	switch c := list[0].(type) {
	case *syntax.IfClause:
		asked := u.asked(c.Cond)
		u.capture(asked)
		if value, ok := u.truth(asked); ok && !value {
			return nil
		}
		u.frame.open = true
		return u.clauses(x, list[1:])
	case *syntax.ForClause:
		v := u.over(c, c.X, loopBody{c.Vars, append(slices.Clone(list[1:]), x.Body)})
		before := u.frame.Vars
		one := func() { bodies = append(bodies, u.clauses(x, list[1:])...) }
		u.inLoop(v, func() { u.each(c, c.Vars, v, one, before) })
		u.frame.Vars = before
	}
	return bodies
}

// constants are the elements of what a loop goes over, if all of it is known now.
func (u selection) constants(x syntax.Expr, v uval) []uval {
	if call, ok := unparen(x).(*syntax.CallExpr); ok && u.nameOf(call.Fn).v.c == plan.Value(plan.Builtin("range")) {
		return u.rangeOf(call)
	}
	t, ok := v.v.c.(plan.Tuple)
	if !ok || !v.known || !fold.Unchanging(t) {
		return nil
	}
	out := make([]uval, len(t))
	for i, e := range t {
		out[i] = constantElem(e)
	}
	return out
}

// rangeOf is range(…) of few constants.
func (u selection) rangeOf(x *syntax.CallExpr) []uval {
	at := [3]int64{0, 0, 1}
	if len(x.Args) == 0 || len(x.Args) > 3 {
		return nil
	}
	for i, a := range x.Args {
		v := u.expr(argValue(a))
		n, ok := v.v.constInt()
		if !ok || !v.known || argValue(a) != a {
			return nil
		}
		at[i] = n
	}
	if len(x.Args) == 1 {
		at[0], at[1] = 0, at[0]
	}
	list, ok := fold.Range(at[0], at[1], at[2], maxUnroll)
	if !ok {
		return nil
	}
	var out []uval
	for _, c := range list {
		out = append(out, knownVal(constant(c)))
	}
	return out
}

// constantElem is an element that is known; of a tuple the elements are, too, so that it can be unpacked.
func constantElem(e plan.Value) uval {
	out := knownVal(constant(e))
	if t, ok := e.(plan.Tuple); ok {
		out.typ = "tuple"
		for _, x := range t {
			out.elems = append(out.elems, constantElem(x))
		}
	}
	return out
}
