package build

import "github.com/startrace/startrace/bpfgen/tree"

// walkBlock visits all statements and expressions below blk.
func walkBlock(blk *tree.Block, stmt func(*tree.Stmt), expr func(*tree.Expr)) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		stmt(s)
		for _, e := range s.Exprs {
			walkExpr(e, stmt, expr)
		}
		walkBlock(s.Then, stmt, expr)
		walkBlock(s.Else, stmt, expr)
	}
}

func walkExpr(e *tree.Expr, stmt func(*tree.Stmt), expr func(*tree.Expr)) {
	expr(e)
	for _, a := range e.Args {
		walkExpr(a, stmt, expr)
	}
	walkBlock(e.Body, stmt, expr)
}

// uses counts what a program reads of the event; what is read twice, or in a
// loop, is read once where the handler begins, so that it is one value.
type uses map[string]int

func countUses(p *tree.Program) uses {
	u := uses{}
	bodies := []*tree.Block{p.Body}
	for _, v := range p.Variants {
		bodies = append(bodies, v.Body)
	}
	for _, blk := range bodies {
		walkBlock(blk, func(s *tree.Stmt) {
			u.countAdd(s)
			switch s.Op {
			case tree.SFor:
				walkBlock(s.Then, u.countAdd, u.count)
			case tree.SSpanStart, tree.SSpanEnd:
				u["tid"]++
			}
		}, u.count)
	}
	return u
}

func (u uses) count(e *tree.Expr) {
	if e.Op == tree.OpBuiltin {
		u[e.Str]++
	}
}
