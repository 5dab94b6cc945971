package infer

import (
	"maps"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/plan"
)

// Parts of the event that the round of a loop chooses in a user half, as e.args[i] for i in range(3).
//
// Which part of the event is meant can depend on the round of a loop over constants:
//
//	for i in range(3):
//	    print(e.args[i])
//
// The kernel half reads the parts, so it must know each of them. Such a loop is written out as one over parts is. So is
// a loop over addresses of the event at which its body reads: for p in (e.args.to, e.args.from_): mem(p, 4).

// variables are some, by where they are bound first: a function inside has bindings of its own for what it finds
// outside.
type variables map[*syntax.Ident]bool

// A loopBody is what a loop runs over and over: its variables, and all that is inside.
type loopBody struct {
	vars   syntax.Expr
	inside []syntax.Node
}

func bodyOf(s *syntax.ForStmt) loopBody {
	inside := make([]syntax.Node, len(s.Body))
	for i, stmt := range s.Body {
		inside[i] = stmt
	}
	return loopBody{s.Vars, inside}
}

// selects reports whether the body may choose a part of the event by what the loop gives its variables.
func (u selection) selects(loop loopBody) bool {
	follow, assigned := u.following(loop)
	return u.inLoop(loop, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.IndexExpr:
			return mentions(n.Y, follow) && u.eventual(n.X, assigned)
		case *syntax.CallExpr:
			return u.handsOver(n, follow, assigned)
		}
		return false
	})
}

// readsAt reports whether the body may read memory at what the loop gives its variables, as mem(p, 4) does.
func (u selection) readsAt(loop loopBody) bool {
	return u.calls(loop, func(x *syntax.CallExpr) bool { return u.mayRead(x.Fn) })
}

// gives reports whether the body gives a function what the loop gives its variables, as printf("%x", n) does.
func (u selection) gives(loop loopBody) bool {
	return u.calls(loop, func(*syntax.CallExpr) bool { return true })
}

// calls reports whether the body has a call of some kind that is given what the loop gives its variables.
func (u selection) calls(loop loopBody, asked func(*syntax.CallExpr) bool) bool {
	follow, _ := u.following(loop)
	return u.inLoop(loop, func(n syntax.Node) bool {
		x, ok := n.(*syntax.CallExpr)
		return ok && slices.ContainsFunc(x.Args, func(a syntax.Expr) bool { return mentions(a, follow) }) && asked(x)
	})
}

// mayRead reports whether what is called is a builtin that reads memory, or a function that may call one.
func (u selection) mayRead(x syntax.Expr) bool {
	if _, lambda := unparen(x).(*syntax.LambdaExpr); lambda {
		return true
	}
	v := u.nameOf(x)
	return v.fn != nil || readsIn(v.v.c, map[*plan.Func]bool{})
}

// readsIn reports whether a function of the script, or a builtin, reads memory.
func readsIn(c plan.Value, seen map[*plan.Func]bool) bool {
	switch c := c.(type) {
	case plan.Builtin:
		return builtinOf(c).is(readsKernel)
	case *plan.Func:
		if seen[c] {
			return false
		}
		seen[c] = true
		reads := func(v plan.Value) bool { return readsIn(v, seen) }
		return slices.ContainsFunc(slices.Collect(maps.Values(c.Names)), reads) || slices.ContainsFunc(c.Free, reads)
	}
	return false
}

// following gives the variables whose values follow from those of a loop, and those to which its body gives values.
func (u selection) following(loop loopBody) (follow, assigned variables) {
	follow, assigned = variables{}, variables{}
	for _, to := range bound(loop.vars, nil) {
		follow[to.First] = true
	}
	for grown := true; grown; {
		grown = u.inLoop(loop, func(n syntax.Node) bool {
			more := false
			to, from := boundBy(n)
			for _, to := range to {
				assigned[to.First] = true
				if !follow[to.First] && mentions(from, follow) {
					follow[to.First], more = true, true
				}
			}
			return more
		})
	}
	return follow, assigned
}

// inLoop asks something of all nodes inside a loop, until the answer is yes.
func (u selection) inLoop(loop loopBody, asked func(syntax.Node) bool) bool {
	found := false
	for _, n := range loop.inside {
		syntax.Walk(n, func(n syntax.Node) bool {
			found = found || n != nil && asked(n)
			return !found
		})
	}
	return found
}

// boundBy gives the variables to which a node gives values, and what these follow from.
func boundBy(n syntax.Node) ([]*resolve.Binding, syntax.Expr) {
	switch n := n.(type) {
	case *syntax.AssignStmt:
		return bound(n.LHS, nil), n.RHS
	case *syntax.ForStmt:
		return bound(n.Vars, nil), n.X
	case *syntax.ForClause:
		return bound(n.Vars, nil), n.X
	case *syntax.DefStmt:
		return bound(n.Name, nil), n.Name
	}
	return nil, nil
}

// handsOver reports whether a call gives a function variables of the loop and parts of the event, so that the function
// may choose.
func (u selection) handsOver(x *syntax.CallExpr, follow, assigned variables) bool {
	_, lambda := unparen(x.Fn).(*syntax.LambdaExpr)
	given, part := false, lambda || u.nameOf(x.Fn).fn != nil || u.eventual(x.Fn, assigned)
	for _, a := range x.Args {
		given = given || mentions(a, follow)
		part = part || u.eventual(argValue(a), assigned)
	}
	return given && part
}

// mentions reports whether one of the variables stands in x.
func mentions(x syntax.Expr, names variables) bool {
	found := false
	syntax.Walk(x, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			bind, _ := id.Binding.(*resolve.Binding)
			found = found || bind != nil && names[bind.First]
		}
		return !found
	})
	return found
}

// eventual reports whether x may be the event or a part of it. assigned are variables of which that is not known.
func (u selection) eventual(x syntax.Expr, assigned variables) bool {
	switch x := unparen(x).(type) {
	case *syntax.Ident:
		if bind, _ := x.Binding.(*resolve.Binding); bind != nil && assigned[bind.First] {
			return true
		}
		v, _ := u.frame.Lookup(x, captured)
		return v.part
	case *syntax.DotExpr:
		return u.eventual(x.X, assigned)
	case *syntax.IndexExpr:
		return u.eventual(x.X, assigned)
	case *syntax.CallExpr:
		for _, a := range x.Args {
			if u.eventual(argValue(a), assigned) {
				return true
			}
		}
		return u.eventual(x.Fn, assigned)
	}
	return false
}

// choose notes e.args[i] of which it is not known which argument it is: a function
// whose parameters are not known can be called with constants. Elsewhere it is
// refused.
func (f *uframe) choose(x *syntax.IndexExpr) {
	shared, params := variables{}, variables{}
	for g := f; g != nil; g = g.outer {
		for to := range g.shifting {
			shared[to.First] = true
		}
		ids, _ := scope.Params(g.Def)
		for _, id := range ids {
			params[scope.Bound(id).First] = g.generic
		}
	}
	f.chooses(&chosenArg{at: x, shared: firstOf(x.Y, shared), param: firstOf(x.Y, params)})
}

// chooses notes what user space chooses: that of a function whose calls are not known yet may be known then.
func (f *uframe) chooses(c *chosenArg) {
	g := f.firstGeneric(map[*uframe]bool{})
	if g == nil {
		c.refuse()
	}
	if g.chosen == nil {
		g.chosen = c
	}
}

// firstGeneric is the generic function that a place is in, or that calls what it is in; nil where there is none.
func (f *uframe) firstGeneric(seen map[*uframe]bool) *uframe {
	if f == nil || seen[f] {
		return nil
	}
	seen[f] = true
	if f.generic {
		return f
	}
	if g := f.outer.firstGeneric(seen); g != nil {
		return g
	}
	return f.by.firstGeneric(seen)
}

// firstOf is the first in x of some variables, nil where there is none.
func firstOf(x syntax.Expr, names variables) (found *syntax.Ident) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && found == nil && mentions(id, names) {
			found = id
		}
		return found == nil
	})
	return found
}
