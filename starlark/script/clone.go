package script

import (
	"fmt"

	"go.starlark.net/syntax"
)

// Syntax trees copied so that they can be resolved again.

// A cloner copies syntax trees without what the resolver wrote into them, so
// that the copy can be resolved again. expr and stmt see each node of the
// original first and may give something else for it.
type cloner struct {
	expr func(e syntax.Expr) (syntax.Expr, bool)
	stmt func(s syntax.Stmt) ([]syntax.Stmt, bool)
	// enter and leave see the functions inside.
	enter, leave func(n syntax.Node)
}

func (c *cloner) stmts(list []syntax.Stmt) []syntax.Stmt {
	if list == nil {
		return nil
	}
	out := make([]syntax.Stmt, 0, len(list))
	for _, s := range list {
		if instead, ok := c.stmt(s); ok {
			out = append(out, instead...)
			continue
		}
		out = append(out, c.copied(s))
	}
	return out
}

func (c *cloner) copied(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		return &syntax.AssignStmt{OpPos: s.OpPos, Op: s.Op, LHS: c.one(s.LHS), RHS: c.one(s.RHS)}
	case *syntax.BranchStmt:
		return &syntax.BranchStmt{Token: s.Token, TokenPos: s.TokenPos}
	case *syntax.DefStmt:
		return c.def(s)
	case *syntax.ExprStmt:
		return &syntax.ExprStmt{X: c.one(s.X)}
	case *syntax.ForStmt:
		return &syntax.ForStmt{For: s.For, Vars: c.one(s.Vars), X: c.one(s.X), Body: c.stmts(s.Body)}
	case *syntax.WhileStmt:
		return &syntax.WhileStmt{While: s.While, Cond: c.one(s.Cond), Body: c.stmts(s.Body)}
	case *syntax.IfStmt:
		return &syntax.IfStmt{If: s.If, Cond: c.one(s.Cond), True: c.stmts(s.True), ElsePos: s.ElsePos,
			False: c.stmts(s.False)}
	case *syntax.ReturnStmt:
		return &syntax.ReturnStmt{Return: s.Return, Result: c.opt(s.Result)}
	}
	panic(fmt.Sprintf("statement %T inside a function", s))
}

// def copies a function. Its defaults belong to the function around it.
func (c *cloner) def(s *syntax.DefStmt) *syntax.DefStmt {
	name := &syntax.Ident{NamePos: s.Name.NamePos, Name: s.Name.Name}
	params := c.params(s.Params)
	c.enter(s)
	body := c.stmts(s.Body)
	c.leave(s)
	return &syntax.DefStmt{Def: s.Def, Name: name, Lparen: s.Lparen, Params: params, Rparen: s.Rparen, Body: body}
}

func (c *cloner) lambda(e *syntax.LambdaExpr) *syntax.LambdaExpr {
	params := c.params(e.Params)
	c.enter(e)
	body := c.one(e.Body)
	c.leave(e)
	return &syntax.LambdaExpr{Lambda: e.Lambda, Params: params, Body: body}
}

// params copies parameters. Their names are never replaced.
func (c *cloner) params(list []syntax.Expr) []syntax.Expr {
	out := make([]syntax.Expr, len(list))
	for i, p := range list {
		switch p := p.(type) {
		case *syntax.Ident:
			out[i] = plainIdent(p)
		case *syntax.BinaryExpr:
			out[i] = &syntax.BinaryExpr{X: plainIdent(p.X.(*syntax.Ident)), OpPos: p.OpPos, Op: p.Op, Y: c.one(p.Y)}
		case *syntax.UnaryExpr:
			u := &syntax.UnaryExpr{OpPos: p.OpPos, Op: p.Op}
			if p.X != nil {
				u.X = plainIdent(p.X.(*syntax.Ident))
			}
			out[i] = u
		}
	}
	return out
}

func plainIdent(id *syntax.Ident) *syntax.Ident {
	return &syntax.Ident{NamePos: id.NamePos, Name: id.Name}
}

func (c *cloner) list(list []syntax.Expr) []syntax.Expr {
	out := make([]syntax.Expr, len(list))
	for i, e := range list {
		out[i] = c.one(e)
	}
	return out
}

// opt copies an expression that may be absent.
func (c *cloner) opt(e syntax.Expr) syntax.Expr {
	if e == nil {
		return nil
	}
	return c.one(e)
}

func (c *cloner) one(e syntax.Expr) syntax.Expr {
	if out, ok := c.expr(e); ok {
		return out
	}
	switch e := e.(type) {
	case *syntax.Ident:
		return plainIdent(e)
	case *syntax.Literal:
		l := *e
		return &l
	case *syntax.BinaryExpr:
		return c.binary(e)
	case *syntax.UnaryExpr:
		return &syntax.UnaryExpr{OpPos: e.OpPos, Op: e.Op, X: c.opt(e.X)}
	case *syntax.CallExpr:
		return &syntax.CallExpr{Fn: c.one(e.Fn), Lparen: e.Lparen, Args: c.list(e.Args), Rparen: e.Rparen}
	case *syntax.DotExpr:
		return &syntax.DotExpr{X: c.one(e.X), Dot: e.Dot, NamePos: e.NamePos, Name: plainIdent(e.Name)}
	case *syntax.IndexExpr:
		return &syntax.IndexExpr{X: c.one(e.X), Lbrack: e.Lbrack, Y: c.one(e.Y), Rbrack: e.Rbrack}
	case *syntax.SliceExpr:
		return &syntax.SliceExpr{X: c.one(e.X), Lbrack: e.Lbrack, Lo: c.opt(e.Lo), Hi: c.opt(e.Hi), Step: c.opt(e.Step),
			Rbrack: e.Rbrack}
	case *syntax.ParenExpr:
		return &syntax.ParenExpr{Lparen: e.Lparen, X: c.one(e.X), Rparen: e.Rparen}
	case *syntax.CondExpr:
		return &syntax.CondExpr{If: e.If, Cond: c.one(e.Cond), True: c.one(e.True), ElsePos: e.ElsePos,
			False: c.one(e.False)}
	case *syntax.LambdaExpr:
		return c.lambda(e)
	}
	return c.collection(e)
}

// binary leaves the name of a keyword argument alone.
func (c *cloner) binary(e *syntax.BinaryExpr) syntax.Expr {
	out := &syntax.BinaryExpr{OpPos: e.OpPos, Op: e.Op}
	if id, ok := e.X.(*syntax.Ident); ok && e.Op == syntax.EQ {
		out.X = plainIdent(id)
	} else {
		out.X = c.one(e.X)
	}
	out.Y = c.one(e.Y)
	return out
}

func (c *cloner) collection(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.ListExpr:
		return &syntax.ListExpr{Lbrack: e.Lbrack, List: c.list(e.List), Rbrack: e.Rbrack}
	case *syntax.TupleExpr:
		return &syntax.TupleExpr{Lparen: e.Lparen, List: c.list(e.List), Rparen: e.Rparen}
	case *syntax.DictExpr:
		return &syntax.DictExpr{Lbrace: e.Lbrace, List: c.list(e.List), Rbrace: e.Rbrace}
	case *syntax.DictEntry:
		return &syntax.DictEntry{Key: c.one(e.Key), Colon: e.Colon, Value: c.one(e.Value)}
	case *syntax.Comprehension:
		out := &syntax.Comprehension{Curly: e.Curly, Lbrack: e.Lbrack, Rbrack: e.Rbrack}
		for _, cl := range e.Clauses {
			out.Clauses = append(out.Clauses, c.clause(cl))
		}
		out.Body = c.one(e.Body)
		return out
	}
	panic(fmt.Sprintf("expression %T", e))
}

func (c *cloner) clause(n syntax.Node) syntax.Node {
	switch n := n.(type) {
	case *syntax.ForClause:
		return &syntax.ForClause{For: n.For, Vars: c.one(n.Vars), In: n.In, X: c.one(n.X)}
	case *syntax.IfClause:
		return &syntax.IfClause{If: n.If, Cond: c.one(n.Cond)}
	}
	panic(fmt.Sprintf("clause %T", n))
}
