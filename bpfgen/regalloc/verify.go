package regalloc

import (
	"fmt"
	"maps"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Verify, the check that an allocation gives each instruction the values that it wants.

// Verify executes an allocation symbolically: for each register and spill
// slot it follows which values of f it holds for certain, on all ways. It
// proves that instructions are executed in order and once, that their
// operands are where they take them from, and that the rules of the machine
// are kept. It shares no state with the allocator.
func Verify(f *ir.Func, a *Allocation) error {
	c := &verifier{f: f, a: a, in: map[*ir.Block]contents{}}
	entry := contents{}
	given := func(r int, v *ir.Value) {
		if entry[r] == nil {
			entry[r] = values{}
		}
		entry[r][v] = true
	}
	for _, b := range a.Order {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpCtx && c.ctx == nil:
				c.ctx = v
				given(1, v)
			case v.Op == ir.OpArg:
				given(int(v.Imm)+1, v)
			}
		}
	}
	c.in[a.Order[0]] = entry
	work := []*ir.Block{a.Order[0]}
	for len(work) > 0 {
		b := work[0]
		work = work[1:]
		next, err := c.block(b, true)
		if err != nil {
			return fmt.Errorf("regalloc: %s: %s: %w", f.Name, b, err)
		}
		work = append(work, next...)
	}
	for _, b := range a.Order {
		if _, err := c.block(b, false); err != nil {
			return fmt.Errorf("regalloc: %s: %s: %w", f.Name, b, err)
		}
	}
	return nil
}

// contents says what places hold: registers from 0, memory by its offset
// from R10, which is negative.
type contents map[int]values

// values is what one place holds: several values that are known to be equal.
type values map[*ir.Value]bool

func (c contents) put(place int, v values) {
	if len(v) == 0 {
		delete(c, place)
		return
	}
	c[place] = v
}

func (c contents) clone() contents {
	n := make(contents, len(c))
	for k, v := range c {
		n[k] = maps.Clone(v)
	}
	return n
}

// meet keeps in c what o holds too, and reports whether c changed.
func (c contents) meet(o contents) bool {
	changed := false
	for k, v := range c {
		for x := range v {
			if !o[k][x] {
				delete(v, x)
				changed = true
			}
		}
		if len(v) == 0 {
			delete(c, k)
		}
	}
	return changed
}

type verifier struct {
	f   *ir.Func
	a   *Allocation
	ctx *ir.Value
	in  map[*ir.Block]contents // at the start of a block, on all ways seen so far
}

func (c *verifier) canon(v *ir.Value) *ir.Value {
	if v.Op == ir.OpCtx {
		return c.ctx
	}
	return v
}

// block executes b. With update it gives the blocks whose start has changed.
// Faults are only certain when nothing changes any more, but what holds too
// little in the first round holds no more later.
func (c *verifier) block(b *ir.Block, update bool) ([]*ir.Block, error) {
	st, seen := c.in[b]
	if !seen {
		return nil, fmt.Errorf("not reached")
	}
	st = st.clone()
	code := &c.a.Code[b.ID]
	if err := c.inOrder(b, code.Steps); err != nil {
		return nil, err
	}
	for i, s := range code.Steps {
		if err := c.step(st, &s); err != nil {
			return nil, fmt.Errorf("step %d (%s): %w", i, s.String(), err)
		}
	}
	if err := c.terminator(st, b, code); err != nil {
		return nil, err
	}
	if len(code.Edges) != len(b.Term.To) {
		return nil, fmt.Errorf("moves for %d edges, want %d", len(code.Edges), len(b.Term.To))
	}
	var next []*ir.Block
	for i := range b.Term.To {
		changed, err := c.edge(st.clone(), &b.Term.To[i], code.Edges[i])
		if err != nil {
			return nil, fmt.Errorf("edge %d: %w", i, err)
		}
		if changed && update {
			next = append(next, b.Term.To[i].Block)
		}
	}
	return next, nil
}

func (c *verifier) edge(st contents, e *ir.Edge, steps []Step) (bool, error) {
	for i, s := range steps {
		if s.Kind == Exec {
			return false, fmt.Errorf("an instruction on an edge")
		}
		if err := c.step(st, &s); err != nil {
			return false, fmt.Errorf("step %d (%s): %w", i, s.String(), err)
		}
	}
	for place, vs := range st {
		now := values{}
		for v := range vs {
			if v.Op != ir.OpParam || v.Block != e.Block {
				now[v] = true
			}
		}
		for k, p := range e.Block.Params {
			if vs[c.canon(e.Args[k])] {
				now[p] = true
			}
		}
		st.put(place, now)
	}
	old, seen := c.in[e.Block]
	if !seen {
		c.in[e.Block] = st
		return true, nil
	}
	return old.meet(st), nil
}

// inOrder verifies that the instructions of b are executed once and in order,
// and that only those are left out which have no effect.
func (c *verifier) inOrder(b *ir.Block, steps []Step) error {
	i := 0
	for _, s := range steps {
		if s.Kind != Exec {
			continue
		}
		for i < len(b.Values) && b.Values[i] != s.Value {
			if b.Values[i].Op.HasEffect() {
				return fmt.Errorf("%s is not executed in its place", b.Values[i].LongString())
			}
			i++
		}
		if i == len(b.Values) {
			return fmt.Errorf("%s is executed out of order", s.Value.LongString())
		}
		i++
	}
	for ; i < len(b.Values); i++ {
		if b.Values[i].Op.HasEffect() {
			return fmt.Errorf("%s is not executed", b.Values[i].LongString())
		}
	}
	return nil
}

func (c *verifier) step(st contents, s *Step) error {
	switch s.Kind {
	case Exec:
		return c.exec(st, s)
	case Make:
		if !isMade(s.Value) {
			return fmt.Errorf("cannot be made")
		}
		st.put(int(s.Dst), values{s.Value: true})
		return nil
	}
	from, to := int(s.Src), int(s.Dst)
	if s.Kind == Load {
		from = s.Off
	}
	if s.Kind == Store {
		to = s.Off
	}
	if s.Kind != Move && !c.inSpillArea(s.Off) {
		return fmt.Errorf("offset %d is not in the area of spill slots", s.Off)
	}
	if len(st[from]) == 0 {
		return fmt.Errorf("takes what holds nothing")
	}
	if s.Value != nil && !st[from][s.Value] {
		return fmt.Errorf("%s is not there", s.Value)
	}
	st.put(to, maps.Clone(st[from]))
	return nil
}

func (c *verifier) inSpillArea(off int) bool {
	low := 0
	for _, o := range c.a.SlotOffset {
		low = min(low, o)
	}
	return off%8 == 0 && off < low && off >= -c.a.Stack
}

func (c *verifier) exec(st contents, s *Step) error {
	if err := c.args(st, s); err != nil {
		return err
	}
	if err := machineRules(s); err != nil {
		return err
	}
	v := s.Value
	if v.Op == ir.OpCall {
		for r := 0; r < 6; r++ {
			delete(st, r)
		}
	}
	if !v.Op.HasResult() {
		return nil
	}
	for place, vs := range st {
		delete(vs, v) // of the last turn of a loop
		st.put(place, vs)
	}
	st.put(int(s.Dst), values{v: true})
	return nil
}

// args verifies that the operands are in the registers named.
func (c *verifier) args(st contents, s *Step) error {
	v := s.Value
	want := slices.Clone(v.Args)
	if v.Op.IsCommutative() && len(want) == 2 && !Folded(v, 1) && !st[int(s.Args[0])][c.canon(want[0])] {
		want[0], want[1] = want[1], want[0]
	}
	for k, a := range want {
		r := s.Args[k]
		switch {
		case Folded(v, k):
			if r != NoReg {
				return fmt.Errorf("operand %d is part of the instruction", k)
			}
		case r < 0 || r >= numRegs || !st[int(r)][c.canon(a)]:
			return fmt.Errorf("operand %d, %s, is not in R%d", k, a, r)
		}
	}
	return nil
}

// machineRules verifies what the machine demands of the registers.
func machineRules(s *Step) error {
	v, ok := s.Value, true
	if v.Op.HasResult() && (s.Dst < 0 || s.Dst >= numRegs) {
		return fmt.Errorf("no register for the result")
	}
	if t := tied(v); t >= 0 {
		ok = s.Args[t] == s.Dst
	}
	switch v.Op {
	case ir.OpCall:
		ok = s.Dst == 0
		for k := range v.Args {
			ok = ok && s.Args[k] == Reg(k+1)
		}
	case ir.OpCmpXchg64:
		ok = s.Dst == 0 && s.Args[1] == 0 && s.Args[0] != 0 && s.Args[2] != 0
	case ir.OpXchg64:
		ok = ok && s.Args[0] != s.Dst
	}
	if !ok {
		return fmt.Errorf("the registers are not those of the instruction")
	}
	return nil
}

func (c *verifier) terminator(st contents, b *ir.Block, code *BlockCode) error {
	t := &b.Term
	if t.X != nil && !st[int(code.X)][c.canon(t.X)] {
		return fmt.Errorf("terminator: %s is not in R%d", t.X, code.X)
	}
	if t.Kind == ir.Ret && t.X != nil && code.X != 0 {
		return fmt.Errorf("the result is not in R0")
	}
	if t.Kind == ir.Branch && !FoldedY(t) && !st[int(code.Y)][c.canon(t.Y)] {
		return fmt.Errorf("terminator: %s is not in R%d", t.Y, code.Y)
	}
	return nil
}
