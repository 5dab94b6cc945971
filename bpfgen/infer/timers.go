package infer

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// What a handler gives to every(), after() or at_exit() runs at a time of its own: what it changes is no late change of
// the event. Other functions inside a handler run with it, as the key of sorted().

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
	uses, timed := 0, 0
	named := func(x syntax.Expr) bool {
		id, ok := unparen(x).(*syntax.Ident)
		return ok && id.Name == f.name
	}
	for _, s := range root.Def.Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Ident:
				if n.Name == f.name {
					uses++
				}
			case *syntax.DefStmt:
				if n == f.node {
					uses--
				}
			case *syntax.AssignStmt:
				if unparen(n.RHS) == f.node && named(n.LHS) {
					uses--
				}
			case *syntax.CallExpr:
				if name, ok := u.nameOf(n.Fn).v.c.(plan.Builtin); ok && builtinOf(name).deed == Later &&
					slices.ContainsFunc(n.Args, named) {
					timed++
				}
			}
			return true
		})
	}
	return uses == timed
}

// inTimer reports whether a place is in a function that a timer runs.
func (f *uframe) inTimer(seen map[*uframe]bool) bool {
	if f == nil || seen[f] {
		return false
	}
	seen[f] = true
	return f.timed || f.outer.inTimer(seen) || f.by.inTimer(seen)
}
