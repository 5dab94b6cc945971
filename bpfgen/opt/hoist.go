package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass hoist: what is the same in each round stands in front of the loop.

// hoist moves what is the same in each round of a loop in front of it. Only
// what costs more than the register that it then occupies: calls, divisions,
// products, bit lengths. A floor division stays where its divisor was tested.
func hoist(f *ir.Func) bool {
	order := f.Order()
	preds := f.Preds(order)
	dom := f.Dominators(order)
	changed := false
	inside := make([]bool, f.NumBlocks())
	for _, l := range slices.Backward(f.Loops(order)) { // inner ones first
		before := preheader(l, preds[l.Head.ID], dom)
		if before == nil {
			continue
		}
		for _, b := range l.Blocks {
			inside[b.ID] = true
		}
		for _, b := range l.Blocks {
			changed = hoistFrom(b, before, inside) || changed
		}
		for _, b := range l.Blocks {
			inside[b.ID] = false
		}
	}
	return changed
}

// preheader is the block that jumps to the loop and nowhere else.
func preheader(l ir.Loop, preds []ir.Pred, dom *ir.DomTree) *ir.Block {
	var before *ir.Block
	for _, p := range preds {
		if dom.Dominates(l.Head, p.Block) {
			continue
		}
		if before != nil || p.Block.Term.Kind != ir.Jump {
			return nil
		}
		before = p.Block
	}
	return before
}

// hoistFrom moves what it can from b to the end of before. Its constants are
// made there again.
func hoistFrom(b, before *ir.Block, inside []bool) bool {
	changed := false
	for i := 0; i < len(b.Values); i++ {
		v := b.Values[i]
		varies := func(a *ir.Value) bool { return inside[a.Block.ID] && !isMade(a) && a.Op != ir.OpCtx }
		if !worthHoisting(v) || slices.ContainsFunc(v.Args, varies) {
			continue
		}
		for k, a := range v.Args {
			if inside[a.Block.ID] {
				v.Args[k] = makeAgain(before, a)
			}
		}
		b.Values = slices.Delete(b.Values, i, i+1)
		before.Values = append(before.Values, v)
		v.Block = before
		i--
		changed = true
	}
	return changed
}

func worthHoisting(v *ir.Value) bool {
	switch v.Op {
	case ir.OpMul, ir.OpUDiv, ir.OpUMod, ir.OpLog2:
		return true
	}
	return isSteady(v)
}

// makeAgain makes the constant, address or context v at the end of b.
func makeAgain(b *ir.Block, v *ir.Value) *ir.Value {
	w := b.Add(v.Op, v.Pos)
	w.Imm, w.Sym, w.Slot = v.Imm, v.Sym, v.Slot
	return w
}
