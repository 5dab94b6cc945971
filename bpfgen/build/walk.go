package build

import "github.com/startrace/startrace/bpfgen/tree"

// uses counts what a program reads of the event; what is read twice, or in a
// loop, is read once where the handler begins, so that it is one value.
type uses map[string]int

func countUses(p *tree.Program) uses {
	u := uses{}
	for _, blk := range p.Bodies() {
		tree.WalkBlock(blk, func(s *tree.Stmt) {
			u.countAdd(s)
			switch s.Op {
			case tree.SFor:
				tree.WalkBlock(s.Then, u.countAdd, u.count)
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
