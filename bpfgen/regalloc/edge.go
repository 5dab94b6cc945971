package regalloc

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Moves on edges between blocks.

// edge finds the moves for edge i of b: what its target expects in registers,
// and parameters that live in memory.
func (s *state) edge(b *ir.Block, i int) {
	to := b.Term.To[i].Block
	m := mover{spare: s.spareSlot}
	for r, v := range s.start[to.ID] {
		if v != nil {
			a := s.onEdge(b, i, v)
			m.todo = append(m.todo, transfer{loc(r), s.endSource(b, a, Reg(r)), a})
		}
	}
	for _, p := range to.Params {
		if s.spilled[p.ID] && s.paramIn[p.ID] == NoReg {
			a := s.onEdge(b, i, p)
			dst := firstMem + loc(s.slotOf[p.ID])
			m.todo = append(m.todo, transfer{dst, s.memSource(b, a, dst), a})
		}
	}
	s.code[b.ID].Edges = append(s.code[b.ID].Edges, m.run())
}

// onEdge gives the value that becomes v when edge i of b is taken.
func (s *state) onEdge(b *ir.Block, i int, v *ir.Value) *ir.Value {
	e := &b.Term.To[i]
	if v.Op != ir.OpParam || v.Block != e.Block {
		return v
	}
	return s.canon(e.Args[slices.Index(e.Block.Params, v)])
}

// endSource gives where v is at the end of b, for a move to register dst.
func (s *state) endSource(b *ir.Block, v *ir.Value, dst Reg) loc {
	end := &s.end[b.ID]
	if end[dst] == v {
		return loc(dst)
	}
	r := slices.Index(end[:], v)
	switch {
	case isMade(v) && (r < 0 || makeCost(v) == 1):
		return nowhere
	case r >= 0:
		return loc(r)
	}
	s.noteLoad(v, b)
	return firstMem + loc(s.slotOf[v.ID])
}

// memSource gives where v is at the end of b, for a move to the slot dst.
func (s *state) memSource(b *ir.Block, v *ir.Value, dst loc) loc {
	if s.spilled[v.ID] && firstMem+loc(s.slotOf[v.ID]) == dst {
		s.noteLoad(v, b) // its store must come before
		return dst
	}
	if r := slices.Index(s.end[b.ID][:], v); r >= 0 {
		return loc(r)
	}
	return s.endSource(b, v, 0)
}

// spareSlot gives a slot for breaking cycles.
func (s *state) spareSlot(which int) int {
	if s.slots <= s.coloured+which {
		s.slots = s.coloured + which + 1
	}
	return s.coloured + which
}
