package infer

import "go.starlark.net/syntax"

// The refusal to assign a field of the event, or of what it leads to.

// readOnly refuses to assign a field of the event, or of what it leads to.
func readOnly(x *syntax.DotExpr, of val) {
	what := dotted(x)
	if what == "" {
		what = "." + x.Name.Name
	}
	if of.obj != nil || of.expr != nil && of.expr.Type.Leads() {
		wrong(x.Dot, "%s cannot be assigned: an event tells what happened; give the value a name of its own", what)
	}
}
