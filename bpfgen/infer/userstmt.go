package infer

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// Statements of user halves (assignments, if, return) and what user space needs of the event in them.

// stmts walks statements of user code and reports whether their end can be
// reached.
func (u *userWalk) stmts(list []syntax.Stmt) bool {
	for _, s := range list {
		u.pr.u.stop.Poll()
		frame, nested, falls := u.frame, u.nested, true
		if r := refusal.Attempt(func() { falls = u.stmt(s) }); r != nil {
			u.pr.u.mistake(r)
			u.frame, u.nested = frame, nested
		}
		if !falls {
			return false
		}
	}
	return true
}

func (u *userWalk) stmt(s syntax.Stmt) bool {
	if u.isMoved(s) {
		return true
	}
	u.writes().asksKernel(s)
	switch s := s.(type) {
	case *syntax.ExprStmt:
		u.mayDrop(u.half, s.X, u.expr(s.X))
	case *syntax.AssignStmt:
		u.assign(s)
	case *syntax.IfStmt:
		return u.ifStmt(s)
	case *syntax.ForStmt:
		u.rounds().forStmt(s)
	case *syntax.ReturnStmt:
		u.returnStmt(s)
		return false
	case *syntax.DefStmt:
		v := u.calling().defined(s, s.Name.Name, s.Function.(*resolve.Function))
		u.bind(s.Name.Binding.(*resolve.Binding), v)
		u.calling().function(v.fn)
	case *syntax.BranchStmt:
		return s.Token == syntax.PASS
	}
	return true
}

func (u *userWalk) returnStmt(s *syntax.ReturnStmt) {
	if s.Result == nil {
		u.frame.returns = append(u.frame.returns, knownVal(constant(plan.None{})))
		return
	}
	v := asReturned(u.expr(s.Result))
	if u.frame.top {
		// What a handler returns is dropped.
		u.mayDrop(u.half, s.Result, v)
		return
	}
	u.frame.returns = append(u.frame.returns, v)
	u.mayDrop(u.half, s.Result, v)
}

func (u *userWalk) assign(s *syntax.AssignStmt) {
	if s.Op != syntax.EQ {
		u.calling().noEvent(s.RHS)
		was, more := u.expr(s.LHS), u.expr(s.RHS)
		u.capture(was)
		u.capture(more)
		u.eachAs(s.LHS, uval{held: was.holds() | more.holds(), may: withCallees(was.callees(), more.callees()...)})
		return
	}
	if u.proj.later != nil && u.proj.later.renames(s) { // what is done by the other name is seen there
		u.onlyAsks(s.RHS)
	}
	u.assignTo(s.LHS, s.RHS)
}

// assignTo binds names to parts; a tuple of values to a tuple of names is
// bound one by one.
func (u *userWalk) assignTo(lhs, rhs syntax.Expr) { u.assignment(lhs, rhs)() }

// assignment evaluates the right side and gives what binds the left side to it: in a, b = b, a all of the right side is
// evaluated before the first name changes.
func (u *userWalk) assignment(lhs, rhs syntax.Expr) (bind func()) {
	if id, ok := unparen(lhs).(*syntax.Ident); ok {
		var v uval
		if l, ok := unparen(rhs).(*syntax.LambdaExpr); ok {
			v = u.calling().defined(l, id.Name, l.Function.(*resolve.Function))
			u.calling().function(v.fn)
		} else {
			v = u.expr(rhs)
		}
		u.mayDrop(u.half, rhs, v)
		return func() { u.bind(id.Binding.(*resolve.Binding), v) }
	}
	to, from := elementsOf(lhs), elementsOf(rhs)
	if to != nil && len(to) == len(from) {
		return u.assignments(to, from)
	}
	u.calling().noEvent(rhs)
	v := u.expr(rhs)
	if at, ok := unparen(lhs).(*syntax.IndexExpr); ok {
		u.keeps(at.X, v)
		u.keepsFunctions(at.X, []syntax.Expr{rhs}, []uval{v})
	}
	u.certain().checkStored(lhs, v)
	u.certain().checkUnpacked(lhs, rhs, v)
	u.capture(v)
	return func() { u.bindAll(lhs, v) }
}

func (u *userWalk) assignments(to, from []syntax.Expr) (bind func()) {
	binds := make([]func(), len(to))
	for i := range to {
		binds[i] = u.assignment(to[i], from[i])
	}
	return func() {
		for _, bind := range binds {
			bind()
		}
	}
}

func (u *userWalk) ifStmt(s *syntax.IfStmt) bool {
	c := u.asked(s.Cond)
	u.capture(c)
	if value, ok := u.truth(c); ok {
		taken := s.False
		if value {
			taken = s.True
		}
		return u.stmts(taken)
	}
	u.frame.open = true
	decides := u.frame.decides
	if !c.known {
		u.frame.decides++
	}
	before := u.frame.Vars
	tf := u.stmts(s.True)
	tv := u.frame.Vars
	u.frame.Vars = before
	ef := u.stmts(s.False)
	ev := u.frame.Vars
	if tf && ef { // else the condition decides what follows, too
		u.frame.decides = decides
	}
	switch {
	case tf && ef:
		u.frame.Vars = u.merge(tv, ev)
	case tf:
		u.frame.Vars = tv
	}
	return tf || ef
}

// merge joins the variables of two ways. A variable with different parts on
// the two ways is a value of user space from here on.
func (u *userWalk) merge(x, y uvals) uvals {
	out := x
	if y.Len() > x.Len() {
		out = y
	}
	persistent.Diff(x, y, func(k *resolve.Binding, xv, yv *uval) {
		switch {
		case yv == nil:
			out.Set(k, *xv)
		case xv == nil:
			out.Set(k, *yv)
		case xv.known && yv.known && xv.part == yv.part && same(xv.v, yv.v):
			v := *xv
			v.caps = united(xv.caps, yv.caps)
			out.Set(k, v)
		default:
			out.Set(k, either(*xv, *yv))
		}
	})
	return out
}
