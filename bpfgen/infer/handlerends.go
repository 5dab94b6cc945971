package infer

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// fail() and exit() in user halves of which the kernel makes a part: what may end the handler before a change.
//
// fail() and exit() as statements of a handler end the kernel's part of it (kernelcut.go). Elsewhere, as in a function
// that the handler calls, they are user space's alone. So the kernel makes no change that such a one may come before.

// mayEndBefore reports whether fail() or exit() may end the handler before one of the changes of the part.
func (k *kernelPart) mayEndBefore() bool {
	return k.endsBefore(func(n syntax.Node) bool { return slices.Contains(k.sites, n) })
}

// endsBefore reports whether the handler has fail() or exit(), other than as a statement, in a statement that has a
// change, or before it.
func (l *laterPart) endsBefore(isChange func(syntax.Node) bool) bool {
	changes := false
	given := slices.ContainsFunc(l.fn.Defaults, l.reachesEnd) // by a parameter of the handler, which any line may call
	for _, s := range slices.Backward(resolved(l.fn).Body) {
		syntax.Walk(s, func(n syntax.Node) bool {
			changes = changes || n != nil && !l.isTimed(n) && isChange(n)
			return n != nil && !l.isTimed(n)
		})
		if changes && (given || l.endsWithin(s, false)) {
			return true
		}
	}
	return false
}

// endsWithin reports whether a node has fail() or exit(), other than as a statement of the handler itself: inner is set
// where the node is in a function that the handler makes.
func (l *laterPart) endsWithin(n syntax.Node, inner bool) (found bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			found = found || l.endsInFunction(n, n.Params, n.Body)
			return false
		case *syntax.AssignStmt:
			if f, ok := unparen(n.RHS).(*syntax.LambdaExpr); ok && l.isTimed(n) {
				found = found || l.endsInFunction(n, f.Params, nil)
				return false
			}
		case *syntax.ExprStmt:
			return inner || !fails(n)
		case *syntax.Ident:
			found = found || isEnd(n) || l.reachesEnd(l.value(n))
		}
		return !found
	})
	return found
}

// endsInFunction is endsWithin of a function that a statement makes. Its defaults are computed there, whoever calls it.
func (l *laterPart) endsInFunction(made syntax.Stmt, params []syntax.Expr, body []syntax.Stmt) bool {
	within := func(n syntax.Node) bool { return l.endsWithin(n, true) }
	for _, p := range params {
		if within(p) {
			return true
		}
	}
	return !l.isTimed(made) && slices.ContainsFunc(body, func(s syntax.Stmt) bool { return within(s) })
}

// reachesEnd reports whether a value of the script is fail or exit, or a function that has one of them.
func (l *laterPart) reachesEnd(v plan.Value) bool {
	return sides{l.pr.u}.reachesEnd(v, map[*plan.Func]bool{})
}

// reachesEnd reports whether a value is fail or exit, a function that has one of them, or has such a value in it.
func (u sides) reachesEnd(v plan.Value, seen map[*plan.Func]bool) (found bool) {
	fn, ok := v.(*plan.Func)
	if !ok {
		return v == plan.Builtin("fail") || v == plan.Builtin("exit") ||
			slices.ContainsFunc(plan.Inside(v), func(x plan.Value) bool { return u.reachesEnd(x, seen) })
	}
	if seen[fn] {
		return false
	}
	seen[fn] = true
	syntax.Walk(&syntax.ForStmt{Vars: noName, X: noName, Body: resolved(fn).Body}, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			found = found || isEnd(id)
		}
		return !found
	})
	for _, name := range sortedKeys(fn.Names) {
		found = found || u.reachesEnd(fn.Names[name], seen)
	}
	return found || slices.ContainsFunc(slices.Concat(fn.Free, fn.Defaults), func(x plan.Value) bool {
		return u.reachesEnd(x, seen)
	})
}
