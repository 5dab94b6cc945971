package regalloc

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// Registers within one block, instruction by instruction: which operand may be overwritten, cmpxchg, terminators.

// block allocates b, whose predecessors but for back edges are done.
func (s *state) block(b *ir.Block) {
	s.b, s.steps, s.pinned = b, nil, 0
	for r := range s.reg {
		s.clear(Reg(r))
	}
	s.prepareUses(b)
	s.enter(b)
	for i, v := range b.Values {
		if !s.skipped(v) {
			s.instruction(i, v)
			s.operands(v, func(_ int, a *ir.Value) { s.dropUses(a, i) })
		}
		s.passed(i)
	}
	s.terminator(b)
	s.leave(b)
}

// prepareUses fills uses and hint, backwards.
func (s *state) prepareUses(b *ir.Block) {
	for _, v := range s.live {
		s.uses[v.ID] = s.uses[v.ID][:0]
		s.hint[v.ID] = NoReg
	}
	s.live = s.live[:0]
	n := len(b.Values)
	for _, x := range s.liveOut[b.ID] {
		s.use(x.v, n+1+x.dist)
	}
	s.edgeHints(b)
	s.termOperands(&b.Term, func(a *ir.Value) {
		s.use(a, n)
		if b.Term.Kind == ir.Ret {
			s.hint[a.ID] = 0
		}
	})
	for i := n - 1; i >= 0; i-- {
		if v := b.Values[i]; !s.skipped(v) {
			s.useHints(i, v)
		}
	}
}

// use notes a use of v at place i, in front of those noted.
func (s *state) use(v *ir.Value, i int) {
	u := s.uses[v.ID]
	if len(u) == 0 {
		s.live = append(s.live, v)
		s.hint[v.ID] = NoReg
	}
	if len(u) == 0 || u[len(u)-1] != i {
		s.uses[v.ID] = append(u, i)
	}
}

// edgeHints wishes that what goes to a parameter is where the parameter is.
func (s *state) edgeHints(b *ir.Block) {
	for i := range b.Term.To {
		e := &b.Term.To[i]
		for k, p := range e.Block.Params {
			a := s.canon(e.Args[k])
			switch {
			case !s.used[p.ID] || isMade(a):
			case s.wish[p.ID] != NoReg && (!s.crosses[p.ID] || calleeSaved.has(s.wish[p.ID])):
				s.hint[a.ID] = s.wish[p.ID]
			case s.crosses[p.ID]:
				s.hint[a.ID] = anySaved
			}
		}
	}
}

// useHints notes the uses of v's operands, and the registers that v wants
// them in.
func (s *state) useHints(i int, v *ir.Value) {
	t := tied(v)
	s.operands(v, func(k int, a *ir.Value) {
		last := len(s.uses[a.ID]) == 0
		s.use(a, i)
		switch {
		case v.Op == ir.OpCall:
			s.hint[a.ID] = Reg(k + 1)
		case v.Op == ir.OpCmpXchg64 && k == 1:
			s.hint[a.ID] = 0
		case k == t && last && s.crosses[v.ID]:
			s.hint[a.ID] = anySaved
		case k == t && last && len(s.uses[v.ID]) > 0:
			s.hint[a.ID] = s.hint[v.ID]
		}
	})
}

// instruction allocates v, instruction i.
func (s *state) instruction(i int, v *ir.Value) {
	switch {
	case v.Op == ir.OpCall:
		s.call(i, v)
	case v.Op == ir.OpCmpXchg64:
		s.cmpXchg(i, v)
	case tied(v) >= 0:
		s.twoOperand(i, v)
	default:
		s.plain(i, v)
	}
	s.pinned = 0
}

// plain allocates an instruction whose result may be anywhere.
func (s *state) plain(i int, v *ir.Value) {
	args := noArgs()
	s.operands(v, func(k int, a *ir.Value) {
		args[k] = s.ensure(a, allRegs)
		s.pinned |= bit(args[k])
	})
	st := Step{Kind: Exec, Value: v, Dst: NoReg, Src: NoReg, Args: args}
	s.passed(i)
	s.pinned = 0
	if v.Op.HasResult() {
		st.Dst = s.pick(v, allRegs)
	}
	s.emit(st)
	if v.Op.HasResult() {
		s.define(v, st.Dst)
	}
}

// twoOperand allocates an instruction that overwrites an operand.
func (s *state) twoOperand(i int, v *ir.Value) {
	args := noArgs()
	t := tied(v)
	x, other := s.canon(v.Args[t]), -1
	s.operands(v, func(k int, _ *ir.Value) {
		if k != t {
			other = k
		}
	})
	if other >= 0 && s.betterSwapped(i, v) {
		t, other = other, t
		x = s.canon(v.Args[t])
	}
	if other >= 0 {
		y := s.canon(v.Args[other])
		s.pinned |= s.where[x.ID]
		args[other] = s.ensure(y, allRegs)
		s.pinned = bit(args[other])
	}
	dst := s.overwritable(i, v, x, args)
	args[t] = dst
	if v.Op.IsCommutative() && t == 1 {
		args[0], args[1] = args[1], args[0]
	}
	s.emit(Step{Kind: Exec, Value: v, Dst: dst, Src: NoReg, Args: args})
	s.clear(dst)
	s.passed(i)
	s.define(v, dst)
}

// overwritable gives a register that holds x and that v may overwrite.
func (s *state) overwritable(i int, v, x *ir.Value, args [5]Reg) Reg {
	in := s.where[x.ID]
	var other regs
	for _, r := range args {
		other |= bit(r)
	}
	// The value to exchange must not be in the register of the address.
	usable := in
	if v.Op == ir.OpXchg64 {
		usable &^= other
	}
	if usable != 0 && (!s.usedAfter(x, i) || usable != usable&-usable) {
		if h := s.hint[v.ID]; usable.has(h) {
			return h
		}
		return usable.first()
	}
	s.pinned |= in | other
	r := s.pick(v, allRegs)
	s.bring(x, r)
	return r
}

// betterSwapped reports whether v, which commutes, should overwrite its
// second operand: that is an address on the stack, or it dies here and the
// first does not, or has to be made.
func (s *state) betterSwapped(i int, v *ir.Value) bool {
	if !v.Op.IsCommutative() {
		return false
	}
	if t := s.addressOf(v); t >= 0 {
		return t == 1
	}
	x, y := s.canon(v.Args[0]), s.canon(v.Args[1])
	if x == y || s.where[y.ID] == 0 || s.usedAfter(y, i) {
		return false
	}
	return s.usedAfter(x, i) || s.where[x.ID] == 0
}

// cmpXchg allocates a compare and exchange: R0 is what is expected and what
// was there.
func (s *state) cmpXchg(i int, v *ir.Value) {
	args := noArgs()
	expected := s.canon(v.Args[1])
	s.operands(v, func(k int, a *ir.Value) {
		if k != 1 {
			args[k] = s.ensure(a, allRegs&^bit(0))
			s.pinned |= bit(args[k])
		}
	})
	if s.reg[0] != expected {
		s.pinned |= s.where[expected.ID]
		s.vacate(0)
		s.bring(expected, 0)
	} else if s.usedAfter(expected, i) && s.where[expected.ID] == bit(0) {
		s.vacate(0)
	}
	args[1] = 0
	s.emit(Step{Kind: Exec, Value: v, Dst: 0, Src: NoReg, Args: args})
	s.clear(0)
	s.passed(i)
	s.define(v, 0)
}

// terminator allocates the operands of b's terminator.
func (s *state) terminator(b *ir.Block) {
	c := &s.code[b.ID]
	c.X, c.Y = NoReg, NoReg
	t := &b.Term
	switch {
	case t.Kind == ir.Ret && t.X != nil:
		if x := s.canon(t.X); !s.where[x.ID].has(0) {
			s.bring(x, 0)
		}
		c.X = 0
	case t.Kind == ir.Branch:
		c.X = s.ensure(s.canon(t.X), allRegs)
		s.pinned |= bit(c.X)
		if !FoldedY(t) {
			c.Y = s.ensure(s.canon(t.Y), allRegs)
		}
	}
	s.passed(len(b.Values))
}

// leave notes the registers at the end of b.
func (s *state) leave(b *ir.Block) {
	s.code[b.ID].Steps = s.steps
	s.end[b.ID] = s.reg
	for i := range b.Term.To {
		e := &b.Term.To[i]
		for k, p := range e.Block.Params {
			in := s.where[s.canon(e.Args[k]).ID]
			if s.wish[p.ID] == NoReg && in != 0 {
				s.wish[p.ID] = in.first()
			}
		}
	}
}
