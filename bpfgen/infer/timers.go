package infer

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// What a handler gives to every(), after() or at_exit() runs later, and changes nothing at the event. Other functions
// inside a handler run with it, as the key of sorted().

// givesToTimer notes the functions that are given to a timer.
func (u arguments) givesToTimer(f *builtin, x *syntax.CallExpr) {
	if f.deed != Later {
		return
	}
	if u.pr.timed == nil {
		u.pr.timed = map[syntax.Node]bool{}
	}
	for _, a := range x.Args {
		u.pr.timed[unparen(argValue(a))] = true
	}
}

// isTimed reports whether a function inside runs at a time of its own alone: it is given to a timer where it stands, or
// each use of its name gives it to one.
func (u arguments) isTimed(f *inner) bool {
	if u.pr.timed[f.node] || f.name == "" {
		return u.pr.timed[f.node]
	}
	root := u.frame
	for root.outer != nil {
		root = root.outer
	}
	return onlyToTimers(root.Def.Body, f.node, f.name, func(x *syntax.CallExpr) bool {
		return isTimer(u.nameOf(x.Fn).v.c)
	})
}

// isTimer reports whether a value is a builtin that gives what it is called with to a timer.
func isTimer(v plan.Value) bool {
	name, ok := v.(plan.Builtin)
	return ok && builtinOf(name).deed == Later
}

// onlyToTimers reports whether all uses of the name of a function inside a handler give it to timers.
func onlyToTimers(body []syntax.Stmt, f syntax.Node, name string, timer func(*syntax.CallExpr) bool) bool {
	uses, timed := 0, 0
	named := func(x syntax.Expr) bool { return nameIn(x).Name == name }
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Ident:
				if n.Name == name {
					uses++
				}
			case *syntax.DefStmt:
				if n == f {
					uses--
				}
			case *syntax.AssignStmt:
				if unparen(n.RHS) == f && named(n.LHS) {
					uses--
				}
			case *syntax.CallExpr:
				if timer(n) && slices.ContainsFunc(n.Args, named) {
					timed++
				}
			}
			return true
		})
	}
	return uses == timed
}

// givenToTimer are the arguments of a call that are given to a timer.
func (l *laterPart) givenToTimer(x *syntax.CallExpr) (out []syntax.Node) {
	if !isTimer(l.value(nameIn(x.Fn))) {
		return nil
	}
	for _, a := range x.Args {
		out = append(out, unparen(argValue(a)))
	}
	return out
}

// isTimed reports whether a statement of the handler only makes a function for timers.
func (l *laterPart) isTimed(n syntax.Node) bool {
	given := func(f syntax.Node, name string) bool {
		return onlyToTimers(resolved(l.fn).Body, f, name, func(x *syntax.CallExpr) bool {
			return isTimer(l.value(nameIn(x.Fn)))
		})
	}
	switch n := n.(type) {
	case *syntax.DefStmt:
		return given(n, n.Name.Name)
	case *syntax.AssignStmt:
		f, ok := unparen(n.RHS).(*syntax.LambdaExpr)
		return ok && nameIn(n.LHS) != noName && given(f, nameIn(n.LHS).Name)
	}
	return false
}

// inTimer reports whether a place is in a function that a timer runs.
func (f *uframe) inTimer(seen map[*uframe]bool) bool {
	if f == nil || seen[f] {
		return false
	}
	seen[f] = true
	return f.timed || f.outer.inTimer(seen) || f.by.inTimer(seen)
}
