package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/refusal"
)

// Fields and elements of one of two parts of the event, as of `(a if c else b).x` in user halves.
//
// What is taken of one of two structs is taken of each of them in the kernel, and user space decides which of both it
// gets. So
//
//	(a if c else b).x        is walked, and copied, as        a.x if c else b.x
//	(a or b).x                                                a.x if a else b.x
//	(a and b).x                                               b.x if a else a.x
//
// Of values that user space has it takes what it wants, so these stay as they are.

// ofEach is what is walked instead of x, a field or an element of one of two values; nil where x stays as it is.
func (u *userWalk) ofEach(x syntax.Expr) syntax.Expr {
	one := oneOfTwo(x)
	if one == nil {
		return nil
	}
	at := copySite{u.half, x}
	if to := u.half.Instead[x]; to != nil {
		return to
	}
	if u.proj.plainly[at] || !u.leadsFurther(one) {
		if !u.proj.trial {
			u.proj.plainly[at] = true
		}
		return nil
	}
	to := u.proj.each[x]
	if to == nil {
		to = taken(x, one)
		u.proj.each[x] = to
	}
	if !u.proj.trial {
		u.half.Instead[x] = to
	}
	return to
}

// oneOfTwo is the expression of one of two values that x takes a field or an element of, nil where that is another.
func oneOfTwo(x syntax.Expr) syntax.Expr {
	for {
		switch at := unparen(x).(type) {
		case *syntax.DotExpr:
			x = at.X
		case *syntax.IndexExpr:
			x = at.X
		case *syntax.CondExpr:
			return at
		case *syntax.BinaryExpr:
			if at.Op == syntax.AND || at.Op == syntax.OR {
				return at
			}
			return nil
		default:
			return nil
		}
	}
}

// leadsFurther reports whether user space decides which of two values x is, and only the kernel can read what is taken
// of them. The walk for it sends nothing. What is asked for its truth and then taken is computed twice, so nobody must
// notice that.
func (u *userWalk) leadsFurther(x syntax.Expr) (leads bool) {
	trial, open := u.proj.trial, u.frame.open
	u.proj.trial = true
	defer func() { u.proj.trial, u.frame.open = trial, open }()
	r := refusal.Attempt(func() {
		v := u.expr(x)
		switch x := x.(type) {
		case *syntax.CondExpr:
			if v.known { // which of both is known, and what decides it is called all the same
				leads = v.needsKernel() && hasCalls(x.Cond)
				return
			}
			leads = u.expr(x.True).needsKernel() || u.expr(x.False).needsKernel()
		case *syntax.BinaryExpr:
			asked := u.expr(x.X)
			leads = !v.known && (asked.needsKernel() || u.expr(x.Y).needsKernel()) && !mayFail(x.X, asked) &&
				!hasCalls(x.X)
		}
	})
	return leads && r == nil
}

// hasCalls reports whether there is a call in x: of a function that nobody knows to do nothing else.
func hasCalls(x syntax.Expr) (found bool) {
	syntax.Walk(x, func(n syntax.Node) bool {
		_, is := n.(*syntax.CallExpr)
		found = found || is
		return !found
	})
	return found
}

// taken is x of each of the two values that one may be.
func taken(x, one syntax.Expr) syntax.Expr {
	at := start(x)
	switch one := one.(type) {
	case *syntax.CondExpr:
		return &syntax.CondExpr{If: one.If, Cond: one.Cond, True: takenOf(x, one, one.True), ElsePos: one.ElsePos,
			False: takenOf(x, one, one.False)}
	case *syntax.BinaryExpr:
		out := &syntax.CondExpr{If: at, Cond: one.X, True: takenOf(x, one, one.X), ElsePos: at,
			False: takenOf(x, one, one.Y)}
		if one.Op == syntax.AND {
			out.True, out.False = out.False, out.True
		}
		return out
	}
	return nil
}

// takenOf is x with another value in the place of one.
func takenOf(x, one, of syntax.Expr) syntax.Expr {
	switch at := unparen(x).(type) {
	case *syntax.DotExpr:
		return &syntax.DotExpr{X: takenOf(at.X, one, of), Dot: at.Dot, NamePos: at.NamePos, Name: at.Name}
	case *syntax.IndexExpr:
		return &syntax.IndexExpr{X: takenOf(at.X, one, of), Lbrack: at.Lbrack, Y: at.Y, Rbrack: at.Rbrack}
	}
	return of
}
