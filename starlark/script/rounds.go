package script

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// In the copy of a user half, loops over parts of the event that know their round.
//
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
	for _, to := range h.Bundles {
		for _, one := range to.Copies {
			if written(one.Half) {
				return true
			}
		}
	}
	for _, all := range h.Choices {
		for _, one := range all.Of {
			if written(one.Half) {
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
		if c.hasCopies(s) {
			return c.withCopies(s, s), true
		}
	case *syntax.AssignStmt:
		_, name := unparen(s.LHS).(*syntax.Ident)
		if l, ok := unparen(s.RHS).(*syntax.LambdaExpr); ok && name && s.Op == syntax.EQ && c.hasCopies(l) {
			return c.withCopies(s, l), true
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

// hasCopies reports whether a function inside has some.
func (c *copying) hasCopies(n syntax.Node) bool {
	return len(c.half.Copies[n]) > 0 || c.half.Bundles[n] != nil
}

// withCopies is the definition of a function inside, and its copies. What their defaults are is computed once.
func (c *copying) withCopies(s syntax.Stmt, n syntax.Node) []syntax.Stmt {
	var out []syntax.Stmt
	params := c.sharedDefaults(n, &out)
	def := func(name string, half *plan.UserHalf) syntax.Stmt {
		return within(c, half, func() syntax.Stmt { return c.innerCopy(n, name, params()) })
	}
	name := ""
	switch s := s.(type) {
	case *syntax.DefStmt:
		name = s.Name.Name
	case *syntax.AssignStmt:
		name = unparen(s.LHS).(*syntax.Ident).Name
	}
	out = append(out, def(name, c.half))
	for _, to := range c.half.Copies[n] {
		out = append(out, def(to.Name, to.Half))
	}
	if of := c.half.Bundles[n]; of != nil {
		for _, to := range of.Copies {
			out = append(out, def(to.Name, to.Half))
		}
		out = append(out, c.bundleStmt(name, syntax.Start(s), of))
	}
	return out
}

// sharedDefaults gives what makes the parameters of a function inside, each time new. Defaults are
// variables: the statements that set them are added to out.
func (c *copying) sharedDefaults(n syntax.Node, out *[]syntax.Stmt) func() []syntax.Expr {
	list := paramsOf(n)
	names := map[syntax.Expr]string{}
	for _, p := range list {
		bin, ok := p.(*syntax.BinaryExpr)
		if !ok {
			continue
		}
		c.defaults++
		names[bin.Y] = fmt.Sprintf("$shared%d", c.defaults)
		at := syntax.Start(bin.Y)
		*out = append(*out, &syntax.AssignStmt{OpPos: at, Op: syntax.EQ,
			LHS: &syntax.Ident{NamePos: at, Name: names[bin.Y]}, RHS: c.cloner().one(bin.Y)})
	}
	return func() []syntax.Expr {
		cl := &cloner{expr: func(x syntax.Expr) (syntax.Expr, bool) {
			return &syntax.Ident{NamePos: syntax.Start(x), Name: names[x]}, true
		}}
		return cl.params(list)
	}
}

func paramsOf(n syntax.Node) []syntax.Expr {
	switch n := n.(type) {
	case *syntax.DefStmt:
		return n.Params
	case *syntax.LambdaExpr:
		return n.Params
	}
	panic(fmt.Sprintf("parameters of %T", n))
}

// innerCopy is the statement that gives a name to a copy of a function inside.
func (c *copying) innerCopy(n syntax.Node, name string, params []syntax.Expr) syntax.Stmt {
	switch n := n.(type) {
	case *syntax.DefStmt:
		def := c.cloner().def(n)
		def.Name.Name, def.Params = name, params
		return def
	case *syntax.LambdaExpr:
		l := c.cloner().lambda(n)
		l.Params = params
		return &syntax.AssignStmt{OpPos: n.Lambda, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: n.Lambda, Name: name},
			RHS: l}
	}
	panic(fmt.Sprintf("copies of %T", n))
}

// round is a new variable that has the number of the round.
func (c *copying) round(pos syntax.Position) func() *syntax.Ident {
	c.loops++
	name := fmt.Sprintf("$round%d", c.loops)
	return func() *syntax.Ident { return &syntax.Ident{NamePos: pos, Name: name} }
}

// numbered is the head of a loop that knows its round: `$round, vars` and `$enumerate(x)`.
func numbered(round *syntax.Ident, vars, x syntax.Expr) (syntax.Expr, syntax.Expr) {
	pos := syntax.Start(x)
	return &syntax.TupleExpr{List: []syntax.Expr{round, vars}},
		&syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: enumerateName}, Lparen: pos,
			Args: []syntax.Expr{x}, Rparen: pos}
}

// list is what a loop goes over: of an array whose value is not needed as many values as it has elements.
func (c *copying) list(x syntax.Expr, rounds []*plan.UserHalf) syntax.Expr {
	if !c.half.Drop[unparen(x)] {
		return c.cloner().one(x)
	}
	at := syntax.Start(x)
	out := &syntax.TupleExpr{Lparen: at, Rparen: at}
	for range rounds {
		out.List = append(out.List, &syntax.Ident{NamePos: at, Name: "None"})
	}
	return &syntax.ParenExpr{Lparen: at, X: out, Rparen: at}
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
	out.Vars, out.X = numbered(round(), c.cloner().one(unparen(s.Vars)), c.list(s.X, rounds))
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

// comprehension copies one of whose loops some are written out: all that stands behind such a loop is chosen by its
// round.
func (c *copying) comprehension(x *syntax.Comprehension) (syntax.Expr, bool) {
	var loops []*chosenLoop
	out := &syntax.Comprehension{Curly: x.Curly, Lbrack: x.Lbrack, Rbrack: x.Rbrack}
	for _, n := range x.Clauses {
		switch n := n.(type) {
		case *syntax.IfClause:
			out.Clauses = append(out.Clauses, &syntax.IfClause{If: n.If, Cond: c.chosen(n.Cond, loops)})
		case *syntax.ForClause:
			loop := &syntax.ForClause{For: n.For, Vars: c.cloner().one(unparen(n.Vars)), In: n.In,
				X: c.chosen(n.X, loops)}
			if c.isWritten(n, loops) {
				round := c.round(n.For)
				loop.Vars, loop.X = numbered(round(), loop.Vars, c.loopedOver(n, loops))
				loops = append(loops, &chosenLoop{n, round})
			}
			out.Clauses = append(out.Clauses, loop)
		}
	}
	if len(loops) == 0 {
		return nil, false
	}
	if d, ok := x.Body.(*syntax.DictEntry); ok {
		out.Body = &syntax.DictEntry{Key: c.chosen(d.Key, loops), Colon: d.Colon, Value: c.chosen(d.Value, loops)}
	} else {
		out.Body = c.chosen(x.Body, loops)
	}
	return out, true
}

// A chosenLoop is a loop of a comprehension that knows its round.
type chosenLoop struct {
	at    *syntax.ForClause
	round func() *syntax.Ident
}

// isWritten reports whether a loop is written out, in a round of those around it.
func (c *copying) isWritten(at *syntax.ForClause, around []*chosenLoop) bool {
	if len(around) == 0 {
		return len(c.half.Rounds[at]) > 0
	}
	rounds := c.half.Rounds[around[0].at]
	if len(rounds) == 0 {
		return c.isWritten(at, around[1:])
	}
	return slices.ContainsFunc(rounds, func(h *plan.UserHalf) bool {
		return within(c, h, func() bool { return c.isWritten(at, around[1:]) })
	})
}

// loopedOver is what a loop goes over.
func (c *copying) loopedOver(at *syntax.ForClause, around []*chosenLoop) syntax.Expr {
	return c.eachRound(at.X, around, func() syntax.Expr { return c.list(at.X, c.half.Rounds[at]) })
}

// chosen is an expression as it is in each round: `a if $round == 0 else b`.
func (c *copying) chosen(e syntax.Expr, loops []*chosenLoop) syntax.Expr {
	return c.eachRound(e, loops, func() syntax.Expr { return c.cloner().one(e) })
}

func (c *copying) eachRound(e syntax.Expr, loops []*chosenLoop, one func() syntax.Expr) syntax.Expr {
	if len(loops) == 0 {
		return one()
	}
	rounds := c.half.Rounds[loops[0].at]
	if len(rounds) == 0 {
		return c.eachRound(e, loops[1:], one)
	}
	var out syntax.Expr
	for i := len(rounds) - 1; i >= 0; i-- {
		x := within(c, rounds[i], func() syntax.Expr { return c.eachRound(e, loops[1:], one) })
		if out != nil {
			at := syntax.Start(e)
			x = &syntax.CondExpr{If: at, Cond: isRound(loops[0].round(), i), True: x, ElsePos: at, False: out}
		}
		out = x
	}
	return out
}
