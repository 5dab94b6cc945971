package script

import (
	"fmt"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// A loop over parts of the event becomes one that knows its round, with what the body is in each:
//
//	for $round1, t in $enumerate((None, None)):     # was: for t in (e.task, e.task.real_parent):
//	    if $round1 == 0:
//	        print($ev[0])                           # was: print(t.comm)
//	    else:
//	        print($ev[1])
//
// It stays a loop, so that break, continue and return mean what they mean. A function inside the handler that is called
// with parts of the event has a copy for each such call, under a name of its own, right behind it.

func (c *copying) cloner() *cloner {
	return &cloner{expr: c.replace, stmt: c.replaceStmt, enter: c.enter, leave: c.leave}
}

// within makes what f makes with another half of the function.
func within[T any](c *copying, half *plan.UserHalf, f func() T) T {
	was := c.half
	c.half = half
	defer func() { c.half = was }()
	return f()
}

// written reports whether a loop of the function is written out.
func written(h *plan.UserHalf) bool {
	for _, rounds := range h.Rounds {
		if len(rounds) > 0 {
			return true
		}
	}
	for _, copies := range h.Copies {
		for _, to := range copies {
			if written(to.Half) {
				return true
			}
		}
	}
	for _, to := range h.To {
		if written(to.Half) {
			return true
		}
	}
	return false
}

// replaceStmt gives the statements that stand in the copy for one of the original.
func (c *copying) replaceStmt(s syntax.Stmt) ([]syntax.Stmt, bool) {
	if c.half.Moved[s] {
		return []syntax.Stmt{&syntax.BranchStmt{Token: syntax.PASS, TokenPos: syntax.Start(s)}}, true
	}
	switch s := s.(type) {
	case *syntax.ForStmt:
		if rounds := c.half.Rounds[s]; len(rounds) > 0 {
			return []syntax.Stmt{c.forStmt(s, rounds)}, true
		}
	case *syntax.DefStmt:
		if copies := c.half.Copies[s]; len(copies) > 0 {
			return c.withCopies(c.cloner().copied(s), s, copies), true
		}
	case *syntax.AssignStmt:
		if l, ok := unparen(s.RHS).(*syntax.LambdaExpr); ok && len(c.half.Copies[l]) > 0 {
			return c.withCopies(c.cloner().copied(s), l, c.half.Copies[l]), true
		}
	}
	return nil, false
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

// withCopies is the definition of a function inside, and its copies.
func (c *copying) withCopies(first syntax.Stmt, n syntax.Node, copies []*plan.Copy) []syntax.Stmt {
	out := []syntax.Stmt{first}
	for _, to := range copies {
		out = append(out, within(c, to.Half, func() syntax.Stmt {
			switch n := n.(type) {
			case *syntax.DefStmt:
				def := c.cloner().def(n)
				def.Name.Name = to.Name
				return def
			case *syntax.LambdaExpr:
				return &syntax.AssignStmt{OpPos: n.Lambda, Op: syntax.EQ,
					LHS: &syntax.Ident{NamePos: n.Lambda, Name: to.Name}, RHS: c.cloner().lambda(n)}
			}
			panic(fmt.Sprintf("copies of %T", n))
		}))
	}
	return out
}

// round is a new variable that has the number of the round.
func (c *copying) round(pos syntax.Position) func() *syntax.Ident {
	c.loops++
	name := fmt.Sprintf("$round%d", c.loops)
	return func() *syntax.Ident { return &syntax.Ident{NamePos: pos, Name: name} }
}

// numbered is the head of a loop that knows its round: `$round, vars` and `$enumerate(x)`.
func (c *copying) numbered(round *syntax.Ident, vars, x syntax.Expr) (syntax.Expr, syntax.Expr) {
	cl := c.cloner()
	pos := syntax.Start(x)
	return &syntax.TupleExpr{List: []syntax.Expr{round, cl.one(unparen(vars))}},
		&syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: enumerateName}, Lparen: pos,
			Args: []syntax.Expr{cl.one(x)}, Rparen: pos}
}

// isRound is `$round == n`.
func isRound(round *syntax.Ident, n int) syntax.Expr {
	at := round.NamePos
	return &syntax.BinaryExpr{X: round, OpPos: at, Op: syntax.EQL,
		Y: &syntax.Literal{Token: syntax.INT, TokenPos: at, Raw: fmt.Sprint(n), Value: int64(n)}}
}

func (c *copying) forStmt(s *syntax.ForStmt, rounds []*plan.UserHalf) syntax.Stmt {
	round := c.round(s.For)
	out := &syntax.ForStmt{For: s.For}
	out.Vars, out.X = c.numbered(round(), s.Vars, s.X)
	for i := len(rounds) - 1; i >= 0; i-- {
		body := within(c, rounds[i], func() []syntax.Stmt { return c.cloner().stmts(s.Body) })
		if i < len(rounds)-1 {
			body = []syntax.Stmt{&syntax.IfStmt{If: s.For, Cond: isRound(round(), i), True: body, ElsePos: s.For,
				False: out.Body}}
		}
		out.Body = body
	}
	return out
}

// comprehension copies one of whose loops one is written out: all that stands behind that loop is chosen by the round.
func (c *copying) comprehension(x *syntax.Comprehension) (syntax.Expr, bool) {
	at := 0
	for ; at < len(x.Clauses); at++ {
		if f, ok := x.Clauses[at].(*syntax.ForClause); ok && len(c.half.Rounds[f]) > 0 {
			break
		}
	}
	if at == len(x.Clauses) {
		return nil, false
	}
	out := &syntax.Comprehension{Curly: x.Curly, Lbrack: x.Lbrack, Rbrack: x.Rbrack}
	for _, n := range x.Clauses[:at] {
		out.Clauses = append(out.Clauses, c.cloner().clause(n))
	}
	loop := x.Clauses[at].(*syntax.ForClause)
	round := c.round(loop.For)
	vars, list := c.numbered(round(), loop.Vars, loop.X)
	out.Clauses = append(out.Clauses, &syntax.ForClause{For: loop.For, Vars: vars, In: loop.In, X: list})
	chosen := func(e syntax.Expr) syntax.Expr { return c.chosen(e, round, c.half.Rounds[loop]) }
	for _, n := range x.Clauses[at+1:] {
		switch n := n.(type) {
		case *syntax.ForClause:
			out.Clauses = append(out.Clauses, &syntax.ForClause{For: n.For, Vars: c.cloner().one(n.Vars), In: n.In,
				X: chosen(n.X)})
		case *syntax.IfClause:
			out.Clauses = append(out.Clauses, &syntax.IfClause{If: n.If, Cond: chosen(n.Cond)})
		}
	}
	if d, ok := x.Body.(*syntax.DictEntry); ok {
		out.Body = &syntax.DictEntry{Key: chosen(d.Key), Colon: d.Colon, Value: chosen(d.Value)}
	} else {
		out.Body = chosen(x.Body)
	}
	return out, true
}

// chosen is an expression as it is in each round: `a if $round == 0 else b`.
func (c *copying) chosen(e syntax.Expr, round func() *syntax.Ident, rounds []*plan.UserHalf) syntax.Expr {
	var out syntax.Expr
	for i := len(rounds) - 1; i >= 0; i-- {
		one := within(c, rounds[i], func() syntax.Expr { return c.cloner().one(e) })
		if out != nil {
			at := syntax.Start(e)
			one = &syntax.CondExpr{If: at, Cond: isRound(round(), i), True: one, ElsePos: at, False: out}
		}
		out = one
	}
	return out
}
