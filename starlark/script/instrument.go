package script

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/starlark/value"
)

// Operators, methods and builtins of the interpreter that are replaced by checked ones: strings and lists that were
// cut, growth, bytes, len, sorted, sum (`takeAll`).

// The interpreter's strings cannot say that they were cut, and its bytes are
// not quite those of the specification: an element of them is bytes again; and it
// makes whatever is asked for, however large. So while a tree is compiled for the interpreter, some expressions are
// others:
//
//	x + y           $plus(x, y)
//	x % y           $percent(x, y)
//	x += y          x = $plus_to(x, y)        x a variable
//	x * y           $times(x, y)              also x *= y, x %= y
//	for v in x      for v in $bounded(x)      in a comprehension; also f(*x)
//	l.extend(m)     $called(l.extend, m)      also union, update, items, popitem
//	f = l.extend    f = $method(l.extend)     where it is not called at once; getattr gives the same
//	s.upper         $text(s).upper            and the other methods of strings that the interpreter does otherwise
//	s[i:j:k]        $stepped(s)[i:j:k]
//	s[i:j]          $sliced(s)[i:j]
//	b"\x01"         $bytes("\x01")
//	(x, y)          $tuple((x, y))            and other ways to nest tuples (nested.go)
//	x in y          $in(x, y)                 also not in, == and !=, of what could be a list that was cut; of names
//	                                          $in(x, y) if $any_cut else x in y
//	e.args.dfd      $bits($ev[0], $ev[-1])    in a copy, where printf shows it without its sign, or as a text
//	                                          (specialise.go)
//
// The compiler of kernel halves reads the tree as it was written: all is undone
// when the interpreter's code is made.
const (
	plusName     = "$plus"
	percentName  = "$percent"
	plusToName   = "$plus_to"
	calledName   = "$called"
	methodName   = "$method"
	bytesName    = "$bytes"
	timesName    = "$times"
	boundedName  = "$bounded"
	textName     = "$text"
	steppedName  = "$stepped"
	slicedName   = "$sliced"
	bitsName     = "$bits"
	eachBitsName = "$each bits"
	inName       = "$in"
	notInName    = "$not_in"
	equalName    = "$equal"
	unequalName  = "$unequal"
	anyCutName   = "$any_cut"
)

// instruments are what has these names: functions, and whether a list was cut.
var instruments = starlark.StringDict{
	plusName:     operator(plusName, syntax.PLUS, value.Operate),
	percentName:  operator(percentName, syntax.PERCENT, value.Operate),
	plusToName:   operator(plusToName, syntax.PLUS, value.OperateInPlace),
	calledName:   starlark.NewBuiltin(calledName, called),
	methodName:   onOperand(methodName, checkedMethod),
	bytesName:    starlark.NewBuiltin(bytesName, bytesLiteral),
	timesName:    operator(timesName, syntax.STAR, value.Operate),
	tupleName:    starlark.NewBuiltin(tupleName, checkedTuple),
	boundedName:  starlark.NewBuiltin(boundedName, bounded),
	textName:     onOperand(textName, value.WithMethods),
	steppedName:  onOperand(steppedName, value.Stepped),
	slicedName:   onOperand(slicedName, value.Sliced),
	bitsName:     starlark.NewBuiltin(bitsName, bits),
	eachBitsName: starlark.NewBuiltin(eachBitsName, eachBits),
	inName:       comparison(inName, syntax.IN),
	notInName:    comparison(notInName, syntax.NOT_IN),
	equalName:    comparison(equalName, syntax.EQL),
	unequalName:  comparison(unequalName, syntax.NEQ),
	anyCutName:   anyCut{},
}

// onBytes are the interpreter's builtins that take or give bytes, for ours.
var onBytes = []string{"bytes", "str", "repr", "ord", "hash"}

type operation func(op syntax.Token, x, y starlark.Value) (starlark.Value, error)

func operator(name string, op syntax.Token, f operation) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		if err := value.CheckRoom(th, value.Takes(op, args[0], args[1])); err != nil {
			return nil, err
		}
		if by, isText := args[0].(starlark.String); isText && op == syntax.PERCENT {
			if err := value.CheckPercent(th, string(by), args[1]); err != nil {
				return nil, err
			}
		}
		return f(op, args[0], args[1])
	})
}

// onOperand is what a value is before a method of it is asked for, or it is sliced.
func onOperand(name string, f func(starlark.Value) starlark.Value) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		return f(args[0]), nil
	})
}

// getattr is the interpreter's, of a string with the methods that it has in a script, and with methods that are checked
// when they are called.
var getattr = starlark.NewBuiltin("getattr", func(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		args = append(starlark.Tuple{value.WithMethods(args[0])}, args[1:]...)
	}
	got, err := starlark.Universe["getattr"].(*starlark.Builtin).CallInternal(th, args, kwargs)
	if err != nil {
		return nil, err
	}
	return checkedMethod(got), nil
})

// called calls a method that adds many elements to a list, set or dict, or makes tuples.
func called(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	if err := checkGrowth(th, args); err != nil {
		return nil, err
	}
	made, err := starlark.Call(th, args[0], args[1:], kwargs)
	if err != nil {
		return nil, err
	}
	return made, checkMade(made)
}

// calledMethods are the methods for which called stands.
var calledMethods = map[string]bool{"extend": true, "union": true, "update": true, "items": true, "popitem": true}

// checkedMethod is a method for which called stands, as a value that is called later; any other value as it is.
func checkedMethod(v starlark.Value) starlark.Value {
	method, ok := v.(*starlark.Builtin)
	if !ok || !calledMethods[method.Name()] || method.Receiver() == nil {
		return v
	}
	checked := starlark.NewBuiltin(method.Name(), func(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		return called(th, b, append(starlark.Tuple{method}, args...), kwargs)
	})
	return checked.BindReceiver(method.Receiver())
}

// checkGrowth refuses a method that would add too many elements to its receiver, or more than there is room for.
func checkGrowth(th *starlark.Thread, args starlark.Tuple) error {
	method, ok := args[0].(*starlark.Builtin)
	if !ok {
		return nil
	}
	switch method.Receiver().(type) {
	case *starlark.List, *starlark.Set, *starlark.Dict:
		if err := checkAll(args[1:]); err != nil {
			return err
		}
		return value.CheckGrowth(th, method.Receiver(), args[1:])
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
func bounded(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	if err := value.CheckElements(args[0]); err != nil {
		return nil, err
	}
	return args[0], value.CheckEach(th, args[0])
}

// takeAll are the builtins that go over all elements of their arguments before they
// give a result.
var takeAll = []string{"list", "tuple", "set", "dict", "sorted", "reversed", "enumerate", "zip", "min", "max", "all",
	"any", "sum"}

// boundedBuiltin is a builtin that takes no more elements than there may be, and for which there is room.
func boundedBuiltin(f *starlark.Builtin) *starlark.Builtin {
	return starlark.NewBuiltin(f.Name(), func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		check := checkAll
		if f.Name() == "zip" {
			check = checkZip
		}
		all := args
		if f.Name() != "dict" { // of which a named argument is an entry
			all = withNamed(args, kwargs)
		}
		if err := check(all); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if err := value.CheckNeeds(th, f.Name(), all); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		made, err := value.Stoppable(th, f, args, kwargs)
		if err == nil {
			tellAbout(th, f.Name(), args, made)
		}
		return made, err
	})
}

// withNamed are the arguments of a call with those that are named, as the values of sum(values = …).
func withNamed(args starlark.Tuple, kwargs []starlark.Tuple) starlark.Tuple {
	all := slices.Clip(args)
	for _, named := range kwargs {
		all = append(all, named[1])
	}
	return all
}

func bytesLiteral(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	return value.Bytes(args[0].(starlark.String)), nil
}

// An instrumenter changes a tree, and back.
type instrumenter struct {
	undo []func()
	rest rest
}

// instrument changes the tree of a file and gives the way back.
func instrument(f *syntax.File) (restore func()) {
	in := &instrumenter{rest: rest{}}
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
		in.target(s.LHS)
		if isPattern(s.LHS) {
			in.expand(&s.RHS)
		} else {
			in.expr(&s.RHS)
		}
		in.assign(s)
	case *syntax.DefStmt:
		in.params(s.Params)
		in.rest.within(s.Params, func() { in.stmts(s.Body) })
	case *syntax.ExprStmt:
		in.expr(&s.X)
	case *syntax.ForStmt:
		in.expand(&s.X)
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

// assign makes `x = $plus_to(x, y)` of `x += y`, `x = $times(x, y)` of `x *= y`, and so of
// `x %= y`.
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
	case op == syntax.STAR_EQ && !isFloat(rhs):
		with = callOf(timesName, s.OpPos, plainIdent(id), rhs)
	case op == syntax.PERCENT_EQ:
		with = callOf(percentName, s.OpPos, plainIdent(id), rhs)
	default:
		return
	}
	in.undo = append(in.undo, func() { s.Op, s.RHS = op, rhs })
	s.Op, s.RHS = syntax.EQ, with
}

// target is what something is assigned to: itself it stays as it is.
func (in *instrumenter) target(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		in.target(x.X)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			in.target(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			in.target(e)
		}
	default:
		in.inside(x)
	}
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
	in.tuple(p)
}

// tuple makes `$tuple(x)` of what could be a tuple in which another one stands twice.
func (in *instrumenter) tuple(p *syntax.Expr) {
	switch x := (*p).(type) {
	case *syntax.TupleExpr:
		if !couldNest(x.List) {
			return
		}
	case *syntax.Ident:
		if in.rest[x.Name] == 0 {
			return
		}
	default:
		return
	}
	old := *p
	pos, _ := old.Span()
	in.undo = append(in.undo, func() { *p = old })
	*p = callOf(tupleName, pos, old)
}

func (in *instrumenter) inside(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		in.expr(&x.X)
		if x.Op == syntax.IN || x.Op == syntax.NOT_IN || x.Op == syntax.PERCENT {
			in.expand(&x.Y)
		} else {
			in.expr(&x.Y)
		}
	case *syntax.CallExpr:
		if isCalledMethod(x.Fn) {
			in.inside(x.Fn) // the call is changed, not the method
		} else {
			in.expr(&x.Fn)
		}
		for i, a := range x.Args {
			switch a := a.(type) {
			case *syntax.BinaryExpr:
				if a.Op == syntax.EQ {
					in.expr(&a.Y)
					continue
				}
			case *syntax.UnaryExpr:
				if a.Op == syntax.STAR {
					in.expand(&a.X)
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
		in.rest.within(x.Params, func() { in.expr(&x.Body) })
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
			in.expand(&c.X)
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
		case x.Op == syntax.STAR && !isSmallOf(x.X, x.Y) && !isSmallOf(x.Y, x.X):
			return callOf(timesName, x.OpPos, x.X, x.Y)
		}
		return compared(x)
	case *syntax.CallExpr:
		if isCalledMethod(x.Fn) {
			call := callOf(calledName, x.Lparen, append([]syntax.Expr{x.Fn}, x.Args...)...)
			call.Rparen = x.Rparen
			return call
		}
	case *syntax.DotExpr:
		if value.HasTextMethod(x.Name.Name) {
			pos, _ := x.X.Span()
			return &syntax.DotExpr{X: callOf(textName, pos, x.X), Dot: x.Dot, NamePos: x.NamePos, Name: x.Name}
		}
		if calledMethods[x.Name.Name] {
			return callOf(methodName, x.NamePos, x)
		}
	case *syntax.SliceExpr:
		name := slicedName
		if x.Step != nil {
			name = steppedName
		}
		pos, _ := x.X.Span()
		return &syntax.SliceExpr{X: callOf(name, pos, x.X), Lbrack: x.Lbrack, Lo: x.Lo, Hi: x.Hi,
			Step: x.Step, Rbrack: x.Rbrack}
	case *syntax.Literal:
		if x.Token == syntax.BYTES {
			text := *x
			text.Token = syntax.STRING
			return callOf(bytesName, x.TokenPos, &text)
		}
	}
	return nil
}

// isCalledMethod reports whether x is written as a method for which called stands.
func isCalledMethod(x syntax.Expr) bool {
	dot, ok := x.(*syntax.DotExpr)
	return ok && calledMethods[dot.Name.Name]
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

// isSmallOf reports whether x * y is a number, or no more than usual of what is
// written there, for x is a number as no repetition of more than a list's usual size
// has it.
func isSmallOf(x, y syntax.Expr) bool {
	lit, ok := x.(*syntax.Literal)
	if !ok || isFloat(x) {
		return ok
	}
	if n, isInt := lit.Value.(int64); !isInt || n > 1<<16 {
		return false
	}
	switch y := y.(type) {
	case *syntax.Literal:
		text, isText := y.Value.(string)
		return !isText || !escape.Any(text)
	case *syntax.ListExpr:
		return true
	case *syntax.TupleExpr:
		return !slices.ContainsFunc(y.List, func(x syntax.Expr) bool { return !isFlat(x) })
	}
	return isNumber(y)
}

func isFloat(x syntax.Expr) bool {
	lit, ok := x.(*syntax.Literal)
	return ok && lit.Token == syntax.FLOAT
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
