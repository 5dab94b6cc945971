package script

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/starlark/value"
)

// The interpreter's strings cannot say that they were cut, and its bytes are
// not quite those of the specification: an element of them is bytes again; and it
// makes whatever is asked for, however large. So while a tree is compiled for the interpreter, some expressions are
// others:
//
//	x + y           $plus(x, y)
//	x % y           $percent(x, y)
//	x += y          x = $plus_to(x, y)        x a variable
//	x * y           $times(x, y)              also x *= y
//	for v in x      for v in $bounded(x)      in a comprehension; also f(*x)
//	s.join(l)       $called(s.join, l)        also format, extend, union, update
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
	timesName   = "$times"
	boundedName = "$bounded"
)

// instruments are the functions by these names.
var instruments = starlark.StringDict{
	plusName:    operator(plusName, syntax.PLUS, value.Operate),
	percentName: operator(percentName, syntax.PERCENT, value.Operate),
	plusToName:  operator(plusToName, syntax.PLUS, value.OperateInPlace),
	calledName:  starlark.NewBuiltin(calledName, called),
	bytesName:   starlark.NewBuiltin(bytesName, bytesLiteral),
	timesName:   operator(timesName, syntax.STAR, value.Operate),
	boundedName: starlark.NewBuiltin(boundedName, bounded),
}

// onBytes are the interpreter's builtins that take or give bytes, for ours.
var onBytes = []string{"bytes", "str", "repr", "ord", "hash"}

type operation func(op syntax.Token, x, y starlark.Value) (starlark.Value, error)

func operator(name string, op syntax.Token, f operation) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		return f(op, args[0], args[1])
	})
}

// called calls a method of a string that makes a text of others, or one that adds
// many elements to a list or set.
func called(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	if err := checkGrowth(args); err != nil {
		return nil, err
	}
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

// calledMethods are the methods for which called stands.
var calledMethods = map[string]bool{"join": true, "format": true, "extend": true, "union": true, "update": true}

// checkGrowth refuses a method that would add too many elements to its receiver.
func checkGrowth(args starlark.Tuple) error {
	method, ok := args[0].(*starlark.Builtin)
	if !ok {
		return nil
	}
	switch method.Receiver().(type) {
	case *starlark.List, *starlark.Set, *starlark.Dict:
		return checkAll(args[1:])
	}
	return nil
}

// checkZip refuses lists of which the shortest is too long.
func checkZip(list starlark.Tuple) error {
	var err error
	for _, v := range list {
		if err = value.CheckElements(v); err == nil {
			return nil
		}
	}
	return err
}

func checkAll(list starlark.Tuple) error {
	for _, v := range list {
		if err := value.CheckElements(v); err != nil {
			return err
		}
	}
	return nil
}

// bounded gives a value all of whose elements are taken at once.
func bounded(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return args[0], value.CheckElements(args[0])
}

// takeAll are the builtins that go over all elements of their arguments before they
// give a result.
var takeAll = []string{"list", "tuple", "set", "dict", "sorted", "reversed", "enumerate", "zip", "min", "max", "all",
	"any", "sum"}

// boundedBuiltin is a builtin that takes no more elements than there may be.
func boundedBuiltin(f *starlark.Builtin) *starlark.Builtin {
	return starlark.NewBuiltin(f.Name(), func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		check := checkAll
		if f.Name() == "zip" {
			check = checkZip
		}
		if err := check(args); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		return f.CallInternal(th, args, kwargs)
	})
}

func onlyIterable(args starlark.Tuple) (starlark.Iterable, bool) {
	if len(args) != 1 {
		return nil, false
	}
	it, ok := args[0].(starlark.Iterable)
	return it, ok
}

func bytesLiteral(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
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

// assign makes `x = $plus_to(x, y)` of `x += y`, `x = $times(x, y)` of `x *= y`.
func (in *instrumenter) assign(s *syntax.AssignStmt) {
	id, isName := s.LHS.(*syntax.Ident)
	if !isName {
		return
	}
	op, rhs := s.Op, s.RHS
	var with *syntax.CallExpr
	switch {
	case op == syntax.PLUS_EQ && !isNumber(rhs):
		with = callOf(plusToName, s.OpPos, plainIdent(id), rhs)
	case op == syntax.STAR_EQ && !isSmall(rhs):
		with = callOf(timesName, s.OpPos, plainIdent(id), rhs)
	default:
		return
	}
	in.undo = append(in.undo, func() { s.Op, s.RHS = op, rhs })
	s.Op, s.RHS = syntax.EQ, with
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
			switch a := a.(type) {
			case *syntax.BinaryExpr:
				if a.Op == syntax.EQ {
					in.expr(&a.Y)
					continue
				}
			case *syntax.UnaryExpr:
				if a.Op == syntax.STAR {
					in.expr(&a.X)
					in.bound(&a.X)
					continue
				}
			}
			in.expr(&x.Args[i])
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
	all := !slices.ContainsFunc(x.Clauses, func(c syntax.Node) bool {
		_, is := c.(*syntax.IfClause)
		return is
	})
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			in.expr(&c.X)
			if all { // else nobody knows how many elements there will be
				in.bound(&c.X)
			}
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
		case x.Op == syntax.STAR && !isSmall(x.X) && !isSmall(x.Y):
			return callOf(timesName, x.OpPos, x.X, x.Y)
		}
	case *syntax.CallExpr:
		dot, ok := x.Fn.(*syntax.DotExpr)
		if ok && calledMethods[dot.Name.Name] {
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

// bound makes `$bounded(x)` of x, all of whose elements are taken at once.
func (in *instrumenter) bound(p *syntax.Expr) {
	switch (*p).(type) {
	case *syntax.ListExpr, *syntax.TupleExpr, *syntax.DictExpr:
		return // they are there
	}
	pos, _ := (*p).Span()
	old := *p
	in.undo = append(in.undo, func() { *p = old })
	*p = callOf(boundedName, pos, old)
}

// callOf is a call whose errors are placed at pos.
func callOf(name string, pos syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: name}, Lparen: pos, Args: args, Rparen: pos}
}

// isSmall reports whether x is a number as no repetition of more than a list's usual
// size has it.
func isSmall(x syntax.Expr) bool {
	if lit, ok := x.(*syntax.Literal); ok {
		n, isInt := lit.Value.(int64)
		return lit.Token == syntax.FLOAT || isInt && n <= 1<<16
	}
	return false
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
