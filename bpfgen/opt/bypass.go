package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// bypass leads edges past blocks that only branch on what came with the edge,
// where thread does not because values of the block are used behind it:
//
//	b1(tag, p):                   b1(tag, p):
//	  br eq tag, 1 -> b2, b3        br eq tag, 1 -> b2, b3(p)
//	b3:                     =>    b3(q):
//	  … p …                         … q …
//
// where an edge to b1(0, x) becomes one to b3(x). Such blocks stand behind
// every value that may be missing.
func bypass(f *ir.Func) bool {
	changed := false
	var dom *ir.DomTree // nil where edges have changed
	var preds [][]ir.Pred
	for i := 1; i < len(f.Blocks); i++ {
		j := &joint{f: f, b: f.Blocks[i]}
		if !j.onlyBranches() {
			continue
		}
		if dom == nil {
			order := f.Order()
			dom, preds = f.Dominators(order), f.Preds(order)
		}
		if j.analyse(dom, preds) {
			j.redirect()
			changed, dom = true, nil
		}
	}
	if changed {
		f.Prune() // edges of blocks left behind lack arguments of parameters that came since
	}
	return changed
}

// A joint is a block that edges may be led past.
type joint struct {
	f     *ir.Func
	b     *ir.Block
	known [2][]ir.Pred // edges that go on by way 0 or 1
	sole  [2]bool      // the target of the way has no other predecessor
	uses  [2][]use     // of values of b, in what the target dominates
}

// A use is an operand that is a value of the joint.
type use struct {
	at    **ir.Value
	value *ir.Value
}

// onlyBranches reports whether b makes nothing but constants and addresses.
func (j *joint) onlyBranches() bool {
	for _, v := range j.b.Values {
		if !isMade(v) {
			return false
		}
	}
	t := &j.b.Term
	return t.Kind == ir.Branch && t.To[0].Block != t.To[1].Block &&
		t.To[0].Block != j.b && t.To[1].Block != j.b && len(j.b.Params) > 0
}

// analyse finds the edges whose way is known, and all uses of b's values; it
// reports whether edges can be led past b.
func (j *joint) analyse(dom *ir.DomTree, preds [][]ir.Pred) bool {
	if !dom.Reached(j.b) {
		return false
	}
	t := &j.b.Term
	for _, p := range preds[j.b.ID] {
		if dom.Dominates(j.b, p.Block) {
			continue // not to unroll loops
		}
		e := p.Edge()
		if holds, known := knownBranch(t, func(v *ir.Value) *ir.Value { return j.onEdge(e, v) }); known {
			way := int(1 - b2i(holds))
			j.known[way] = append(j.known[way], p)
		}
	}
	if len(j.known[0])+len(j.known[1]) == 0 {
		return false
	}
	for way := range 2 {
		j.sole[way] = len(preds[t.To[way].Block.ID]) == 1
	}
	return j.findUses(dom)
}

// onEdge gives what v is when b is entered by e.
func (j *joint) onEdge(e *ir.Edge, v *ir.Value) *ir.Value {
	if k := slices.Index(j.b.Params, v); k >= 0 {
		return e.Args[k]
	}
	return v
}

// findUses sorts the uses of b's values outside of b by the way behind which
// they are. A use where both ways meet again would need a parameter there:
// it stands against the whole.
func (j *joint) findUses(dom *ir.DomTree) bool {
	for _, b := range j.f.Blocks {
		if b == j.b {
			continue
		}
		for at := range b.Operands() {
			if (*at).Block != j.b {
				continue
			}
			way := j.wayTo(b, dom)
			if way < 0 {
				return false
			}
			j.uses[way] = append(j.uses[way], use{at, *at})
		}
	}
	return true
}

// wayTo is the way of j's block behind which b is, -1 for none alone.
func (j *joint) wayTo(b *ir.Block, dom *ir.DomTree) int {
	for way := range 2 {
		if j.sole[way] && dom.Dominates(j.b.Term.To[way].Block, b) {
			return way
		}
	}
	return -1
}

// redirect leads the known edges past b.
func (j *joint) redirect() {
	for way := range 2 {
		if len(j.known[way]) == 0 {
			continue
		}
		if j.sole[way] {
			j.addParams(way)
		}
		for _, p := range j.known[way] {
			e := p.Edge()
			on := &j.b.Term.To[way]
			next := ir.Edge{Block: on.Block}
			for _, a := range on.Args {
				a = j.onEdge(e, a)
				if a.Block == j.b {
					a = j.makeIn(p.Block, a)
				}
				next.Args = append(next.Args, a)
			}
			*e = next
		}
	}
}

// addParams gives the target of a way parameters for b's values that are used
// behind it.
func (j *joint) addParams(way int) {
	on := &j.b.Term.To[way]
	params := map[*ir.Value]*ir.Value{}
	for _, u := range j.uses[way] {
		if params[u.value] == nil {
			params[u.value] = on.Block.Param(u.value.Pos)
			on.Args = append(slices.Clip(on.Args), u.value)
		}
		*u.at = params[u.value]
	}
}

// makeIn makes v at the end of b.
func (j *joint) makeIn(b *ir.Block, v *ir.Value) *ir.Value {
	w := b.Add(v.Op, v.Pos)
	w.Imm, w.Sym, w.Slot = v.Imm, v.Sym, v.Slot
	return w
}
