package regalloc

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Calls of helpers: what must survive goes to R6–R9 or memory, arguments to R1–R5.

// call allocates a call of a helper: what must survive goes to R6–R9 or has
// its place in memory, the arguments go to R1–R5, all at once.
func (s *state) call(i int, v *ir.Value) {
	m := mover{keep: s.survivors(i)}
	after := s.rescue(i, &m)
	st := Step{Kind: Exec, Value: v, Dst: 0, Src: NoReg, Args: noArgs()}
	for k := range v.Args {
		a := s.canon(v.Args[k])
		st.Args[k] = Reg(k + 1)
		m.todo = append(m.todo, transfer{loc(k + 1), s.source(a, Reg(k+1)), a})
	}
	s.steps = append(s.steps, m.run()...)
	for r := range s.reg {
		s.clear(Reg(r))
	}
	for r, w := range after {
		if w != nil {
			s.assign(Reg(r), w)
		}
	}
	s.emit(st)
	s.passed(i)
	s.define(v, 0)
}

// survivors is the set of R6–R9 that hold what is needed behind the call i.
func (s *state) survivors(i int) regs {
	var m regs
	for r := Reg(6); r < numRegs; r++ {
		if v := s.reg[r]; v != nil && s.usedAfter(v, i) {
			m |= bit(r)
		}
	}
	return m
}

// rescue decides what R6–R9 hold behind call i, and adds the moves there.
func (s *state) rescue(i int, m *mover) (after [numRegs]*ir.Value) {
	for r := Reg(6); r < numRegs; r++ {
		if m.keep.has(r) {
			after[r] = s.reg[r]
		}
	}
	for _, v := range s.endangered(i) {
		r := s.shelter(i, v, &after)
		if r == NoReg {
			s.spilled[v.ID] = true
			continue
		}
		after[r] = v
		m.keep &^= bit(r)
		displaced := func(t transfer) bool { return t.dst == loc(r) } // what was to be saved there until now
		m.todo = slices.DeleteFunc(m.todo, displaced)
		m.todo = append(m.todo, transfer{loc(r), loc(s.where[v.ID].first()), v})
	}
	return after
}

// endangered gives what is needed behind call i and is only in R0–R5; what is
// needed first comes first.
func (s *state) endangered(i int) []*ir.Value {
	var list []*ir.Value
	for r := Reg(0); r < 6; r++ {
		v := s.reg[r]
		if v == nil || isMade(v) || !s.usedAfter(v, i) || s.where[v.ID]&calleeSaved != 0 || slices.Contains(list, v) {
			continue
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b *ir.Value) int {
		return s.nextUseAfter(a, i) - s.nextUseAfter(b, i)
	})
	return list
}

// shelter gives one of R6–R9 for v: an empty one, or one whose value is
// needed later than v or costs nothing to lose; that loses it.
func (s *state) shelter(i int, v *ir.Value, after *[numRegs]*ir.Value) Reg {
	best, bestAt := NoReg, s.nextUseAfter(v, i)
	if s.spilled[v.ID] {
		bestAt *= 4 // it has its place in memory already
	}
	for r := Reg(6); r < numRegs; r++ {
		w := after[r]
		if w == nil || isMade(w) {
			after[r] = nil
			return r
		}
		at := s.nextUseAfter(w, i)
		if s.spilled[w.ID] {
			at *= 4
		}
		if at > bestAt {
			best, bestAt = r, at
		}
	}
	if best != NoReg {
		w := after[best]
		after[best] = nil
		if !slices.Contains(after[6:], w) {
			s.spilled[w.ID] = true
		}
	}
	return best
}

// source gives where v is best taken from to get to dst.
func (s *state) source(v *ir.Value, dst Reg) loc {
	in := s.where[v.ID]
	switch {
	case in.has(dst):
		return loc(dst)
	case isMade(v) && (in == 0 || makeCost(v) == 1):
		return nowhere
	case in != 0:
		return loc(in.first())
	}
	s.noteLoad(v, s.b)
	// The slot is not known yet: a place of its own for each value.
	return firstMem + loc(v.ID)
}
