package opt

import "github.com/startrace/startrace/bpfgen/ir"

// facts decides branches whose condition a dominating branch has decided.
func facts(f *ir.Func) bool {
	order := f.Order()
	dom := f.Dominators(order)
	preds := f.Preds(order)
	changed := false
	above := make([]*ir.Block, f.NumBlocks()) // the nearest block, from this one up, that has a fact
	for _, b := range order {
		if _, ok := entryFact(b, preds[b.ID]); ok {
			above[b.ID] = b
		} else if up := dom.Idom(b); up != nil {
			above[b.ID] = above[up.ID]
		}
		if b.Term.Kind != ir.Branch {
			continue
		}
		for d := above[b.ID]; d != nil; d = next(above, dom.Idom(d)) {
			k, ok := entryFact(d, preds[d.ID])
			if !ok {
				continue // its branch has been decided since
			}
			if holds, known := k.decides(&b.Term); known {
				decideIf(&b.Term, holds)
				changed = true
				break
			}
		}
	}
	return changed
}

// next is the nearest block with a fact from b up.
func next(above []*ir.Block, b *ir.Block) *ir.Block {
	if b == nil {
		return nil
	}
	return above[b.ID]
}

// A fact is a condition that holds in a block and all that it dominates.
type fact struct {
	cond ir.Cond
	x, y *ir.Value
	imm  int64
}

// entryFact gives what is known because b was reached, by its only edge.
func entryFact(b *ir.Block, preds []ir.Pred) (fact, bool) {
	if len(preds) != 1 || preds[0].Block.Term.Kind != ir.Branch {
		return fact{}, false
	}
	t := &preds[0].Block.Term
	k, ok := fact{t.Cond, t.X, t.Y, t.Imm}, true
	if preds[0].Index == 1 {
		k.cond, ok = t.Cond.Negate()
	}
	return k, ok
}

// decides says whether the condition of t holds, where that is known.
func (k fact) decides(t *ir.Term) (holds, known bool) {
	if t.X != k.x || t.Y != k.y {
		return false, false
	}
	if k.cond == ir.EQ && k.y == nil {
		return t.Cond.Holds(k.imm, t.Imm), true
	}
	if t.Imm != k.imm {
		return false, false
	}
	if t.Cond == k.cond {
		return true, true
	}
	neg, ok := t.Cond.Negate()
	return false, ok && neg == k.cond
}
