package regalloc

import "github.com/startrace/startrace/bpfgen/ir"

// What is known of a function before registers are given: order, how often blocks run, loops with calls.

// flow is what the allocator knows of a function before it gives registers: the order of the blocks, how often they
// run, and which values are needed where. Nothing of it changes after analyse.
type flow struct {
	// f is the function that gets registers.
	f *ir.Func
	// order has the blocks that can be reached, dominators first.
	order []*ir.Block
	place []int // by block: index in order
	// preds has, by block, the edges that lead to it.
	preds [][]ir.Pred
	// freq is, by block, an estimate of how often it runs; 1 for the entry.
	freq []float64
	ctx  *ir.Value // stands for every OpCtx; nil if there is none
	// entry are the values that are given to the function in registers: the context, or arguments.
	entry []entryValue

	// used says, by value, whether anything needs it.
	used    []bool
	crosses []bool // by value: live across a call
	// liveIn and liveOut are, by block, what is live at its start and at its end.
	liveIn, liveOut [][]liveValue
	callInLoop      []bool // by block: it heads a loop with a call
	// onStack and maybeOnStack say, by value, whether it is an address on the stack, and whether it can be one.
	onStack, maybeOnStack []bool
}

// An entryValue is in a register when the function begins.
type entryValue struct {
	v   *ir.Value
	reg Reg
}

// findEntry finds what the function is given, and picks the value that stands
// for the context.
func (s *flow) findEntry() {
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
func (s *flow) canon(v *ir.Value) *ir.Value {
	if v.Op == ir.OpCtx {
		return s.ctx
	}
	return v
}

// isBackEdge reports whether the edge p to b goes against the order.
func (s *flow) isBackEdge(p ir.Pred, b *ir.Block) bool {
	return s.place[p.Block.ID] >= s.place[b.ID]
}

// computeFreq estimates how often blocks run: likely ways nine times in ten,
// loops ten times.
func (s *flow) computeFreq() {
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

func (s *flow) edgeFreq(p ir.Pred) float64 {
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
func (s *flow) findLoops() {
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

// A liveValue is live somewhere; dist is the distance to its next use, in
// instructions, where ways that are unlikely count as longer.
type liveValue struct {
	v    *ir.Value
	dist int
}
