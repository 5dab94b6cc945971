package infer

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

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
	for _, s := range slices.Backward(resolved(l.fn).Body) {
		ends := false
		syntax.Walk(s, func(n syntax.Node) bool {
			if n == nil || l.isTimed(n) {
				return false
			}
			changes = changes || isChange(n)
			switch n := n.(type) {
			case *syntax.ExprStmt:
				if fails(n) {
					return false
				}
			case *syntax.Ident:
				ends = ends || isEnd(n) || sides{l.pr.u}.reachesEnd(l.value(n), map[*plan.Func]bool{})
			}
			return true
		})
		if ends && changes {
			return true
		}
	}
	return false
}

// reachesEnd reports whether a value is a function that has fail() or exit(), or has such a function in it.
func (u sides) reachesEnd(v plan.Value, seen map[*plan.Func]bool) (found bool) {
	fn, ok := v.(*plan.Func)
	if !ok {
		return slices.ContainsFunc(valuesIn(v), func(x plan.Value) bool { return u.reachesEnd(x, seen) })
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
