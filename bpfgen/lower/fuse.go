package lower

import "github.com/startrace/startrace/bpfgen/ir"

// A branch on the value of a comparison becomes a branch on the comparison.

// fuse makes a branch on the value of a comparison a branch on the
// comparison.
func fuse(f *ir.Func) {
	for _, b := range f.Blocks {
		t := &b.Term
		if t.Kind != ir.Branch || t.Y != nil || t.Imm != 0 || t.X.Op != ir.OpCmp || t.Cond != ir.EQ && t.Cond != ir.NE {
			continue
		}
		c, x := ir.Cond(t.X.Imm), t.X
		if t.Cond == ir.EQ {
			negated, ok := c.Negate()
			if !ok {
				continue
			}
			c = negated
		}
		t.Cond, t.X, t.Y = c, x.Args[0], x.Args[1]
	}
	drop(f)
}

// drop removes values that nothing uses and that have no effect.
func drop(f *ir.Func) {
	for changed := true; changed; {
		changed = false
		used := f.CountUses()
		for _, b := range f.Blocks {
			kept := b.Values[:0]
			for _, v := range b.Values {
				if used[v.ID] > 0 || v.Op.HasEffect() {
					kept = append(kept, v)
				} else {
					changed = true
				}
			}
			b.Values = kept
		}
	}
}
