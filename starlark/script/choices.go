package script

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// In the copy of a user half, a call of which user space decides which function it runs.
//
// A call of which user space decides which function it runs asks which one it is, and calls the copy of that:
//
//	[$call0(None) if $which1 == 0 else $fn1(None) if $which1 == 1 else $fn1(e)     # was: table[k](e)
//	     for $which1, $fn1 in ($pick1(table[k]),)][0]
//
// A function inside the handler that such a call may run goes about with its copies (bundle), of which $pick gives the
// one for the call: `$bundle2(lambda p: p.pid, lambda p: $ev[3])`.

// A bundle is a function inside the handler with its copies. Whatever else is done with it is done with the function.
type bundle struct {
	*starlark.Function
	of     *plan.Bundle
	copies []starlark.Value
}

// CallInternal calls the function itself.
func (b *bundle) CallInternal(th *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	return starlark.Call(th, b.Function, args, kwargs)
}

// bundled gives the name of what makes bundles.
func (c *copying) bundled(of *plan.Bundle) string {
	name := fmt.Sprintf("$bundle%d", len(c.names))
	c.arg(name, starlark.NewBuiltin("$bundle", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		fn, ok := args[0].(*starlark.Function)
		if !ok {
			return args[0], nil
		}
		return &bundle{fn, of, args[1:]}, nil
	}))
	return name
}

// bundle is a lambda that goes about with its copies.
func (c *copying) bundle(l *syntax.LambdaExpr, of *plan.Bundle) syntax.Expr {
	at := l.Lambda
	var shared []syntax.Stmt
	params := c.sharedDefaults(l, &shared)
	var all []syntax.Expr
	add := func(half *plan.UserHalf) {
		one := within(c, half, func() *syntax.LambdaExpr { return c.cloner().lambda(l) })
		one.Params = params()
		all = append(all, one)
	}
	add(c.half)
	for _, to := range of.Copies {
		add(to.Half)
	}
	call := callOf(c.bundled(of), at, all...)
	if len(shared) == 0 {
		return call
	}
	var clauses []syntax.Node
	for _, s := range shared {
		s := s.(*syntax.AssignStmt)
		clauses = append(clauses, oneRound(at, s.LHS, s.RHS))
	}
	return firstOf(at, call, clauses...)
}

// bundleStmt is `f = $bundle(f, …)` behind the function and its copies.
func (c *copying) bundleStmt(name string, at syntax.Position, of *plan.Bundle) syntax.Stmt {
	all := []syntax.Expr{&syntax.Ident{NamePos: at, Name: name}}
	for _, to := range of.Copies {
		all = append(all, &syntax.Ident{NamePos: at, Name: to.Name})
	}
	return &syntax.AssignStmt{OpPos: at, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: at, Name: name},
		RHS: callOf(c.bundled(of), at, all...)}
}

// oneRound is `for x in (y,)`.
func oneRound(at syntax.Position, x, y syntax.Expr) syntax.Node {
	return &syntax.ForClause{For: at, Vars: x, In: at, X: &syntax.ParenExpr{Lparen: at, Rparen: at,
		X: &syntax.TupleExpr{Lparen: at, List: []syntax.Expr{y}, Rparen: at}}}
}

// firstOf is `[x clauses][0]`.
func firstOf(at syntax.Position, x syntax.Expr, clauses ...syntax.Node) syntax.Expr {
	return &syntax.IndexExpr{X: &syntax.Comprehension{Lbrack: at, Body: x, Clauses: clauses, Rbrack: at},
		Lbrack: at, Rbrack: at, Y: &syntax.Literal{Token: syntax.INT, TokenPos: at, Raw: "0", Value: int64(0)}}
}

// choose is a call of which user space decides which function it runs.
func (c *copying) choose(call *syntax.CallExpr, all *plan.Choices) syntax.Expr {
	at := syntax.Start(call)
	n := len(c.names)
	name := func(of string) *syntax.Ident {
		return &syntax.Ident{NamePos: at, Name: fmt.Sprintf("%s%d", of, n)}
	}
	pick := fmt.Sprintf("$pick%d", n)
	c.arg(pick, c.picker(all))
	calls := func(fn syntax.Expr) syntax.Expr {
		return &syntax.CallExpr{Fn: fn, Lparen: call.Lparen, Args: c.cloner().list(call.Args), Rparen: call.Rparen}
	}
	var out syntax.Expr = &syntax.Ident{NamePos: at, Name: "None"} // $pick ends with an error
	if !all.Parts {
		out = calls(name("$fn"))
	}
	for i := len(all.Of) - 1; i >= 0; i-- {
		one := within(c, all.Of[i].Half, func() syntax.Expr {
			if half, ok := c.half.Calls[call]; ok {
				return calls(c.callee(call, half))
			}
			return calls(name("$fn"))
		})
		out = &syntax.CondExpr{If: at, Cond: isRound(name("$which"), i), True: one, ElsePos: at, False: out}
	}
	vars := &syntax.TupleExpr{List: []syntax.Expr{name("$which"), name("$fn")}}
	return firstOf(at, out, oneRound(at, vars, callOf(pick, call.Lparen, c.cloner().one(call.Fn))))
}

// picker makes $pick, which says which of some functions one is, and what to call.
func (c *copying) picker(all *plan.Choices) starlark.Value {
	origin := make([]starlark.Value, len(all.Of))
	for i, one := range all.Of {
		if one.Fn != nil {
			origin[i] = c.captures.origin[one.Fn]
		}
	}
	return starlark.NewBuiltin("$pick", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		b, _ := args[0].(*bundle)
		for i, one := range all.Of {
			switch {
			case one.Fn != nil && args[0] == origin[i]:
				return starlark.Tuple{starlark.MakeInt(i), args[0]}, nil
			case b != nil && b.of == one.Inner:
				return starlark.Tuple{starlark.MakeInt(i), b.copies[one.Copy]}, nil
			}
		}
		if _, can := args[0].(starlark.Callable); can && all.Parts {
			return nil, errors.New("what this function takes of the event was not read, as it was not known that it " +
				"is called here: call functions by their names")
		}
		return starlark.Tuple{starlark.MakeInt(len(all.Of)), args[0]}, nil
	})
}
