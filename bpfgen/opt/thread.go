package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass thread: edges past blocks that do nothing.

// thread leads edges past blocks that do nothing: those that only jump on,
// and those whose branch the values of the edge decide. A condition such as
// "a and b" is made of such blocks.
func thread(f *ir.Func) bool {
	t := threader{passable: passableBlocks(f), done: make([]bool, f.NumBlocks()), most: len(f.Blocks)}
	for _, b := range f.Blocks {
		t.leave(b)
	}
	return t.changed
}

// A threader leads edges on, those of the blocks behind before those that come to them: then few steps are left.
type threader struct {
	passable, done []bool // by block
	most           int
	changed        bool
}

// leave leads the edges of a block on.
func (t *threader) leave(b *ir.Block) {
	if t.done[b.ID] {
		return
	}
	t.done[b.ID] = true
	for i := range b.Term.To {
		if next := b.Term.To[i].Block; t.passable[next.ID] {
			t.leave(next)
		}
		for range t.most { // the bound is against circles of empty blocks
			next, ok := past(b.Term.To[i], t.passable)
			if !ok {
				break
			}
			b.Term.To[i] = next
			t.changed = true
		}
	}
}

// passableBlocks marks the blocks without instructions whose parameters
// nothing uses but their terminator.
func passableBlocks(f *ir.Func) []bool {
	passable := make([]bool, f.NumBlocks())
	for _, b := range f.Blocks[1:] {
		passable[b.ID] = len(b.Values) == 0 && b.Term.Kind != ir.Ret
	}
	for _, b := range f.Blocks {
		for at := range b.Operands() {
			if v := *at; v.Op == ir.OpParam && v.Block != b {
				passable[v.Block.ID] = false
			}
		}
	}
	return passable
}

// past gives the edge that leaves the target of e when it is entered by e.
func past(e ir.Edge, passable []bool) (ir.Edge, bool) {
	b := e.Block
	if !passable[b.ID] {
		return e, false
	}
	arg := func(v *ir.Value) *ir.Value {
		if k := slices.Index(b.Params, v); k >= 0 {
			return e.Args[k]
		}
		return v
	}
	way := 0
	if b.Term.Kind == ir.Branch {
		holds, known := knownBranch(&b.Term, arg)
		if !known {
			return e, false
		}
		if !holds {
			way = 1
		}
	}
	on := b.Term.To[way]
	if on.Block == b {
		return e, false
	}
	next := ir.Edge{Block: on.Block}
	for _, a := range on.Args {
		next.Args = append(next.Args, arg(a))
	}
	return next, true
}

// knownBranch decides a branch whose operands are constants by way of arg.
func knownBranch(t *ir.Term, arg func(*ir.Value) *ir.Value) (holds, known bool) {
	x, ok := constant(arg(t.X))
	y := t.Imm
	if ok && t.Y != nil {
		y, ok = constant(arg(t.Y))
	}
	return ok && t.Cond.Holds(x, y), ok
}
