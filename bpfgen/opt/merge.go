package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass merge: a block is appended to the only one that jumps to it.

// merge appends a block to the only block that jumps to it.
func merge(f *ir.Func) bool {
	preds := f.Preds(f.Blocks)
	s := newSubst(f)
	gone := make([]bool, f.NumBlocks())
	changed := false
	for _, b := range f.Blocks {
		for !gone[b.ID] && b.Term.Kind == ir.Jump {
			next := b.Term.To[0].Block
			if next == b || next == f.Blocks[0] || len(preds[next.ID]) != 1 {
				break
			}
			for k, p := range next.Params {
				s.replace(p, s.get(b.Term.To[0].Args[k]))
			}
			for _, v := range next.Values {
				v.Block = b
			}
			b.Values = append(b.Values, next.Values...)
			b.Term = next.Term
			next.Values, next.Term, gone[next.ID] = nil, ir.Term{}, true
			changed = true
		}
	}
	f.Blocks = slices.DeleteFunc(f.Blocks, func(b *ir.Block) bool { return gone[b.ID] })
	s.apply(f)
	return changed
}
