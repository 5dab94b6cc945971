package ir

import (
	"cmp"
	"slices"
)

// Blocks of a function: numbers, predecessors, which dominates which, loops.

// NumBlocks is an upper bound of block numbers, for tables.
func (f *Func) NumBlocks() int { return f.nextBlock }

// NumValues is an upper bound of value numbers, for tables.
func (f *Func) NumValues() int { return f.nextValue + 1 }

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

// A DomTree tells which block dominates which. Blocks that cannot be reached
// are not in it.
type DomTree struct {
	idom []*Block // by number; the entry's is nil
	num  []int    // by number: place in the order + 1, 0 if not reached
	// in and out number the tree depth first: a dominates b if b's interval
	// lies in a's.
	in, out []int
	first   []*Block // what is reached, depth first
}

// number gives each block its interval: the subtree below a block has the
// numbers behind its own. A dominator comes before what it dominates in the
// order, so sizes add up backwards and places forwards.
func (t *DomTree) number(order []*Block) {
	n := len(t.idom)
	room := make([]int, 4*n)
	t.in, t.out = room[:n:n], room[n:2*n:2*n]
	size, next := room[2*n:3*n:3*n], room[3*n:]
	for i := len(order) - 1; i >= 0; i-- {
		id := order[i].ID
		size[id]++
		if up := t.idom[id]; up != nil {
			size[up.ID] += size[id]
		}
	}
	t.first = make([]*Block, len(order))
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
		t.first[t.in[b.ID]] = b
	}
}

// DepthFirst gives the blocks that are reached so that those that a block dominates follow it at once. Callers must not
// change the list.
func (t *DomTree) DepthFirst() []*Block { return t.first }

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

// findLoops finds the loops by their heads in the order.
func (f *Func) findLoops(order []*Block, preds [][]Pred) []Loop {
	place := make([]int, f.NumBlocks())
	for i, b := range order {
		place[b.ID] = i
	}
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
