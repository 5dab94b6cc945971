package opt

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// exprKey tells pure values apart. Args are numbers, 0 for none.
type exprKey struct {
	op   ir.Op
	imm  int64
	sym  string
	slot *ir.Slot
	args [5]int
	n    int
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
			if w := dominating(dom, seen[key], b); w != nil {
				s.replace(v, w)
			} else {
				seen[key] = append(seen[key], v)
			}
		}
	}
	s.apply(f)
	s.forget(f)
	return s.changed
}

// dominating gives one of vs whose block dominates b. The order visits
// dominators first, so within a block what is in vs comes before.
func dominating(dom *ir.DomTree, vs []*ir.Value, b *ir.Block) *ir.Value {
	for _, w := range vs {
		if dom.Dominates(w.Block, b) {
			return w
		}
	}
	return nil
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
