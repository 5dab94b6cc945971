package regalloc

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// What the allocator has decided so far, in the function and in the block at which it is.

// state is an allocation under construction: what the allocator has decided so far, and, in walk, of the block that
// it works on.
type state struct {
	flow // of the function, complete before the first decision

	code     []BlockCode          // by block
	spilled  []bool               // by value: has a spill slot
	slotOf   []int                // by value, once colourSlots ran
	slots    int                  // number of spill slots
	coloured int                  // those that belong to values; the rest is for moves
	loads    [][]*ir.Block        // by value: where it is loaded from its slot
	paramIn  []Reg                // by parameter: its register at the start of its block
	wish     []Reg                // by parameter: a register that an argument is in
	start    [][numRegs]*ir.Value // by block: what the registers hold at its start
	end      [][numRegs]*ir.Value // by block: what they hold at its end
	storePlan

	walk
}

// storePlan says where spilled values are stored: right behind their
// definitions, or from a register at the start of a block.
type storePlan struct {
	storeAtDef   map[*ir.Value]bool
	storeAtStart [][]startStore // by block
}

type startStore struct {
	v   *ir.Value
	reg Reg
}

// walk is the state within the block that is being worked on.
type walk struct {
	// b is that block.
	b *ir.Block
	// reg has, by register, the value that it holds; nil if it is free.
	reg   [numRegs]*ir.Value
	where []regs  // by value
	hint  []Reg   // by value, for its definition in this block
	uses  [][]int // by value: places of uses in this block, the next one last
	// live are the values with a use in this block or behind it.
	live []*ir.Value
	// steps are what the block has become so far.
	steps  []Step
	pinned regs // not to be taken from their values now
}

func newState(f flow) *state {
	nb, nv := f.f.NumBlocks(), f.f.NumValues()
	s := &state{
		flow: f, code: make([]BlockCode, nb), spilled: make([]bool, nv), slotOf: make([]int, nv),
		loads: make([][]*ir.Block, nv), paramIn: make([]Reg, nv), wish: make([]Reg, nv),
		start: make([][numRegs]*ir.Value, nb), end: make([][numRegs]*ir.Value, nb),
	}
	s.where, s.hint, s.uses = make([]regs, nv), make([]Reg, nv), make([][]int, nv)
	for i := range s.wish {
		s.wish[i], s.hint[i], s.paramIn[i] = NoReg, NoReg, NoReg
	}
	return s
}

// nextUse is the place of the next use of v in this block or behind it.
func (s *state) nextUse(v *ir.Value) (at int, live bool) {
	u := s.uses[v.ID]
	if len(u) == 0 {
		return 0, false
	}
	return u[len(u)-1], true
}

// usedAfter reports whether v has a use behind instruction i.
func (s *state) usedAfter(v *ir.Value, i int) bool {
	u := s.uses[v.ID]
	return len(u) > 0 && u[0] > i
}

// nextUseAfter is the place of the first use of v behind instruction i, which
// must exist.
func (s *state) nextUseAfter(v *ir.Value, i int) int {
	u := s.uses[v.ID]
	for k := len(u) - 1; k >= 0; k-- {
		if u[k] > i {
			return u[k]
		}
	}
	return u[0]
}

// passed forgets the uses of instruction i and frees what is dead then.
func (s *state) passed(i int) {
	for r, v := range s.reg {
		if v == nil {
			continue
		}
		s.dropUses(v, i)
		if len(s.uses[v.ID]) == 0 {
			s.clear(Reg(r))
		}
	}
}

func (s *state) dropUses(v *ir.Value, i int) {
	u := s.uses[v.ID]
	for len(u) > 0 && u[len(u)-1] <= i {
		u = u[:len(u)-1]
	}
	s.uses[v.ID] = u
}

// assign notes that r holds v from now on.
func (s *state) assign(r Reg, v *ir.Value) {
	s.clear(r)
	s.reg[r] = v
	s.where[v.ID] |= bit(r)
}

// clear notes that r holds nothing that is known.
func (s *state) clear(r Reg) {
	if v := s.reg[r]; v != nil {
		s.where[v.ID] &^= bit(r)
		s.reg[r] = nil
	}
}

// evict takes r from its value, which from now on may live in memory only.
func (s *state) evict(r Reg) {
	v := s.reg[r]
	if v == nil {
		return
	}
	s.clear(r)
	if _, live := s.nextUse(v); live && s.where[v.ID] == 0 && !isMade(v) {
		s.spilled[v.ID] = true
	}
}

// free is the set of registers that hold nothing.
func (s *state) free() regs {
	var m regs
	for r, v := range s.reg {
		if v == nil {
			m |= bit(Reg(r))
		}
	}
	return m
}
