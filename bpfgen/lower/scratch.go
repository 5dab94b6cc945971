package lower

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Scratch memory of programs: how an entry for this CPU is claimed and released.
//
// Scratch memory is a per-CPU array of ScratchSlots entries {u64 busy; data}.
//
// Programs nest and are preempted, so "per CPU" does not mean "exclusive", and
// owners do not leave in the order in which they came: a nesting counter would
// hand out a slot that is in use. A slot is claimed by an atomic add of 1 to
// its busy word: who then reads 1 owns it. Two claimers may both see 2 and
// both step back; the next slot serves them. Two can never both own. That
// needs no atomic that gives the old value, so it is right on 5.10 too.

// ScratchSlots is how many programs can hold scratch memory on one CPU.
const ScratchSlots = 4

const helperMapLookup = 1

// claim puts the claim where all uses of scratch memory are below it, and a
// release before every end that is reached from there.
func claim(f *ir.Func, o Options) {
	if f.ScratchSize == 0 {
		return
	}
	at := claimPlace(f)
	if at == nil {
		return
	}
	ownEnd(f, at.block)
	c := &claimer{f: f, site: o.ScratchSite, pos: at.pos}
	entry, slot := c.split(at)
	replace(f, entry, slot)
	release(f, entry)
}

// A position is before value index of block.
type position struct {
	block *ir.Block
	index int
	pos   ir.Pos
}

// claimPlace finds the last position from which all uses are seen, outside of
// loops, and such that what follows it is only reached through it.
func claimPlace(f *ir.Func) *position {
	order := f.Order()
	dom := f.Dominators(order)
	var at *ir.Block
	var pos ir.Pos
	for _, b := range order {
		for _, v := range b.Values {
			if !ofScratch(v) {
				continue
			}
			if at == nil {
				at, pos = b, v.Pos
			}
			for !dom.Dominates(at, b) {
				at = dom.Idom(at)
			}
		}
	}
	if at == nil {
		return nil
	}
	for !clean(at, dom) {
		at = dom.Idom(at)
	}
	index := len(at.Values)
	for i, v := range at.Values {
		if ofScratch(v) {
			index = i
			break
		}
	}
	return &position{at, index, pos}
}

// ofScratch reports whether v asks for the scratch memory.
func ofScratch(v *ir.Value) bool { return v.Op == ir.OpScratch || v.Op == ir.OpScratchSlot }

// clean reports whether b is in no loop and dominates all that it reaches,
// plain ends aside: these can be had twice.
func clean(b *ir.Block, dom *ir.DomTree) bool {
	seen := map[*ir.Block]bool{}
	work := []*ir.Block{b}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if !dom.Dominates(b, x) && !plainEnd(x) {
			return false
		}
		for _, e := range x.Term.To {
			if e.Block == b {
				return false
			}
			if !seen[e.Block] {
				seen[e.Block] = true
				work = append(work, e.Block)
			}
		}
	}
	return true
}

// plainEnd reports whether b does nothing but end the program.
func plainEnd(b *ir.Block) bool {
	return b.Term.Kind == ir.Ret && b.Term.X == nil && len(b.Values) == 0 && len(b.Params) == 0
}

// ownEnd gives the blocks below b an end of their own in place of the plain
// ones that are reached past b too.
func ownEnd(f *ir.Func, b *ir.Block) {
	dom := f.Dominators(f.Order())
	var end *ir.Block
	for _, x := range f.Blocks {
		if !dom.Reached(x) || !dom.Dominates(b, x) {
			continue
		}
		for i, e := range x.Term.To {
			if !plainEnd(e.Block) || dom.Dominates(b, e.Block) {
				continue
			}
			if end == nil {
				end = f.NewBlock()
				end.Ret(e.Block.Term.Pos, nil)
			}
			x.Term.To[i].Block = end
		}
	}
}

type claimer struct {
	f    *ir.Func
	site int
	pos  ir.Pos
}

// split divides the block at the position and puts the claim between the parts. It gives the address of the claimed
// entry and its slot, parameters of the second part; the slot is nil where nothing asks for it.
func (c *claimer) split(at *position) (entry, slot *ir.Value) {
	b := at.block
	rest := c.f.NewBlock()
	rest.Values = append([]*ir.Value(nil), b.Values[at.index:]...)
	for _, v := range rest.Values {
		v.Block = rest
	}
	rest.Term = b.Term
	b.Values = b.Values[:at.index]
	entry = rest.Param(c.pos)
	if asksSlot(c.f) {
		slot = rest.Param(c.pos)
	}
	key := c.f.NewSlot(8)
	for i := range ScratchSlots {
		b = c.try(b, rest, key, int64(i))
	}
	b.AddImm(ir.OpCountSite, c.pos, int64(c.site))
	b.Ret(c.pos, nil)
	return entry, slot
}

// asksSlot reports whether f asks for the slot of its scratch memory.
func asksSlot(f *ir.Func) bool {
	return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpScratchSlot })
	})
}

// try claims slot i in block b and gives the block of the failure.
func (c *claimer) try(b, rest *ir.Block, key *ir.Slot, i int64) *ir.Block {
	keyAddr := func() *ir.Value {
		v := b.AddImm(ir.OpSlot, c.pos, 0)
		v.Slot = key
		return v
	}
	b.Add(ir.OpStore64, c.pos, keyAddr(), b.Const(c.pos, i))
	m := b.Add(ir.OpMapPtr, c.pos)
	m.Sym = tree.MapScratch
	entry := b.AddImm(ir.OpCall, c.pos, helperMapLookup, m, keyAddr())
	found, none, next := c.f.NewBlock(), c.f.NewBlock(), c.f.NewBlock()
	b.BranchImm(c.pos, ir.NE, entry, 0, ir.Edge{Block: found}, ir.Edge{Block: none})
	b.Term.Likely = 1
	none.Ret(c.pos, nil) // cannot happen: i is an index of the array
	add(found, c.pos, entry, 1)
	busy := found.AddImm(ir.OpLoad64, c.pos, 0, entry)
	given := []*ir.Value{entry}
	if len(rest.Params) > len(given) {
		given = append(given, found.Const(c.pos, i))
	}
	found.BranchImm(c.pos, ir.EQ, busy, 1, ir.Edge{Block: rest, Args: given}, ir.Edge{Block: next})
	found.Term.Likely = 1
	add(next, c.pos, entry, -1)
	return next
}

func add(b *ir.Block, pos ir.Pos, entry *ir.Value, n int64) {
	b.Add(ir.OpAtomicAdd64, pos, entry, b.Const(pos, n))
}

// replace makes the uses of scratch memory offsets from the claimed entry, and those of its slot the slot.
func replace(f *ir.Func, entry, slot *ir.Value) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			switch v.Op {
			case ir.OpScratch:
				v.Op, v.Args = ir.OpAdd, []*ir.Value{entry}
				v.Imm += tree.ScratchHeader
			case ir.OpScratchSlot:
				v.Op, v.Args = ir.OpAdd, []*ir.Value{slot}
			}
		}
	}
}

// release gives the entry back before each end that follows the claim.
func release(f *ir.Func, entry *ir.Value) {
	dom := f.Dominators(f.Order())
	for _, b := range f.Blocks {
		if b.Term.Kind == ir.Ret && dom.Reached(b) && dom.Dominates(entry.Block, b) {
			add(b, b.Term.Pos, entry, -1)
		}
	}
}
