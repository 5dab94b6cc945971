package regalloc

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Where spilled values lie on the stack; values that never live together share a slot.

// colourSlots gives spilled values numbers of slots; values that are never
// live together may share one.
func (s *state) colourSlots() {
	conflicts := map[*ir.Value][]*ir.Value{}
	var spilled []*ir.Value
	clash := func(v *ir.Value, l *liveSet) {
		if !s.spilled[v.ID] {
			return
		}
		spilled = append(spilled, v)
		for _, x := range l.list {
			if x.v != v && s.spilled[x.v.ID] {
				conflicts[v] = append(conflicts[v], x.v)
				conflicts[x.v] = append(conflicts[x.v], v)
			}
		}
	}
	var l liveSet
	for _, b := range s.order {
		l.reset(s.f.NumValues())
		for _, x := range s.liveOut[b.ID] {
			l.add(x.v, 0)
		}
		s.termOperands(&b.Term, func(a *ir.Value) { l.add(a, 0) })
		for _, v := range slices.Backward(b.Values) {
			if s.skipped(v) {
				continue
			}
			l.remove(v)
			clash(v, &l)
			s.operands(v, func(_ int, a *ir.Value) { l.add(a, 0) })
		}
		for _, p := range b.Params {
			clash(p, &l)
		}
		if b == s.order[0] {
			for _, e := range s.entry {
				clash(e.v, &l)
			}
		}
	}
	for _, v := range spilled {
		s.slotOf[v.ID] = -1
	}
	for _, v := range spilled {
		s.slotOf[v.ID] = s.colour(v, conflicts[v])
		s.slots = max(s.slots, s.slotOf[v.ID]+1)
	}
	s.coloured = s.slots
}

// colour gives v a slot that none of others has; if it can, that of a value
// which an edge turns into v or v into.
func (s *state) colour(v *ir.Value, others []*ir.Value) int {
	taken := map[int]bool{}
	for _, o := range others {
		taken[s.slotOf[o.ID]] = true
	}
	for _, w := range s.related(v) {
		if c := s.slotOf[w.ID]; s.spilled[w.ID] && c >= 0 && !taken[c] {
			return c
		}
	}
	c := 0
	for taken[c] {
		c++
	}
	return c
}

// related gives the arguments of a parameter.
func (s *state) related(v *ir.Value) []*ir.Value {
	if v.Op != ir.OpParam {
		return nil
	}
	k := slices.Index(v.Block.Params, v)
	var args []*ir.Value
	for _, p := range s.preds[v.Block.ID] {
		args = append(args, s.canon(p.Edge().Args[k]))
	}
	return args
}

// finish inserts the stores to spill slots and lays out the stack.
func (s *state) finish() (*Allocation, error) {
	s.placeStores()
	a := &Allocation{Order: s.order, Freq: s.freq, Code: s.code}
	base, err := s.layout(a)
	if err != nil {
		return nil, err
	}
	place := func(steps []Step) {
		for i := range steps {
			if k := steps[i].Kind; k == Load || k == Store {
				steps[i].Off = -(base + 8*(steps[i].slot+1))
			}
		}
	}
	for _, b := range s.order {
		c := &s.code[b.ID]
		c.Steps = s.withStores(b)
		place(c.Steps)
		for _, e := range c.Edges {
			place(e)
		}
	}
	return a, nil
}

// withStores is the code of b with the stores to spill slots that belong in
// it: at its start, or behind a definition.
func (s *state) withStores(b *ir.Block) []Step {
	var out []Step
	store := func(v *ir.Value, r Reg) {
		out = append(out, Step{Kind: Store, Value: v, Dst: NoReg, Src: r, Args: noArgs(), slot: s.slotOf[v.ID]})
	}
	for _, p := range s.storeAtStart[b.ID] {
		store(p.v, p.reg)
	}
	for _, st := range s.code[b.ID].Steps {
		if st.Kind == Load {
			st.slot = s.slotOf[st.Value.ID]
		}
		out = append(out, st)
		if st.Kind == Exec && s.storeAtDef[st.Value] {
			store(st.Value, st.Dst)
		}
	}
	return out
}

// layout places the slots of the function that are in use, then those of
// spilled values; it gives the bytes of the former.
func (s *state) layout(a *Allocation) (int, error) {
	inUse := make([]bool, len(s.f.Slots))
	for _, b := range s.order {
		for at := range b.Operands() {
			if v := *at; v.Op == ir.OpSlot {
				inUse[v.Slot.ID] = true
			}
		}
	}
	a.SlotOffset = make([]int, len(inUse))
	sizes, total := make([]int, len(inUse)), 0
	for i, sl := range s.f.Slots {
		if inUse[i] {
			total += sl.Size
			sizes[i], a.SlotOffset[i] = sl.Size, -total
		}
	}
	a.Stack = total + 8*s.slots
	if a.Stack > MaxStack {
		return 0, &StackError{s.f.Name, a.Stack, sizes, s.slots}
	}
	return total, nil
}
