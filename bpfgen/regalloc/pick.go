package regalloc

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// Which register a value gets, and which value loses its own (is spilled).

// The order in which registers are tried. Arguments of calls are filled from
// R1 on, so what is not meant for a call starts at the other end; R0 comes
// late because the next call's result wants it.
var (
	tryShort = [...]Reg{5, 4, 3, 2, 1, 0, 9, 8, 7, 6}
	tryLong  = [...]Reg{6, 7, 8, 9, 5, 4, 3, 2, 1, 0}
)

// anySaved is the hint for a value out of which, in the same register, one
// becomes that lives across a call.
const anySaved Reg = numRegs

// pick gives a register out of allowed for v and empties it: one that v is
// meant for, a free one, or that whose value is needed last.
func (s *state) pick(v *ir.Value, allowed regs) Reg {
	allowed &^= s.pinned
	free := s.free() & allowed
	if h := s.hint[v.ID]; free.has(h) && (!s.crosses[v.ID] || calleeSaved.has(h)) {
		return h
	}
	try := s.tries(v)
	best := NoReg
	for _, r := range try {
		if !free.has(r) {
			continue
		}
		if best == NoReg {
			best = r
		}
		if !s.wanted(r, v) {
			best = r
			break
		}
	}
	if best == NoReg {
		best = s.victim(allowed)
		s.evict(best)
	}
	return best
}

// tries gives the order in which to try registers for v.
func (s *state) tries(v *ir.Value) *[numRegs]Reg {
	if s.crosses[v.ID] || s.hint[v.ID] == anySaved {
		return &tryLong
	}
	return &tryShort
}

// wanted reports whether a value that is live now, but not in r, is meant for r.
func (s *state) wanted(r Reg, not *ir.Value) bool {
	if calleeSaved.has(r) {
		return false
	}
	for _, v := range s.reg {
		if v != nil && v != not && s.hint[v.ID] == r && !s.where[v.ID].has(r) {
			return true
		}
	}
	return false
}

// victim gives the register out of allowed whose loss costs least.
func (s *state) victim(allowed regs) Reg {
	best, bestCost := NoReg, 0
	for r := Reg(0); r < numRegs; r++ {
		if !allowed.has(r) {
			continue
		}
		if c := s.lossCost(s.reg[r], r); best == NoReg || c < bestCost {
			best, bestCost = r, c
		}
	}
	return best
}

// lossCost says how bad it is if r loses v: higher is worse. What is needed
// late is cheap, what is elsewhere too or can be made again is cheaper.
func (s *state) lossCost(v *ir.Value, r Reg) int {
	if v == nil {
		return -1 << 40
	}
	at, live := s.nextUse(v)
	switch {
	case !live, s.where[v.ID] != bit(r):
		return -1 << 40
	case isMade(v), s.spilled[v.ID]:
		return -4 * at
	}
	return -at
}

// ensure brings v into a register out of allowed and gives it.
func (s *state) ensure(v *ir.Value, allowed regs) Reg {
	if in := s.where[v.ID] & allowed; in != 0 {
		return in.first()
	}
	src := s.where[v.ID]
	s.pinned |= src
	r := s.pick(v, allowed)
	s.pinned &^= src
	s.bring(v, r)
	s.assign(r, v)
	return r
}

// bring emits what puts v into r, which is free.
func (s *state) bring(v *ir.Value, r Reg) {
	switch in := s.where[v.ID]; {
	case in != 0 && !(isMade(v) && makeCost(v) == 1):
		s.emit(Step{Kind: Move, Value: v, Dst: r, Src: in.first()})
	case isMade(v):
		s.emit(Step{Kind: Make, Value: v, Dst: r, Src: NoReg})
	default:
		s.noteLoad(v, s.b)
		s.emit(Step{Kind: Load, Value: v, Dst: r, Src: NoReg})
	}
}

func (s *state) emit(st Step) { s.steps = append(s.steps, st) }

// define notes that v, if anything uses it, is in r.
func (s *state) define(v *ir.Value, r Reg) {
	if len(s.uses[v.ID]) > 0 {
		s.assign(r, v)
	}
}

// vacate empties r, which an instruction needs; its value moves if there is
// room.
func (s *state) vacate(r Reg) {
	v := s.reg[r]
	if v == nil {
		return
	}
	keep := s.where[v.ID] == bit(r) && !isMade(v) && !s.spilled[v.ID]
	if to := s.free() &^ s.pinned &^ bit(r); keep && to != 0 {
		if up := to & calleeSaved; s.crosses[v.ID] && up != 0 {
			to = up
		}
		s.bring(v, to.first())
		s.assign(to.first(), v)
	}
	s.evict(r)
}
