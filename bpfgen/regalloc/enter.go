package regalloc

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Which values are in which registers where a block begins.

// enter decides which values are in which registers at the start of b. What
// is live and gets no register must be in memory.
func (s *state) enter(b *ir.Block) {
	switch {
	case b == s.order[0]:
		for _, e := range s.entry {
			if len(s.uses[e.v.ID]) > 0 {
				s.assign(e.reg, e.v)
			}
		}
	default:
		s.inherit(b)
		s.placeParams(b)
	}
	for _, x := range s.liveIn[b.ID] {
		if s.where[x.v.ID] == 0 && !isMade(x.v) {
			s.spilled[x.v.ID] = true
		}
	}
	s.start[b.ID] = s.reg
}

// inherit takes over the registers of the most frequent predecessor.
func (s *state) inherit(b *ir.Block) {
	from, loop := ir.Pred{}, false
	for _, p := range s.preds[b.ID] {
		if s.isBackEdge(p, b) {
			loop = true
			continue
		}
		if from.Block == nil || s.edgeFreq(p) > s.edgeFreq(from) {
			from = p
		}
	}
	regs := &s.end[from.Block.ID]
	isLive := make(map[*ir.Value]bool, len(s.liveIn[b.ID]))
	for _, x := range s.liveIn[b.ID] {
		isLive[x.v] = true
	}
	// R6–R9 first: a value that is there too needs no other.
	for r := Reg(numRegs - 1); r >= 0; r-- {
		v := regs[r]
		if v == nil || !isLive[v] || s.where[v.ID] != 0 {
			continue
		}
		if isMade(v) && (loop || !s.everywhere(b, r, v)) || s.mostlyInMemory(b, v) {
			continue
		}
		s.assign(s.usualReg(b, r, v, func(q Reg) bool {
			w := regs[q]
			return w == nil || !isLive[w] || s.where[w.ID] != 0
		}), v)
	}
	if loop && s.callInLoop[b.ID] {
		s.clearForLoop()
	}
}

// usualReg is the register in which v comes to b most often, if that is free and no other value may want it; else r.
func (s *state) usualReg(b *ir.Block, r Reg, v *ir.Value, unwanted func(Reg) bool) Reg {
	var often [numRegs]float64
	for _, p := range s.preds[b.ID] {
		if s.isBackEdge(p, b) {
			continue
		}
		for q, w := range s.end[p.Block.ID] {
			if w == v {
				often[q] += s.edgeFreq(p)
			}
		}
	}
	best := r
	for q := range Reg(numRegs) {
		if often[q] > often[best] && s.free().has(q) && unwanted(q) {
			best = q
		}
	}
	return best
}

// mostlyInMemory reports whether v has a slot of the stack and lies only there at the ends of most predecessors of b:
// each of them would have to load it, also where nothing behind b uses it soon.
func (s *state) mostlyInMemory(b *ir.Block, v *ir.Value) bool {
	if !s.spilled[v.ID] {
		return false
	}
	with, without := 0, 0
	for _, p := range s.preds[b.ID] {
		switch {
		case s.isBackEdge(p, b):
		case slices.Contains(s.end[p.Block.ID][:], v):
			with++
		default:
			without++
		}
	}
	return without > with
}

// everywhere reports whether all predecessors of b leave v in r.
func (s *state) everywhere(b *ir.Block, r Reg, v *ir.Value) bool {
	for _, p := range s.preds[b.ID] {
		if s.end[p.Block.ID][r] != v {
			return false
		}
	}
	return true
}

// clearForLoop leaves nothing in R0–R5 at the head of a loop with calls:
// each turn would have to load it again.
func (s *state) clearForLoop() {
	for r := Reg(0); r < 6; r++ {
		v := s.reg[r]
		if v == nil {
			continue
		}
		s.clear(r)
		if free := s.free() & calleeSaved; free != 0 {
			s.assign(free.first(), v)
		}
	}
}

// placeParams gives registers to the parameters of b: where an argument is
// already, or any that is free; a parameter that gets none is in memory.
func (s *state) placeParams(b *ir.Block) {
	for k, p := range b.Params {
		if !s.used[p.ID] || len(s.uses[p.ID]) == 0 {
			continue
		}
		r := s.paramReg(b, k, p)
		s.paramIn[p.ID] = r
		s.wish[p.ID] = r
		if r != NoReg {
			s.assign(r, p)
		}
	}
}

func (s *state) paramReg(b *ir.Block, k int, p *ir.Value) Reg {
	free := s.free()
	good := free
	if s.crosses[p.ID] && free&calleeSaved != 0 {
		good = free & calleeSaved
	}
	best, bestFreq := NoReg, 0.0
	for _, pred := range s.preds[b.ID] {
		if s.isBackEdge(pred, b) {
			continue
		}
		a := s.canon(pred.Edge().Args[k])
		for r := Reg(0); r < numRegs; r++ {
			if f := s.edgeFreq(pred); good.has(r) && s.end[pred.Block.ID][r] == a && f > bestFreq {
				best, bestFreq = r, f
			}
		}
	}
	switch {
	case best != NoReg:
		return best
	case good.has(s.hint[p.ID]):
		return s.hint[p.ID]
	}
	for _, r := range s.tries(p) {
		if good.has(r) {
			return r
		}
	}
	return NoReg
}
