package infer

import (
	"go.starlark.net/resolve"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// Conditions in kernel halves, and what each outcome proves about variables.

// A cond is a condition: known while compiling, or a bool of the tree, with
// what either outcome proves about variables.
type cond struct {
	known           bool
	value           bool
	expr            *tree.Expr
	ifTrue, ifFalse facts
}

// facts are variables whose values are narrowed: not None any more.
type facts map[*resolve.Binding]val

func (b *body) apply(f facts) {
	for bind, v := range f {
		b.frame.Vars.Set(bind, v)
	}
}

func known(v bool) cond { return cond{known: true, value: v} }

func negate(c cond, pos plan.Pos) cond {
	if c.known {
		return known(!c.value)
	}
	return cond{expr: not(c.expr, pos), ifTrue: c.ifFalse, ifFalse: c.ifTrue}
}

func merged(x, y facts) facts {
	out := facts{}
	for k, v := range x {
		out[k] = v
	}
	for k, v := range y {
		out[k] = v
	}
	return out
}

func condVal(c cond) val {
	if c.known {
		return boolVal(c.value)
	}
	return exprVal(c.expr)
}

// connected adds the condition c to a chain of ands or ors. decided: c alone decides the chain, as it is known to be
// false among ands, or true among ors.
func connected(op tree.Op, chain, c cond, pos plan.Pos) (out cond, decided bool) {
	switch {
	case c.known && c.value == (op == tree.OpLOr):
		return c, true
	case c.known:
		return chain, false
	case chain.known:
		return c, false
	}
	return cond{expr: logic(op, chain.expr, c.expr, pos)}, false
}

// require ends the handler unless c holds.
func (b *body) require(c cond, pos plan.Pos) {
	if c.known {
		if !c.value {
			b.stop(pos)
		}
		return
	}
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{not(c.expr, pos)}, Pos: pos,
		Then: &tree.Block{Stmts: []*tree.Stmt{{Op: tree.SStop, Pos: pos}}}})
}
