package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass bypass: edges past blocks that only branch on what came with the edge.

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
//
// The dominator tree is made once. An edge that goes past a block takes nothing
// but that block from ways through the function, so what else dominated a block
// does so still. Where the tree would have to say what a block dominates that was
// passed, the next run of the pass does it.
func bypass(f *ir.Func) bool {
	if !slices.ContainsFunc(f.Blocks, leadsToJoint) {
		return false
	}
	w := newBypasser(f, f.Order())
	changed := false
	for _, b := range f.Blocks[1:] {
		j := &joint{bypasser: w, b: b}
		if j.onlyBranches() && j.analyse() {
			j.redirect()
			changed = true
		}
	}
	if changed {
		f.Prune() // edges of blocks left behind lack arguments of parameters that came since
	}
	return changed
}

// leadsToJoint reports whether an edge of b leads to a block that only branches, and decides which way that goes: where
// no edge does, no tree is needed to see that nothing is to be done.
func leadsToJoint(b *ir.Block) bool {
	for i := range b.Term.To {
		e := &b.Term.To[i]
		j := &joint{b: e.Block}
		if !j.onlyBranches() {
			continue
		}
		if _, known := knownBranch(&j.b.Term, func(v *ir.Value) *ir.Value { return j.onEdge(e, v) }); known {
			return true
		}
	}
	return false
}

// A bypasser is what the pass knows of the function.
type bypasser struct {
	dom    *ir.DomTree // as it was at first
	preds  [][]ir.Pred // by block: edges that led there
	live   []int       // by block: how many lead there, from blocks that are reached
	uses   [][]use     // by block: of its values, in other blocks
	passed []bool      // by block: it was a joint that edges were led past
}

func newBypasser(f *ir.Func, order []*ir.Block) *bypasser {
	w := &bypasser{
		dom: f.Dominators(order), preds: slices.Clone(f.Preds(order)), live: make([]int, f.NumBlocks()),
		uses: usesElsewhere(f), passed: make([]bool, f.NumBlocks()),
	}
	for id, list := range w.preds {
		w.live[id] = len(list)
	}
	return w
}

// reached reports whether a block can be reached still.
func (w *bypasser) reached(b *ir.Block) bool {
	return w.dom.Reached(b) && (w.live[b.ID] > 0 || b == b.Func.Blocks[0])
}

// unlink takes an edge to b out; what cannot be reached any more has no edges, either.
func (w *bypasser) unlink(b *ir.Block) {
	if w.live[b.ID]--; w.live[b.ID] == 0 {
		for _, e := range b.Term.To {
			w.unlink(e.Block)
		}
	}
}

// A joint is a block that edges may be led past.
type joint struct {
	*bypasser
	b     *ir.Block
	known [2][]ir.Pred // edges that go on by way 0 or 1
	sole  [2]bool      // the target of the way has no other predecessor
	after [2][]use     // of values of b, in what the target dominates
}

// A use is an operand of in: of one of its instructions or its terminator, or
// argument arg of edge way.
type use struct {
	in       *ir.Block
	at       **ir.Value // nil on an edge, whose arguments move
	way, arg int
}

// place is where the operand is now, nil where the edge has become another.
func (u use) place() **ir.Value {
	if u.at != nil {
		return u.at
	}
	if e := &u.in.Term.To[u.way]; u.arg < len(e.Args) {
		return &e.Args[u.arg]
	}
	return nil
}

// usesElsewhere finds the uses of each block's values in other blocks.
func usesElsewhere(f *ir.Func) [][]use {
	uses := make([][]use, f.NumBlocks())
	note := func(v *ir.Value, u use) {
		if v.Block != u.in {
			uses[v.Block.ID] = append(uses[v.Block.ID], u)
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for i := range v.Args {
				note(v.Args[i], use{in: b, at: &v.Args[i]})
			}
		}
		for _, at := range []**ir.Value{&b.Term.X, &b.Term.Y} {
			if *at != nil {
				note(*at, use{in: b, at: at})
			}
		}
		for way := range b.Term.To {
			for i, v := range b.Term.To[way].Args {
				note(v, use{in: b, way: way, arg: i})
			}
		}
	}
	return uses
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
func (j *joint) analyse() bool {
	t := &j.b.Term
	if !j.reached(j.b) || j.passed[t.To[0].Block.ID] || j.passed[t.To[1].Block.ID] {
		return false
	}
	for _, p := range j.preds[j.b.ID] {
		if j.dom.Dominates(j.b, p.Block) || !j.reached(p.Block) {
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
		j.sole[way] = j.live[t.To[way].Block.ID] == 1
	}
	return j.findUses()
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
func (j *joint) findUses() bool {
	for _, u := range j.uses[j.b.ID] {
		at := u.place()
		if at == nil || (*at).Block != j.b || !j.reached(u.in) {
			continue // gone
		}
		way := j.wayTo(u.in)
		if way < 0 {
			return false
		}
		j.after[way] = append(j.after[way], u)
	}
	return true
}

// wayTo is the way out of j's block by which all paths to b lead, -1 where there is none.
func (j *joint) wayTo(b *ir.Block) int {
	for way := range 2 {
		if j.sole[way] && j.dom.Dominates(j.b.Term.To[way].Block, b) {
			return way
		}
	}
	return -1
}

// redirect leads the known edges past b.
func (j *joint) redirect() {
	j.passed[j.b.ID] = true
	for way := range 2 {
		if len(j.known[way]) == 0 {
			continue
		}
		if j.sole[way] {
			j.addParams(way)
		}
		for _, p := range j.known[way] {
			j.lead(p, &j.b.Term.To[way])
		}
	}
}

// lead makes the edge p one that leaves b by on.
func (j *joint) lead(p ir.Pred, on *ir.Edge) {
	e := p.Edge()
	next := ir.Edge{Block: on.Block}
	for i, a := range on.Args {
		a = j.onEdge(e, a)
		if a.Block == j.b {
			a = j.makeIn(p.Block, a)
		}
		next.Args = append(next.Args, a)
		if a.Block != p.Block {
			j.uses[a.Block.ID] = append(j.uses[a.Block.ID], use{in: p.Block, way: p.Index, arg: i})
		}
	}
	*e = next
	j.preds[on.Block.ID] = append(j.preds[on.Block.ID], p)
	j.live[on.Block.ID]++
	j.unlink(j.b)
}

// addParams gives the target of a way parameters for b's values that are used
// behind it.
func (j *joint) addParams(way int) {
	on := &j.b.Term.To[way]
	params := map[*ir.Value]*ir.Value{}
	for _, u := range j.after[way] {
		at := u.place()
		value := *at
		if value.Block != j.b {
			continue // the use is listed twice, as that of an edge may be that was led past two blocks
		}
		if params[value] == nil {
			params[value] = on.Block.Param(value.Pos)
			on.Args = append(slices.Clip(on.Args), value)
		}
		*at = params[value]
		if u.in != on.Block {
			j.uses[on.Block.ID] = append(j.uses[on.Block.ID], u)
		}
	}
}

// makeIn makes v at the end of b.
func (j *joint) makeIn(b *ir.Block, v *ir.Value) *ir.Value {
	w := b.Add(v.Op, v.Pos)
	w.Imm, w.Sym, w.Slot = v.Imm, v.Sym, v.Slot
	return w
}
