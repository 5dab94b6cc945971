package script

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/starlark/value"
)

// The interpreter's strings cannot say that they were cut, and its bytes are
// not quite those of the specification: an element of them is bytes again. So
// while a tree is compiled for the interpreter, some expressions are others:
//
//	x + y           $plus(x, y)
//	x % y           $percent(x, y)
//	x += y          x = $plus_to(x, y)        x a variable
//	s.join(l)       $called(s.join, l)        also format
//	b"\x01"         $bytes("\x01")
//
// The compiler of kernel halves reads the tree as it was written: all is undone
// when the interpreter's code is made.
const (
	plusName    = "$plus"
	percentName = "$percent"
	plusToName  = "$plus_to"
	calledName  = "$called"
	bytesName   = "$bytes"
)

// instruments are the functions by these names.
var instruments = starlark.StringDict{
	plusName:    operator(plusName, syntax.PLUS, value.Operate),
	percentName: operator(percentName, syntax.PERCENT, value.Operate),
	plusToName:  operator(plusToName, syntax.PLUS, value.OperateInPlace),
	calledName:  starlark.NewBuiltin(calledName, called),
	bytesName:   starlark.NewBuiltin(bytesName, bytesLiteral),
}

// onBytes are the interpreter's builtins that take or give bytes, for ours.
var onBytes = []string{"bytes", "str", "ord", "hash"}

type operation func(op syntax.Token, x, y starlark.Value) (starlark.Value, error)

func operator(name string, op syntax.Token, f operation) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return f(op, args[0], args[1])
	})
}

// called calls a method of a string that makes a text of others.
func called(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	out, err := starlark.Call(th, args[0], args[1:], kwargs)
	text, isText := out.(starlark.String)
	method, isMethod := args[0].(*starlark.Builtin)
	if err != nil || !isText || !isMethod {
		return out, err
	}
	recv, ok := method.Receiver().(starlark.String)
	if !ok {
		return out, nil
	}
	if parts, ok := onlyIterable(args[1:]); ok && method.Name() == "join" {
		return value.Joined(string(text), string(recv), parts), nil
	}
	operands := append(starlark.Tuple{recv}, args[1:]...)
	for _, kv := range kwargs {
		operands = append(operands, kv[1])
	}
	return value.Assembled(string(text), operands...), nil
}

func onlyIterable(args starlark.Tuple) (starlark.Iterable, bool) {
	if len(args) != 1 {
		return nil, false
	}
	it, ok := args[0].(starlark.Iterable)
	return it, ok
}

func bytesLiteral(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return value.Bytes(args[0].(starlark.String)), nil
}

// An instrumenter changes a tree, and back.
type instrumenter struct{ undo []func() }

// instrument changes the tree of a file and gives the way back.
func instrument(f *syntax.File) (restore func()) {
	in := &instrumenter{}
	in.stmts(f.Stmts)
	return func() {
		for i := len(in.undo) - 1; i >= 0; i-- {
			in.undo[i]()
		}
	}
}

func (in *instrumenter) stmts(list []syntax.Stmt) {
	for _, s := range list {
		in.stmt(s)
	}
}

func (in *instrumenter) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		in.expr(&s.LHS)
		in.expr(&s.RHS)
		in.assign(s)
	case *syntax.DefStmt:
		in.params(s.Params)
		in.stmts(s.Body)
	case *syntax.ExprStmt:
		in.expr(&s.X)
	case *syntax.ForStmt:
		in.expr(&s.X)
		in.stmts(s.Body)
	case *syntax.WhileStmt:
		in.expr(&s.Cond)
		in.stmts(s.Body)
	case *syntax.IfStmt:
		in.expr(&s.Cond)
		in.stmts(s.True)
		in.stmts(s.False)
	case *syntax.ReturnStmt:
		in.expr(&s.Result)
	}
}

// assign makes `x = $plus_to(x, y)` of `x += y`.
func (in *instrumenter) assign(s *syntax.AssignStmt) {
	id, isName := s.LHS.(*syntax.Ident)
	if s.Op != syntax.PLUS_EQ || !isName || isNumber(s.RHS) {
		return
	}
	op, rhs := s.Op, s.RHS
	in.undo = append(in.undo, func() { s.Op, s.RHS = op, rhs })
	s.Op, s.RHS = syntax.EQ, callOf(plusToName, s.OpPos, plainIdent(id), rhs)
}

// params are parameters: only their defaults are expressions.
func (in *instrumenter) params(list []syntax.Expr) {
	for _, p := range list {
		if p, ok := p.(*syntax.BinaryExpr); ok {
			in.expr(&p.Y)
		}
	}
}

func (in *instrumenter) list(list []syntax.Expr) {
	for i := range list {
		in.expr(&list[i])
	}
}

// expr changes what is in *p, then *p itself.
func (in *instrumenter) expr(p *syntax.Expr) {
	in.inside(*p)
	if with := replacement(*p); with != nil {
		old := *p
		in.undo = append(in.undo, func() { *p = old })
		*p = with
	}
}

func (in *instrumenter) inside(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		in.expr(&x.X)
		in.expr(&x.Y)
	case *syntax.CallExpr:
		in.expr(&x.Fn)
		for i, a := range x.Args {
			if named, ok := a.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
				in.expr(&named.Y)
			} else {
				in.expr(&x.Args[i])
			}
		}
	case *syntax.Comprehension:
		in.comprehension(x)
	case *syntax.CondExpr:
		in.expr(&x.Cond)
		in.expr(&x.True)
		in.expr(&x.False)
	case *syntax.DictEntry:
		in.expr(&x.Key)
		in.expr(&x.Value)
	case *syntax.DictExpr:
		in.list(x.List)
	case *syntax.DotExpr:
		in.expr(&x.X)
	case *syntax.IndexExpr:
		in.expr(&x.X)
		in.expr(&x.Y)
	case *syntax.LambdaExpr:
		in.params(x.Params)
		in.undo = append(in.undo, func() { resolvedBody(x) })
		in.expr(&x.Body)
	case *syntax.ListExpr:
		in.list(x.List)
	case *syntax.ParenExpr:
		in.expr(&x.X)
	case *syntax.SliceExpr:
		in.expr(&x.X)
		in.expr(&x.Lo)
		in.expr(&x.Hi)
		in.expr(&x.Step)
	case *syntax.TupleExpr:
		in.list(x.List)
	case *syntax.UnaryExpr:
		in.expr(&x.X)
	}
}

// resolvedBody makes the statement that the resolver has made of a lambda's body
// that of the body as it is.
func resolvedBody(x *syntax.LambdaExpr) {
	if fn, ok := x.Function.(*resolve.Function); ok {
		fn.Body[0].(*syntax.ReturnStmt).Result = x.Body
	}
}

func (in *instrumenter) comprehension(x *syntax.Comprehension) {
	in.expr(&x.Body)
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			in.expr(&c.X)
		case *syntax.IfClause:
			in.expr(&c.Cond)
		}
	}
}

// replacement is what stands for x, nil for x itself.
func replacement(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		switch {
		case x.Op == syntax.PLUS && !isNumber(x.X) && !isNumber(x.Y):
			return callOf(plusName, x.OpPos, x.X, x.Y)
		case x.Op == syntax.PERCENT && !isNumber(x.X):
			return callOf(percentName, x.OpPos, x.X, x.Y)
		}
	case *syntax.CallExpr:
		dot, ok := x.Fn.(*syntax.DotExpr)
		if ok && (dot.Name.Name == "join" || dot.Name.Name == "format") {
			call := callOf(calledName, x.Lparen, append([]syntax.Expr{dot}, x.Args...)...)
			call.Rparen = x.Rparen
			return call
		}
	case *syntax.Literal:
		if x.Token == syntax.BYTES {
			text := *x
			text.Token = syntax.STRING
			return callOf(bytesName, x.TokenPos, &text)
		}
	}
	return nil
}

// callOf is a call whose errors are placed at pos.
func callOf(name string, pos syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: name}, Lparen: pos, Args: args, Rparen: pos}
}

// isNumber reports whether x is a number whatever the names in it are.
func isNumber(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Literal:
		return x.Token == syntax.INT || x.Token == syntax.FLOAT
	case *syntax.ParenExpr:
		return isNumber(x.X)
	case *syntax.UnaryExpr:
		return x.Op == syntax.MINUS || x.Op == syntax.TILDE
	case *syntax.BinaryExpr:
		return x.Op == syntax.SLASH || x.Op == syntax.SLASHSLASH || x.Op == syntax.LTLT || x.Op == syntax.GTGT
	}
	return false
}
