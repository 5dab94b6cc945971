package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass params: parameters of blocks that always get the same value are removed.

// params removes parameters that get the same value on all edges.
func params(f *ir.Func) bool {
	changed := false
	order := f.Order()
	preds := f.Preds(order)
	s := newSubst(f)
	for _, b := range order {
		for k := 0; k < len(b.Params); k++ {
			p := b.Params[k]
			w, ok := onlyValue(s, p, k, preds[b.ID])
			if !ok {
				continue
			}
			if isMade(w) && w.Block != b {
				w = copyMade(b, w)
			}
			s.replace(p, w)
			removeParam(b, k, preds[b.ID])
			k--
			changed = true
		}
	}
	s.apply(f)
	return changed
}

// onlyValue gives the value that all edges bring for parameter k, p; edges
// that bring p itself do not count. Constants and addresses count as the same
// if they are made in the same way.
func onlyValue(s *subst, p *ir.Value, k int, preds []ir.Pred) (*ir.Value, bool) {
	var only *ir.Value
	for _, pred := range preds {
		a := s.get(pred.Edge().Args[k])
		switch {
		case a == p || a == only:
		case only == nil:
			only = a
		case !sameMade(a, only):
			return nil, false
		}
	}
	return only, only != nil
}

// isMade reports whether v can be made anywhere.
func isMade(v *ir.Value) bool {
	switch v.Op {
	case ir.OpConst, ir.OpSlot, ir.OpMapPtr, ir.OpMapValue, ir.OpScratch, ir.OpScratchSlot, ir.OpFunc:
		return true
	}
	return false
}

func sameMade(a, b *ir.Value) bool {
	return isMade(a) && a.Op == b.Op && a.Imm == b.Imm && a.Sym == b.Sym && a.Slot == b.Slot
}

// copyMade makes w again at the start of b, where w may not be defined.
func copyMade(b *ir.Block, w *ir.Value) *ir.Value {
	v := b.Func.NewValue(w.Op, w.Pos)
	v.Imm, v.Sym, v.Slot, v.Block = w.Imm, w.Sym, w.Slot, b
	b.Values = slices.Insert(b.Values, 0, v)
	return v
}

// removeParam removes parameter k of b and what edges bring for it.
func removeParam(b *ir.Block, k int, preds []ir.Pred) {
	b.Params = slices.Delete(b.Params, k, k+1)
	for _, p := range preds {
		e := p.Edge()
		e.Args = slices.Concat(e.Args[:k], e.Args[k+1:])
	}
}
