package infer

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// Arguments that builtins and methods do not take, told when the script is compiled: those of methods, and those in
// functions that nothing walks, as functions of timers.
//
// The interpreter would tell of such a call when the first event comes.

// checkAway refuses such calls in a function that user space runs as it is, without a walk, as those of timers. seen
// has the functions that were looked at. Only names that are surely builtins count.
func checkAway(fn *plan.Func, seen map[*plan.Func]bool) {
	if seen[fn] {
		return
	}
	seen[fn] = true
	for _, s := range resolved(fn).Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if x, is := n.(*syntax.CallExpr); is {
				switch c := shared(fn, x.Fn).(type) {
				case plan.Builtin:
					checkBuiltinArguments(c, x)
				case *plan.Func:
					checkAway(c, seen)
				}
			}
			return true
		})
	}
}

// shared is the value of a name that is no variable of a function nor of those around it; nil for other expressions.
func shared(fn *plan.Func, x syntax.Expr) plan.Value {
	id, is := unparen(x).(*syntax.Ident)
	if !is {
		return nil
	}
	switch b, _ := id.Binding.(*resolve.Binding); {
	case b == nil || b.Scope == resolve.Local || b.Scope == resolve.Cell || b.Scope == resolve.Free:
		return nil
	}
	return fn.Names[id.Name]
}

// checkLater is checkAway of what timers and the end of the run call.
func (u *unit) checkLater() {
	seen := map[*plan.Func]bool{}
	for _, v := range u.plan.Later {
		fn, is := v.(*plan.Func)
		if !is {
			continue
		}
		if r := refusal.Attempt(func() { checkAway(fn, seen) }); r != nil {
			u.diags = append(u.diags, r.Diag)
		}
	}
}

// checkMethodArguments is about the arguments of a method of recv.
func (u certainty) checkMethodArguments(dot *syntax.DotExpr, recv uval, x *syntax.CallExpr) {
	list, known := u.parametersOf(dot, recv)
	if !known {
		return
	}
	if at, msg := parametersIn(dot.Name.Name, list).wrongIn(x); msg != "" {
		u.clash(at, "%s", msg)
	}
}

// parametersOf are the parameters of a method of recv, where it is known which one that is.
func (u certainty) parametersOf(dot *syntax.DotExpr, recv uval) (list string, known bool) {
	name := dot.Name.Name
	c, _, ok := u.containerOf(dot.X, recv)
	switch {
	case !ok:
		list, known = methodParameters[typeName(recv)][name]
	case c.Kind == plan.Table || c.Kind == plan.Cell:
		list, known = methodParameters[c.Kind.String()][name]
	case c.Kind == plan.Count && name == "add":
		return "n=", true
	default:
		list, known = aggregationParameters[name]
	}
	return list, known
}
