package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Expressions that who takes them uses several times, as the order of a float (`once`).

// once is e in a local where it has ways to choose from: who uses it several times would have each way as often, and a
// float that is chosen by floats that are chosen would double with each.
//
//	x == 1.5, with x = (p.a if c else p.b), looks at x in seven places of its tree
func once(b *body, e *tree.Expr) *tree.Expr {
	if b.lazy || e.Op == tree.OpLocal || !chooses(e) {
		return e
	}
	return b.assign("", copied(e))
}

// copied is e with nodes of its own. Who asked may use e elsewhere, too, and what is not read of the local is later
// taken out of the nodes from which it is made (prune.go, unreadfields.go).
func copied(e *tree.Expr) *tree.Expr {
	out := *e
	out.Args = make([]*tree.Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = copied(a)
	}
	return &out
}

// chooses reports whether an expression has one of several ways at run time.
func chooses(e *tree.Expr) (found bool) {
	tree.WalkExpr(e, func(*tree.Stmt) {}, func(e *tree.Expr) {
		found = found || e.Op == tree.OpCond || e.Op == tree.OpInline
	})
	return found
}

// onceFloat is v where it is used several times, by once, if it is a float.
func onceFloat(b *body, v val) val {
	if v.c == nil && v.expr != nil && v.start == nil && v.typ().Kind == types.Float {
		v.expr = once(b, v.expr)
	}
	return v
}

// onceAbsent is e where it is tested for being None or FAULT, too.
func onceAbsent(b *body, e *tree.Expr) *tree.Expr {
	if !e.Type.MayNone && !e.Type.MayFault && e.Type.Kind != types.Ptr {
		return e
	}
	return once(b, e)
}
