package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// How changes, with the conditions, loops and returns around them, are cut out of the text of a user half, each form of
// a statement.

// A cutter cuts a part out of the statements of a handler.
type cutter struct {
	// isSite is asked of each call whose value nobody takes, and of each assignment.
	isSite func(syntax.Node) bool
	// used are the names of the variables that the part needs.
	used map[string]bool
	// gone is what user space has no part in any more.
	gone map[syntax.Node]bool
	// body are the statements of the handler.
	body []syntax.Stmt
}

// sitesIn are the nodes in statements that something holds for.
func sitesIn(body []syntax.Stmt, is func(syntax.Node) bool) (out []syntax.Node) {
	c := &cutter{used: map[string]bool{}, gone: map[syntax.Node]bool{}, body: body}
	c.isSite = func(n syntax.Node) bool {
		if !is(n) {
			return false
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
		return true
	}
	c.stmts(body, false, false)
	slices.SortFunc(out, func(x, y syntax.Node) int {
		a, b := start(x), start(y)
		return int(a.Line-b.Line)<<16 + int(a.Col-b.Col)
	})
	return out
}

// cut gives the part of statements that has some sites, and what is gone of the statements.
func cut(body []syntax.Stmt, sites []syntax.Node) ([]syntax.Stmt, map[syntax.Node]bool) {
	c := &cutter{used: map[string]bool{}, body: body}
	c.isSite = func(n syntax.Node) bool { return slices.Contains(sites, n) }
	for {
		n := len(c.used)
		c.gone = map[syntax.Node]bool{}
		part, _ := c.stmts(body, false, false)
		for _, s := range part {
			c.uses(s)
		}
		if n == len(c.used) { // no more variables are needed
			return part, c.gone
		}
	}
}

// uses notes the variables in a statement of the part.
func (c *cutter) uses(s syntax.Stmt) {
	syntax.Walk(s, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			bind, ok := id.Binding.(*resolve.Binding)
			if ok && (bind.Scope == resolve.Local || bind.Scope == resolve.Cell || bind.Scope == resolve.Free) {
				c.used[id.Name] = true
			}
		}
		return true
	})
}

// stmts cuts the part out of statements. more: a change may follow behind them; loop: they are in a loop of the part.
// whole: user space has no part in them.
func (c *cutter) stmts(list []syntax.Stmt, more, loop bool) (out []syntax.Stmt, whole bool) {
	whole = true
	for _, s := range slices.Backward(list) {
		kept, all := c.stmt(s, more, loop)
		more = more || slices.ContainsFunc(kept, c.hasSite)
		out = append(kept, out...)
		whole = whole && all
		if all && len(kept) > 0 {
			c.gone[s] = true
		}
	}
	return out, whole
}

// hasSite reports whether a statement has a change of the part.
func (c *cutter) hasSite(s syntax.Stmt) (found bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		found = found || n != nil && c.gone[n] || n != nil && c.isSite(n)
		return !found
	})
	return found
}

func (c *cutter) stmt(s syntax.Stmt, more, loop bool) (out []syntax.Stmt, whole bool) {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		if more && fails(s) {
			return []syntax.Stmt{&syntax.ReturnStmt{Return: start(s)}}, false
		}
		return c.dropped(s.X)
	case *syntax.ReturnStmt: // what a handler returns is dropped
		if s.Result != nil {
			out, _ = c.dropped(s.Result)
		}
		if more {
			out = append(out, &syntax.ReturnStmt{Return: s.Return})
		}
	case *syntax.IfStmt:
		yes, all := c.stmts(s.True, more, loop)
		no, rest := c.stmts(s.False, more, loop)
		return ifStmtOf(s.If, s.Cond, yes, no), all && rest
	case *syntax.ForStmt:
		return c.forStmt(s, more)
	case *syntax.BranchStmt:
		if loop && s.Token != syntax.PASS {
			return []syntax.Stmt{s}, false
		}
		return nil, s.Token == syntax.PASS
	case *syntax.AssignStmt:
		if c.isSite(s) {
			return []syntax.Stmt{s}, true
		}
		if slices.ContainsFunc(bound(s.LHS, nil), func(b *resolve.Binding) bool { return c.used[b.First.Name] }) {
			return []syntax.Stmt{s}, false
		}
	case *syntax.DefStmt:
		if c.used[s.Name.Name] {
			return []syntax.Stmt{s}, false
		}
	}
	return out, false
}

// ifStmtOf is an if that has some statements on its ways, nothing where it has none.
func ifStmtOf(at syntax.Position, cond syntax.Expr, yes, no []syntax.Stmt) []syntax.Stmt {
	if len(yes)+len(no) == 0 {
		return nil
	}
	return []syntax.Stmt{&syntax.IfStmt{If: at, Cond: cond, True: yes, ElsePos: at, False: no}}
}

// forStmt cuts the part out of a loop. The part has the loop, with each break in it, where it has a change, where it
// gives a value to a variable of the part, and where it may return before a change.
func (c *cutter) forStmt(s *syntax.ForStmt, more bool) ([]syntax.Stmt, bool) {
	has := c.hasSite(s)
	if !has && !c.gives(s) && !(more && returns(s)) {
		return nil, false
	}
	body, whole := c.stmts(s.Body, more || has, true)
	if len(body) == 0 { // it is there for its variable
		body = []syntax.Stmt{&syntax.BranchStmt{Token: syntax.PASS, TokenPos: s.For}}
	}
	out := &syntax.ForStmt{For: s.For, Vars: s.Vars, X: s.X, Body: body}
	return []syntax.Stmt{out}, has && whole && c.onlyIn(s)
}

// gives reports whether a loop gives a value to a variable that the part needs.
func (c *cutter) gives(s *syntax.ForStmt) (found bool) {
	used := func(x syntax.Expr) bool {
		return slices.ContainsFunc(bound(x, nil), func(b *resolve.Binding) bool { return c.used[b.First.Name] })
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			found = found || used(n.LHS)
		case *syntax.ForStmt:
			found = found || used(n.Vars)
		case *syntax.DefStmt:
			found = found || c.used[n.Name.Name]
		}
		return !found
	})
	return found
}

// fails reports whether a statement is a call of fail() or exit(), which end the handler.
func fails(s *syntax.ExprStmt) bool {
	x, ok := unparen(s.X).(*syntax.CallExpr)
	if !ok {
		return false
	}
	return isEnd(nameIn(x.Fn))
}

// isEnd reports whether a name is that of fail or exit.
func isEnd(id *syntax.Ident) bool {
	bind, ok := id.Binding.(*resolve.Binding)
	ends := id.Name == "fail" || id.Name == "exit"
	return ok && ends && (bind.Scope == resolve.Predeclared || bind.Scope == resolve.Universal)
}

// returns reports whether a statement has a return, or what else ends the handler.
func returns(s syntax.Stmt) (found bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		_, is := n.(*syntax.ReturnStmt)
		x, called := n.(*syntax.ExprStmt)
		found = found || is || called && fails(x)
		return !found
	})
	return found
}

// onlyIn reports whether the variables of a loop are used in it alone.
func (c *cutter) onlyIn(s *syntax.ForStmt) bool {
	vars := bound(s.Vars, nil)
	count := func(list ...syntax.Stmt) (n int) {
		for _, s := range list {
			syntax.Walk(s, func(x syntax.Node) bool {
				if id, ok := x.(*syntax.Ident); ok && slices.ContainsFunc(vars, func(b *resolve.Binding) bool {
					return b.First.Name == id.Name
				}) {
					n++
				}
				return true
			})
		}
		return n
	}
	return count(s) == count(c.body...)
}

// dropped cuts the part out of an expression whose value nobody takes.
func (c *cutter) dropped(x syntax.Expr) (out []syntax.Stmt, whole bool) {
	x = unparen(x)
	switch x := x.(type) {
	case *syntax.CallExpr:
		if c.isSite(x) {
			out, whole = []syntax.Stmt{&syntax.ExprStmt{X: x}}, true
		}
	case *syntax.Literal, *syntax.Ident:
		return nil, true
	case *syntax.ListExpr, *syntax.TupleExpr:
		whole = true
		for _, e := range elementsOf(x) {
			kept, all := c.dropped(e)
			out, whole = append(out, kept...), whole && all
		}
	case *syntax.CondExpr:
		yes, all := c.dropped(x.True)
		no, rest := c.dropped(x.False)
		out, whole = ifStmtOf(x.If, x.Cond, yes, no), all && rest
	case *syntax.BinaryExpr:
		var then []syntax.Stmt
		switch x.Op {
		case syntax.AND:
			then, whole = c.dropped(x.Y)
			out = ifStmtOf(x.OpPos, x.X, then, nil)
		case syntax.OR:
			then, whole = c.dropped(x.Y)
			out = ifStmtOf(x.OpPos, x.X, nil, then)
		}
	case *syntax.Comprehension:
		if !x.Curly {
			out, whole = c.clauses(x.Clauses, x.Body)
		}
	}
	if whole = whole && len(out) > 0; whole {
		c.gone[x] = true
	}
	return out, whole
}

// clauses cuts the part out of the clauses of a comprehension: they are loops and ifs.
func (c *cutter) clauses(list []syntax.Node, body syntax.Expr) (out []syntax.Stmt, whole bool) {
	if len(list) == 0 {
		return c.dropped(body)
	}
	inner, whole := c.clauses(list[1:], body)
	if len(inner) == 0 {
		return nil, false
	}
	switch n := list[0].(type) {
	case *syntax.IfClause:
		return ifStmtOf(n.If, n.Cond, inner, nil), whole
	case *syntax.ForClause:
		return []syntax.Stmt{&syntax.ForStmt{For: n.For, Vars: n.Vars, X: n.X, Body: inner}}, whole
	}
	return nil, false
}
