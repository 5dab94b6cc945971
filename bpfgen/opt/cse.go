package opt

import (
	"math/bits"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass cse: a value that was computed before is not computed again.

// cse replaces a pure value by an equal one whose block dominates it.
func cse(f *ir.Func) bool {
	dom := f.Dominators(f.Order())
	s := newSubst(f)
	seen := newExprTable(f)
	for _, b := range dom.DepthFirst() {
		for _, v := range b.Values {
			s.operands(v)
			if !isPure(v) {
				continue
			}
			// What was seen last is of a block that dominates b, or all below that block is done.
			at := seen.find(v)
			if *at != nil && dom.Dominates((*at).Block, b) {
				s.replace(v, *at)
			} else {
				*at = v
			}
		}
	}
	s.apply(f)
	s.forget(f)
	return s.changed
}

// isPure reports whether v depends on its operands alone.
func isPure(v *ir.Value) bool {
	return v.Op.HasResult() && !v.Op.HasEffect() && !v.Op.ReadsMemory() || isSteady(v)
}

// An exprTable has for each expression the value that was last put there.
type exprTable struct {
	// at has as many places as a power of two, and at least twice as many as there are values. A value is at the first
	// free place from that of its hash on.
	at []*ir.Value
}

func newExprTable(f *ir.Func) exprTable {
	n := 0
	for _, b := range f.Blocks {
		n += len(b.Values)
	}
	return exprTable{make([]*ir.Value, 2<<bits.Len(uint(n)))}
}

// find gives the place for values that are always equal to v.
func (t exprTable) find(v *ir.Value) **ir.Value {
	mask := uint64(len(t.at) - 1)
	for i := hash(v) & mask; ; i = (i + 1) & mask {
		if w := t.at[i]; w == nil || sameExpr(v, w) {
			return &t.at[i]
		}
	}
}

// hash gives the same for values of the same expression.
func hash(v *ir.Value) uint64 {
	h := mix(uint64(v.Op), uint64(v.Imm))
	if v.Slot != nil {
		h = mix(h, uint64(v.Slot.ID))
	}
	for i := range len(v.Sym) {
		h = mix(h, uint64(v.Sym[i]))
	}
	if len(v.Args) == 2 && v.Op.IsCommutative() {
		x, y := v.Args[0].ID, v.Args[1].ID
		return mix(mix(h, uint64(min(x, y))), uint64(max(x, y)))
	}
	for _, a := range v.Args {
		h = mix(h, uint64(a.ID))
	}
	return h
}

// mix puts x into a hash.
func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// sameExpr reports whether v and w are always equal.
func sameExpr(v, w *ir.Value) bool {
	if v.Op != w.Op || v.Imm != w.Imm || v.Sym != w.Sym || v.Slot != w.Slot {
		return false
	}
	return slices.Equal(v.Args, w.Args) || len(v.Args) == 2 && len(w.Args) == 2 && v.Op.IsCommutative() &&
		v.Args[0] == w.Args[1] && v.Args[1] == w.Args[0]
}
