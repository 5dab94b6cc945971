package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// Loops of user code. User space runs them, so of what a loop assigns nothing is known but from which parts of the
// event it can come: all of these are sent. A loop over parts of the event themselves, as in
//
//	for t in (e.task, e.task.real_parent):
//	    print(t.comm)
//
// would find numbers in user space, the addresses. It is therefore walked once for each of them, as if it were written
// out, and the host's copy has the statements of each round (plan.UserHalf.Rounds).

// loopVars are the variables that a loop assigns, with the captures of all that they can be.
type loopVars struct {
	carried map[*resolve.Binding]uval
}

// bind gives a variable a value.
func (u *user) bind(to *resolve.Binding, v uval) {
	if v.typ == "list" {
		v.elems = nil // it can change from here on
	}
	if u.frame.shifting[to] {
		if _, is := v.v.obj.(*event); !is {
			u.use(v)
		}
		v = carried(v)
	}
	for _, l := range u.frame.loops {
		l.carried[to] = either(l.carried[to], carried(v))
	}
	u.frame.vars.Set(to, v)
}

// bindAll gives a value to what stands on the left of an assignment or a loop.
func (u *user) bindAll(to syntax.Expr, v uval) {
	if id, ok := unparen(to).(*syntax.Ident); ok {
		u.bind(id.Binding.(*resolve.Binding), v)
		return
	}
	names := elementsOf(to)
	if len(names) == 0 || len(names) != len(v.elems) {
		u.use(v)
		u.unknown(to)
		return
	}
	for i, x := range names {
		u.bindAll(x, v.elems[i])
	}
}

// carried is v as a value of which only the captures are known.
func carried(v uval) uval { return uval{part: v.part, caps: v.caps} }

// either is a value that is x or y.
func either(x, y uval) uval {
	return uval{part: x.part || y.part, caps: united(x.caps, y.caps)}
}

// undecided is the value that is one of several, of which user space decides. Where all of them lead to other parts of
// the event, that is remembered, so that asking for one can be refused.
func undecided(list ...uval) uval {
	out := uval{}
	for _, v := range list {
		if !v.leads() {
			return uval{}
		}
		out = either(out, v)
	}
	return out
}

// element is x, an element of a tuple that user code made.
func (u *user) element(x *syntax.IndexExpr, elems []uval, i uval) uval {
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

// rounds walks loops and comprehensions of user code.
type rounds struct{ *user }

func (u *user) rounds() rounds { return rounds{u} }

// forStmt walks a loop, over again until nothing more is carried from one round to another.
func (u rounds) forStmt(s *syntax.ForStmt) {
	list := u.iterated(s, s.X, bodyOf(s))
	assigned := append(bound(s.Vars, nil), assignedIn(s.Body)...)
	begin := u.frame.vars
	u.forget(&begin, assigned)
	loop := &loopVars{carried: map[*resolve.Binding]uval{}}
	u.frame.loops = append(u.frame.loops, loop)
	for grown := true; grown; {
		u.each(s, s.Vars, list, func() { u.stmts(s.Body) }, begin)
		grown = false
		for _, to := range assigned {
			was := begin.At(to)
			v := either(was, loop.carried[to])
			grown = grown || !v.caps.within(was.caps)
			begin.Set(to, v)
		}
	}
	u.frame.loops = u.frame.loops[:len(u.frame.loops)-1]
	u.frame.vars = begin
}

// forget makes variables such that only what they can be is known.
func (u rounds) forget(vars *uvals, list []*resolve.Binding) {
	for _, to := range list {
		vars.Set(to, carried(vars.At(to)))
	}
}

// assignedIn gives the local variables that statements of user code assign, functions among them.
func assignedIn(list []syntax.Stmt) []*resolve.Binding {
	out := assigned(list)
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			if def, ok := n.(*syntax.DefStmt); ok {
				out = bound(def.Name, out)
				return false
			}
			return true
		})
	}
	return out
}

// iterated walks what a loop goes over. Only if the loop is to be written out the result has elements; they are not
// used then.
func (u rounds) iterated(at syntax.Node, x syntax.Expr, loop loopBody) uval {
	var v uval
	list := elementsOf(x)
	if list == nil {
		v = u.expr(x)
		u.certain().checkElements(start(x), v)
		u.use(v)
		if known := u.selection().constants(x, v); known != nil {
			v.elems = known
		}
	}
	for _, e := range list {
		v.elems = append(v.elems, u.expr(e))
	}
	wanted := anyLeads(v.elems) || len(v.elems) > 0 && len(v.elems) <= maxUnroll && u.selection().selects(loop)
	if u.writtenOut(at, v.elems, wanted) {
		for i, e := range list {
			u.mayDrop(u.half, e, v.elems[i])
		}
		return v
	}
	for i := range list {
		u.use(v.elems[i])
	}
	v.elems = nil
	return v
}

// writtenOut reports whether a loop is walked once for each of the elements. What is decided at the first point holds
// for the others.
func (u rounds) writtenOut(at syntax.Node, elems []uval, wanted bool) bool {
	rounds, decided := u.half.Rounds[at]
	if decided && rounds == nil || !decided && (!wanted || *u.copies+len(elems) > maxCopies) {
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

// leads reports whether x is a part of the event that has parts of its own.
func (x uval) leads() bool {
	if x.known {
		return x.part && !isText(x.v)
	}
	return x.part && x.caps.lead()
}

// anyLeads reports whether a value has fields that only the kernel half can read.
func anyLeads(list []uval) bool {
	for _, v := range list {
		if v.leads() || anyLeads(v.elems) {
			return true
		}
	}
	return false
}

// each walks the body of a loop, with the variables that hold before it.
func (u rounds) each(at syntax.Node, vars syntax.Expr, list uval, body func(), before uvals) {
	if list.elems == nil {
		u.frame.vars = before
		u.unknown(vars)
		body()
		return
	}
	half := u.half
	for i, v := range list.elems {
		u.half = half.Rounds[at][i]
		u.frame.vars = before
		u.bindAll(vars, v)
		body()
	}
	u.half = half
}

// comprehension walks one; its first loop over parts of the event is written out.
func (u rounds) comprehension(x *syntax.Comprehension) {
	u.clauses(x, x.Clauses, true)
}

func (u rounds) clauses(x *syntax.Comprehension, list []syntax.Node, may bool) {
	if len(list) == 0 {
		if entry, ok := x.Body.(*syntax.DictEntry); ok {
			u.use(u.expr(entry.Key))
			u.use(u.expr(entry.Value))
			return
		}
		u.use(u.expr(x.Body))
		return
	}
	switch c := list[0].(type) {
	case *syntax.IfClause:
		u.use(u.expr(c.Cond))
		u.frame.open = true
		u.clauses(x, list[1:], may)
	case *syntax.ForClause:
		v := u.overElements(c, loopBody{c.Vars, append(slices.Clone(list[1:]), x.Body)}, may)
		before := u.frame.vars
		u.each(c, c.Vars, v, func() { u.clauses(x, list[1:], may && v.elems == nil) }, before)
		u.frame.vars = before
	}
}

// overElements is what a for clause goes over.
func (u rounds) overElements(c *syntax.ForClause, loop loopBody, may bool) uval {
	if may {
		return u.iterated(c, c.X, loop)
	}
	v := u.expr(c.X)
	u.certain().checkElements(start(c.X), v)
	u.use(v)
	return uval{}
}

// shifting gives the variables of a function that functions inside of it share and that are not the same from then on:
// these see the value of the moment when they are called. Their values are used wherever they are assigned.
func shifting(def *resolve.Function) map[*resolve.Binding]bool {
	s := &shifts{assigned: map[*resolve.Binding]bool{}, shared: map[*resolve.Binding]bool{},
		out: map[*resolve.Binding]bool{}}
	for _, p := range def.Params {
		if un, ok := p.(*syntax.UnaryExpr); !ok || un.X != nil {
			s.assign(paramIdent(p), false)
		}
	}
	for _, stmt := range def.Body {
		s.walk(stmt, false)
	}
	return s.out
}

type shifts struct {
	assigned, shared, out map[*resolve.Binding]bool
}

func (s *shifts) assign(x syntax.Expr, often bool) {
	for _, to := range bound(x, nil) {
		if to.Scope == resolve.Cell && (often || s.assigned[to] || s.shared[to]) {
			s.out[to] = true
		}
		s.assigned[to] = true
	}
}

func (s *shifts) walk(n syntax.Node, often bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			s.assign(n.LHS, often)
		case *syntax.ForStmt:
			s.walk(n.X, often)
			s.assign(n.Vars, true)
			for _, stmt := range n.Body {
				s.walk(stmt, true)
			}
			return false
		case *syntax.ForClause:
			s.assign(n.Vars, true)
		case *syntax.DefStmt:
			s.assign(n.Name, often)
			return s.inside(n.Params, n.Function.(*resolve.Function), often)
		case *syntax.LambdaExpr:
			return s.inside(n.Params, n.Function.(*resolve.Function), often)
		}
		return true
	})
}

// inside notes what a function inside shares; the defaults of its parameters belong to the outer one.
func (s *shifts) inside(params []syntax.Expr, def *resolve.Function, often bool) bool {
	for _, p := range params {
		if bin, ok := p.(*syntax.BinaryExpr); ok {
			s.walk(bin.Y, often)
		}
	}
	for _, to := range def.FreeVars {
		s.shared[to] = true
	}
	return false
}
