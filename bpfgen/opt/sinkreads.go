package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass sinkReads: a read of memory moves behind the branch that needs it.

// sinkReads moves a read of memory behind the branch of which one way alone
// needs it: a filter that fails then costs no read.
func sinkReads(f *ir.Func) bool {
	if !hasProbeReads(f) {
		return false
	}
	order := f.Order()
	s := &readSinker{dom: f.Dominators(order), preds: f.Preds(order), users: allUsers(f, order)}
	private, open := privateSlots(f), openSlots(f, order)
	changed := false
	for _, b := range order {
		if b.Term.Kind == ir.Branch {
			s.plan(b, probeReads(b, private, open[b.ID]), open[b.ID])
			changed = s.move(b) || changed
		}
	}
	return changed
}

type readSinker struct {
	dom   *ir.DomTree
	preds [][]ir.Pred
	users [][]user
	to    map[*ir.Value]*ir.Block // of one block's values those that move, and where
}

// plan finds the reads of b to move, and the addresses that only these need.
func (s *readSinker) plan(b *ir.Block, reads []*probeRead, open []bool) {
	s.to = map[*ir.Value]*ir.Block{}
	parts := map[*ir.Value][]*ir.Value{} // of a read by its call
	for _, r := range reads {
		if !open[r.dst.slot.ID] {
			parts[r.call] = append([]*ir.Value{r.call}, r.loads...)
		}
	}
	for _, v := range slices.Backward(b.Values) {
		group := parts[v]
		if group == nil && v.Op.IsALU2() && s.feedsMoved(v) {
			group = []*ir.Value{v}
		}
		if way := s.target(b, group); way != nil {
			for _, g := range group {
				s.to[g] = way
			}
		}
	}
}

func (s *readSinker) feedsMoved(v *ir.Value) bool {
	return slices.ContainsFunc(s.users[v.ID], func(u user) bool { return u.v != nil && s.to[u.v] != nil })
}

// target is the way behind b on which all uses of the values are; nil if there
// is none.
func (s *readSinker) target(b *ir.Block, values []*ir.Value) *ir.Block {
	var to *ir.Block
	for _, v := range values {
		for _, u := range s.users[v.ID] {
			way := s.way(b, u)
			if way == nil || to != nil && way != to {
				return nil
			}
			to = way
		}
	}
	return to
}

// way is the target of b's branch that is only reached from b and dominates
// u, or that u moves to.
func (s *readSinker) way(b *ir.Block, u user) *ir.Block {
	if u.v != nil && s.to[u.v] != nil {
		return s.to[u.v]
	}
	for _, e := range b.Term.To {
		if len(s.preds[e.Block.ID]) == 1 && s.dom.Dominates(e.Block, u.b) {
			return e.Block
		}
	}
	return nil
}

// move puts what is planned to the starts of the blocks behind b.
func (s *readSinker) move(b *ir.Block) bool {
	if len(s.to) == 0 {
		return false
	}
	for _, e := range b.Term.To {
		var moved []*ir.Value
		b.Values = slices.DeleteFunc(b.Values, func(v *ir.Value) bool {
			if s.to[v] != e.Block {
				return false
			}
			moved = append(moved, v)
			return true
		})
		e.Block.Values = slices.Concat(moved, e.Block.Values)
		for _, v := range moved {
			v.Block = e.Block
			s.moveUses(v)
		}
	}
	return true
}

// moveUses notes where v uses its operands now.
func (s *readSinker) moveUses(v *ir.Value) {
	for _, a := range v.Args {
		for i := range s.users[a.ID] {
			if s.users[a.ID][i].v == v {
				s.users[a.ID][i].b = v.Block
			}
		}
	}
}
