package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The variables that a loop changes, and how often range() steps.

// iterations is how often range(start, stop, step) steps, as unsigned.
func (b loops) iterations(start, stop *ir.Value, step int64) *ir.Value {
	if step == 0 {
		b.fail("loop with step 0")
	}
	lo, hi := start, stop
	if step < 0 {
		lo, hi, step = stop, start, -step
	}
	none := b.newJoin(types.U64)
	some, empty := b.NewBlock(), b.NewBlock()
	b.Branch(ir.SLT, lo, hi, some, empty)
	b.Begin(empty)
	b.jumpWith(none, intVal(types.U64, b.Const(0)))
	b.Begin(some)
	d := b.Op(ir.OpSub, hi, lo)
	if step > 1 {
		d = b.Imm(ir.OpAdd, b.Imm(ir.OpUDiv, b.Add(d, -1), step), 1)
	}
	b.jumpWith(none, intVal(types.U64, d))
	return b.enter(none).x
}

// loopVars are the variables that the body changes and that are set before.
func (b loops) loopVars(body *tree.Block) []int64 {
	var out []int64
	seen := map[int64]bool{}
	tree.WalkBlock(body, func(s *tree.Stmt) {
		if (s.Op == tree.SAssign || s.Op == tree.SFor) && !seen[s.Int] && b.variable(s.Int).t.Kind != types.Bot {
			seen[s.Int] = true
			out = append(out, s.Int)
		}
	}, func(*tree.Expr) {})
	return out
}

// computed reports whether only the running program knows the range of a loop.
func computed(s *tree.Stmt) bool {
	return s.Exprs[0].Op != tree.OpConst || s.Exprs[1].Op != tree.OpConst
}
