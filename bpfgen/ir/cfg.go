package ir

import (
	"cmp"
	"slices"
)

// NumBlocks is an upper bound of block numbers, for tables.
func (f *Func) NumBlocks() int { return f.nextBlock }

// NumValues is an upper bound of value numbers, for tables.
func (f *Func) NumValues() int { return f.nextValue + 1 }

// Order gives the blocks that can be reached, each before the blocks that it
// dominates (reverse postorder). Where a branch has a likely way, that way
// follows its block as closely as the order allows.
func (f *Func) Order() []*Block {
	seen := make([]bool, f.NumBlocks())
	type frame struct {
		b    *Block
		next int
	}
	var post []*Block
	stack := []frame{{b: f.Blocks[0]}}
	seen[f.Blocks[0].ID] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		to := top.b.Term.To
		if top.next == len(to) {
			post = append(post, top.b)
			stack = stack[:len(stack)-1]
			continue
		}
		// What is visited last comes first in the order.
		i := len(to) - 1 - top.next
		if top.b.Term.Likely == 2 {
			i = top.next
		}
		top.next++
		if s := to[i].Block; !seen[s.ID] {
			seen[s.ID] = true
			stack = append(stack, frame{b: s})
		}
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// Prune drops the blocks that cannot be reached, and gives the others in their
// Order.
func (f *Func) Prune() []*Block {
	order := f.Order()
	if len(order) == len(f.Blocks) {
		return order
	}
	reached := make([]bool, f.NumBlocks())
	for _, b := range order {
		reached[b.ID] = true
	}
	f.Blocks = slices.DeleteFunc(f.Blocks, func(b *Block) bool { return !reached[b.ID] })
	return order
}

// A Pred is an edge seen from its target: edge Index of Block's terminator.
type Pred struct {
	Block *Block
	Index int
}

// Edge gives the edge.
func (p Pred) Edge() *Edge { return &p.Block.Term.To[p.Index] }

// Preds gives for each block number the edges from order that lead there.
func (f *Func) Preds(order []*Block) [][]Pred {
	preds := make([][]Pred, f.NumBlocks())
	count, total := make([]int32, f.NumBlocks()), 0
	for _, b := range order {
		for _, e := range b.Term.To {
			count[e.Block.ID]++
			total++
		}
	}
	all := make([]Pred, total) // for all blocks: many small slices cost more than the rest of a pass
	for _, b := range order {
		for i, e := range b.Term.To {
			id := e.Block.ID
			if preds[id] == nil {
				n := count[id]
				preds[id], all = all[:0:n], all[n:]
			}
			preds[id] = append(preds[id], Pred{b, i})
		}
	}
	return preds
}

// A DomTree tells which block dominates which. Blocks that cannot be reached
// are not in it.
type DomTree struct {
	idom []*Block // by number; the entry's is nil
	num  []int    // by number: place in the order + 1, 0 if not reached
	// in and out number the tree depth first: a dominates b if b's interval
	// lies in a's.
	in, out []int
}

// number gives each block its interval: the subtree below a block has the
// numbers behind its own. A dominator comes before what it dominates in the
// order, so sizes add up backwards and places forwards.
func (t *DomTree) number(order []*Block) {
	t.in, t.out = make([]int, len(t.idom)), make([]int, len(t.idom))
	size := make([]int, len(t.idom))
	for i := len(order) - 1; i >= 0; i-- {
		id := order[i].ID
		size[id]++
		if up := t.idom[id]; up != nil {
			size[up.ID] += size[id]
		}
	}
	next := make([]int, len(t.idom))
	for i, b := range order {
		up := t.idom[b.ID]
		switch {
		case up != nil:
			t.in[b.ID] = next[up.ID]
			next[up.ID] += size[b.ID]
		case i > 0:
			continue // not reached
		}
		next[b.ID] = t.in[b.ID] + 1
		t.out[b.ID] = t.in[b.ID] + size[b.ID]
	}
}

// Meet is the nearest block that dominates a and b; a may be nil.
func (t *DomTree) Meet(a, b *Block) *Block {
	if a == nil {
		return b
	}
	for !t.Dominates(a, b) {
		a = t.idom[a.ID]
	}
	return a
}

// Idom is the immediate dominator of b; nil for the entry.
func (t *DomTree) Idom(b *Block) *Block { return t.idom[b.ID] }

// Reached reports whether b can be reached.
func (t *DomTree) Reached(b *Block) bool { return t.num[b.ID] != 0 }

// Dominates reports whether every way to b passes a; a block dominates itself.
func (t *DomTree) Dominates(a, b *Block) bool {
	if t.num[a.ID] == 0 || t.num[b.ID] == 0 {
		return a == b
	}
	return t.in[a.ID] <= t.in[b.ID] && t.in[b.ID] < t.out[a.ID]
}

// Compare orders blocks that are reached so that those that a block dominates
// follow it at once.
func (t *DomTree) Compare(a, b *Block) int { return cmp.Compare(t.in[a.ID], t.in[b.ID]) }

// LoopDepth gives for each block number in how many loops the block is.
func (f *Func) LoopDepth(order []*Block) []int {
	depth := make([]int, f.NumBlocks())
	for _, l := range f.Loops(order) {
		for _, b := range l.Blocks {
			depth[b.ID]++
		}
	}
	return depth
}

// A Loop is a block that some blocks behind it lead back to, and all blocks
// from which that is possible without passing it; the head is among them.
type Loop struct {
	// Head is the block by which the loop is entered, and to which its last blocks jump back.
	Head   *Block
	Blocks []*Block // in the order
}

// Loops gives the loops by their heads in the order.
func (f *Func) Loops(order []*Block) []Loop {
	place := make([]int, f.NumBlocks())
	for i, b := range order {
		place[b.ID] = i
	}
	preds := f.Preds(order)
	in := make([]int, f.NumBlocks()) // by number: the last loop that the block was found in, counted from 1
	var loops []Loop
	for i, head := range order {
		var work []*Block
		for _, p := range preds[head.ID] {
			if place[p.Block.ID] >= i {
				work = append(work, p.Block)
			}
		}
		if len(work) > 0 {
			blocks := reaching(head, work, preds, in, len(loops)+1)
			slices.SortFunc(blocks, func(x, y *Block) int { return place[x.ID] - place[y.ID] })
			loops = append(loops, Loop{head, blocks})
		}
	}
	return loops
}

// reaching gives head and the blocks from which work can be reached without
// passing head. in is for marks: n is one that it does not have yet.
func reaching(head *Block, work []*Block, preds [][]Pred, in []int, n int) []*Block {
	in[head.ID] = n
	blocks := []*Block{head}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if in[b.ID] == n {
			continue
		}
		in[b.ID] = n
		blocks = append(blocks, b)
		for _, p := range preds[b.ID] {
			work = append(work, p.Block)
		}
	}
	return blocks
}
