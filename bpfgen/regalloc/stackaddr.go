package regalloc

import "github.com/startrace/startrace/bpfgen/ir"

// Which values are addresses on the stack: the verifier wants them to be the operand that an addition overwrites.
//
// Of an addition "scalar += address" the kernel's verifier takes over the kind of the address, but not the frame that
// it points into (adjust_ptr_min_max_vals of kernel/bpf/verifier.c, seen on 6.18): the result is an address on the
// stack of whichever frame the register was of before, most often that of the main program. A subprogram is then
// refused ("invalid size of register fill"), or, worse, what it stores is believed to be elsewhere. So an addition
// overwrites the address:
//
//	R5 = R10; R5 += -80; R5 += R8     the byte R8 of this frame's fp-80
//	R5 = R10; R5 += -80; R8 += R5     that of the main program's, as the verifier sees it
//
// The form does not say which values are addresses. Those of slots are, and what is added to them. An argument of a
// subprogram can be one, and what it loads; of these the compiler gives the address first.

// findStackAddrs fills onStack and maybeOnStack.
func (s *flow) findStackAddrs() {
	given := false
	for _, e := range s.entry {
		given = given || e.v.Op == ir.OpArg
	}
	s.onStack = s.derived(func(o ir.Op) bool { return o == ir.OpSlot })
	s.maybeOnStack = s.onStack
	if given {
		s.maybeOnStack = s.derived(func(o ir.Op) bool { return o == ir.OpSlot || o == ir.OpArg || o == ir.OpLoad64 })
	}
}

// derived gives, by value, what comes of results of the ops that are a source: by additions, and by parameters.
func (s *flow) derived(source func(ir.Op) bool) []bool {
	in := make([]bool, s.f.NumValues())
	for changed := true; changed; {
		changed = false
		add := func(v *ir.Value) {
			changed = changed || !in[v.ID]
			in[v.ID] = true
		}
		for _, b := range s.order {
			s.derivedParams(b, in, add)
			for _, v := range b.Values {
				if source(v.Op) || v.Op == ir.OpAdd && anyOf(in, v.Args) {
					add(v)
				}
			}
		}
	}
	return in
}

// derivedParams calls add for the parameters of b that an edge gives a value of in.
func (s *flow) derivedParams(b *ir.Block, in []bool, add func(*ir.Value)) {
	for _, p := range s.preds[b.ID] {
		for i, a := range p.Edge().Args {
			if in[a.ID] {
				add(b.Params[i])
			}
		}
	}
}

// anyOf reports whether one of vs is in the set.
func anyOf(in []bool, vs []*ir.Value) bool {
	for _, v := range vs {
		if in[v.ID] {
			return true
		}
	}
	return false
}

// addressOf gives the operand of v, an addition of two values, that it has to overwrite because it is an address on
// the stack, or can be; -1 where it may overwrite either.
func (s *flow) addressOf(v *ir.Value) int {
	switch {
	case v.Op != ir.OpAdd || len(v.Args) != 2:
		return -1
	case s.onStack[v.Args[1].ID] && !s.onStack[v.Args[0].ID]:
		return 1
	case s.maybeOnStack[v.Args[0].ID]:
		return 0
	}
	return -1
}
