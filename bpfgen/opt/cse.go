package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// exprKey tells pure values apart: equal keys are values that are always equal. Its fields are those of ir.Value.
type exprKey struct {
	// op, imm, sym and slot are the value's own.
	op   ir.Op
	imm  int64
	sym  string
	slot *ir.Slot
	// args are the IDs of the operands, the smaller one first where their order does not matter; 0 for none.
	args [5]int
	// n is how many operands there are.
	n int
}

// cse replaces a pure value by an equal one whose block dominates it.
func cse(f *ir.Func) bool {
	order := f.Order()
	dom := f.Dominators(order)
	s := newSubst(f)
	seen := map[exprKey][]*ir.Value{}
	for _, b := range order {
		for _, v := range b.Values {
			s.operands(v)
			key, ok := keyOf(v)
			if !ok {
				continue
			}
			if w, at := dominating(dom, seen[key], b); w != nil {
				s.replace(v, w)
			} else {
				seen[key] = slices.Insert(seen[key], at, v)
			}
		}
	}
	s.apply(f)
	s.forget(f)
	return s.changed
}

// dominating gives the one of vs whose block dominates b, and where b's own
// value belongs if there is none. The order visits dominators first, so within
// a block what is in vs comes before, and of two in vs none dominates the
// other: sorted by the tree's order, only one can dominate b.
func dominating(dom *ir.DomTree, vs []*ir.Value, b *ir.Block) (*ir.Value, int) {
	at, found := slices.BinarySearchFunc(vs, b, func(w *ir.Value, b *ir.Block) int { return dom.Compare(w.Block, b) })
	if found {
		return vs[at], at
	}
	if at > 0 && dom.Dominates(vs[at-1].Block, b) {
		return vs[at-1], at
	}
	return nil, at
}

// keyOf gives the key of a value that depends on its operands alone.
func keyOf(v *ir.Value) (exprKey, bool) {
	pure := v.Op.HasResult() && !v.Op.HasEffect() && !v.Op.ReadsMemory()
	if !pure && !isSteady(v) {
		return exprKey{}, false
	}
	k := exprKey{op: v.Op, imm: v.Imm, sym: v.Sym, slot: v.Slot, n: len(v.Args)}
	for i, a := range v.Args {
		k.args[i] = a.ID
	}
	if v.Op.IsCommutative() && k.n == 2 && k.args[0] > k.args[1] {
		k.args[0], k.args[1] = k.args[1], k.args[0]
	}
	return k, true
}
