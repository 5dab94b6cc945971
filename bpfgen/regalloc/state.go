package regalloc

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// state is an allocation under construction.
type state struct {
	f     *ir.Func
	order []*ir.Block
	place []int // by block: index in order
	preds [][]ir.Pred
	freq  []float64 // by block
	ctx   *ir.Value // stands for every OpCtx; nil if there is none
	entry []entryValue

	used            []bool // by value
	crosses         []bool // by value: live across a call
	liveIn, liveOut [][]liveValue
	callInLoop      []bool // by block: it heads a loop with a call

	code     []BlockCode   // by block
	spilled  []bool        // by value: has a spill slot
	slotOf   []int         // by value, once colourSlots ran
	slots    int           // number of spill slots
	coloured int           // those that belong to values; the rest is for moves
	loads    [][]*ir.Block // by value: where it is loaded from its slot
	paramIn  []Reg         // by parameter: its register at the start of its block
	wish     []Reg         // by parameter: a register that an argument is in
	start    [][numRegs]*ir.Value
	storePlan
	end [][numRegs]*ir.Value

	walk
}

// walk is the state within a block.
type walk struct {
	b      *ir.Block
	reg    [numRegs]*ir.Value
	where  []regs  // by value
	hint   []Reg   // by value, for its definition in this block
	uses   [][]int // by value: places of uses in this block, the next one last
	live   []*ir.Value
	steps  []Step
	pinned regs // not to be taken from their values now
}

func newState(f *ir.Func) *state {
	nb, nv := f.NumBlocks(), f.NumValues()
	s := &state{
		f: f, order: f.Order(), place: make([]int, nb), freq: make([]float64, nb),
		used: make([]bool, nv), crosses: make([]bool, nv),
		liveIn: make([][]liveValue, nb), liveOut: make([][]liveValue, nb), callInLoop: make([]bool, nb),
		code: make([]BlockCode, nb), spilled: make([]bool, nv), slotOf: make([]int, nv),
		loads: make([][]*ir.Block, nv), paramIn: make([]Reg, nv), wish: make([]Reg, nv),
		start: make([][numRegs]*ir.Value, nb), end: make([][numRegs]*ir.Value, nb),
	}
	s.where, s.hint, s.uses = make([]regs, nv), make([]Reg, nv), make([][]int, nv)
	for i := range s.wish {
		s.wish[i], s.hint[i], s.paramIn[i] = NoReg, NoReg, NoReg
	}
	for i, b := range s.order {
		s.place[b.ID] = i
	}
	s.preds = f.Preds(s.order)
	s.findEntry()
	s.computeUsed()
	s.computeFreq()
	s.findLoops()
	return s
}

// An entryValue is in a register when the function begins.
type entryValue struct {
	v   *ir.Value
	reg Reg
}

// findEntry finds what the function is given, and picks the value that stands
// for the context.
func (s *state) findEntry() {
	for _, b := range s.order {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpCtx && s.ctx == nil:
				s.ctx = v
				s.entry = append(s.entry, entryValue{v, 1})
			case v.Op == ir.OpArg:
				s.entry = append(s.entry, entryValue{v, Reg(v.Imm) + 1})
			}
		}
	}
}

// isGiven reports whether v is in its register from the start.
func isGiven(v *ir.Value) bool { return v.Op == ir.OpCtx || v.Op == ir.OpArg }

// canon gives the value that the allocator works with in place of v.
func (s *state) canon(v *ir.Value) *ir.Value {
	if v.Op == ir.OpCtx {
		return s.ctx
	}
	return v
}

// isBackEdge reports whether the edge p to b goes against the order.
func (s *state) isBackEdge(p ir.Pred, b *ir.Block) bool {
	return s.place[p.Block.ID] >= s.place[b.ID]
}

// computeFreq estimates how often blocks run: likely ways nine times in ten,
// loops ten times.
func (s *state) computeFreq() {
	for i, b := range s.order {
		if i == 0 {
			s.freq[b.ID] = 1
		}
		sum, loop := s.freq[b.ID], false
		for _, p := range s.preds[b.ID] {
			if s.isBackEdge(p, b) {
				loop = true
				continue
			}
			sum += s.edgeFreq(p)
		}
		if loop {
			sum *= 10
		}
		s.freq[b.ID] = sum
	}
}

func (s *state) edgeFreq(p ir.Pred) float64 {
	f, t := s.freq[p.Block.ID], &p.Block.Term
	switch {
	case len(t.To) == 1:
		return f
	case t.Likely == 0:
		return f / 2
	case int(t.Likely) == p.Index+1:
		return f * 0.9
	}
	return f * 0.1
}

// findLoops fills callInLoop.
func (s *state) findLoops() {
	for _, l := range s.f.Loops(s.order) {
		for _, b := range l.Blocks {
			s.callInLoop[l.Head.ID] = s.callInLoop[l.Head.ID] || hasCall(b)
		}
	}
}

func hasCall(b *ir.Block) bool {
	for _, v := range b.Values {
		if v.Op == ir.OpCall {
			return true
		}
	}
	return false
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
