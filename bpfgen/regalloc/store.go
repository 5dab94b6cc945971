package regalloc

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// When a spilled value is stored: behind its definition, or later where only some ways need it.

// noteLoad notes that v is loaded from its slot in b or on an edge from it.
func (s *state) noteLoad(v *ir.Value, b *ir.Block) {
	s.spilled[v.ID] = true
	if !slices.Contains(s.loads[v.ID], b) {
		s.loads[v.ID] = append(s.loads[v.ID], b)
	}
}

// placeStores chooses the place of the store for each value that is loaded.
// Parameters without a register are stored by the edges.
func (s *state) placeStores() {
	s.storeAtDef = map[*ir.Value]bool{}
	s.storeAtStart = make([][]startStore, s.f.NumBlocks())
	dom := s.f.Dominators(s.order)
	for _, b := range s.order {
		for _, p := range b.Params {
			if s.paramIn[p.ID] != NoReg {
				s.placeStore(dom, p)
			}
		}
		for _, v := range b.Values {
			if v.Op != ir.OpCtx || v == s.ctx {
				s.placeStore(dom, v)
			}
		}
	}
}

// placeStore walks up the dominators from the nearest one of all loads of v,
// to the first block that has v in a register at its start and does not run
// more often than the definition.
func (s *state) placeStore(dom *ir.DomTree, v *ir.Value) {
	if len(s.loads[v.ID]) == 0 {
		return
	}
	def := v.Block
	if v == s.ctx {
		def = s.order[0]
	}
	at := s.loads[v.ID][0]
	for _, b := range s.loads[v.ID][1:] {
		at = dom.Meet(at, b)
	}
	for ; at != def; at = dom.Idom(at) {
		r := slices.Index(s.start[at.ID][:], v)
		if r >= 0 && s.freq[at.ID] <= s.freq[def.ID] {
			s.storeAtStart[at.ID] = append(s.storeAtStart[at.ID], startStore{v, Reg(r)})
			return
		}
	}
	if v.Op != ir.OpParam && !isGiven(v) {
		s.storeAtDef[v] = true
		return
	}
	r := slices.Index(s.start[def.ID][:], v)
	s.storeAtStart[def.ID] = append(s.storeAtStart[def.ID], startStore{v, Reg(r)})
}
