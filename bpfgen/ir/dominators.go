package ir

// The tree of dominators, by the algorithm of Lengauer and Tarjan.

// findDominators makes the tree, by the algorithm of Lengauer and Tarjan, "A Fast
// Algorithm for Finding Dominators in a Flowgraph", 1979, the simple version. It takes
// n log n steps, also where blocks follow each other for long and all lead to one,
// as those of an elif chain do.
//
// In the paper's words: blocks have the numbers of a depth first walk. The
// semidominator of a block is the least from which a way leads there whose blocks
// between have greater numbers than the block itself. A block's immediate dominator
// is its semidominator, or that of a block between the two.
func (f *Func) findDominators(order []*Block) *DomTree {
	t := &DomTree{idom: make([]*Block, f.NumBlocks()), num: make([]int, f.NumBlocks())}
	for i, b := range order {
		t.num[b.ID] = i + 1
	}
	w := newDomWalk(f, order[0], len(order))
	preds := f.Preds(order)
	for i := int32(len(w.blocks) - 1); i > 0; i-- {
		for _, p := range preds[w.blocks[i].ID] {
			if u := w.best(w.number[p.Block.ID] - 1); w.semi[u] < w.semi[i] {
				w.semi[i] = w.semi[u]
			}
		}
		w.put(w.semi[i], i)
		up := w.parent[i]
		w.ancestor[i] = up
		for v := w.bucket[up]; v != 0; v = w.next[v] {
			w.idom[v] = up
			if u := w.best(v); w.semi[u] < w.semi[v] {
				w.idom[v] = u
			}
		}
		w.bucket[up] = 0
	}
	for i := 1; i < len(w.blocks); i++ {
		if w.idom[i] != w.semi[i] {
			w.idom[i] = w.idom[w.idom[i]]
		}
		t.idom[w.blocks[i].ID] = w.blocks[w.idom[i]]
	}
	t.number(order)
	return t
}

// A domWalk has what is known of blocks by their number in the walk.
type domWalk struct {
	// blocks are those that the walk has reached, in its order.
	blocks []*Block
	number []int32 // by block: its number + 1, 0 if not reached
	parent []int32 // in the tree of the walk
	// semi is the semidominator that is known of each so far; at first the block itself.
	semi []int32
	// idom is the immediate dominator; before the last loop of findDominators it may be that of another block which has
	// the same.
	idom []int32
	// bucket is the first block of which it is the semidominator, next the next one of that; 0: none, which the entry
	// never is.
	bucket, next []int32
	// ancestor links the blocks that are done into a forest, -1 for its roots; label
	// is the block with the least semidominator on the way up that was shortened.
	ancestor, label []int32
	way             []int32 // scratch of best
}

// newDomWalk walks along the n blocks that are reached from entry.
func newDomWalk(f *Func, entry *Block, n int) *domWalk {
	room := make([]int32, f.NumBlocks()+7*n)
	table := func(n int) (t []int32) {
		t, room = room[:n:n], room[n:]
		return t
	}
	w := &domWalk{blocks: make([]*Block, 0, n), number: table(f.NumBlocks()), parent: table(n), semi: table(n),
		idom: table(n), bucket: table(n), next: table(n), ancestor: table(n), label: table(n)}
	type frame struct {
		b      *Block
		parent int32
	}
	stack := make([]frame, 1, 32)
	stack[0].b = entry
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.number[top.b.ID] != 0 {
			continue
		}
		i := int32(len(w.blocks))
		w.blocks = append(w.blocks, top.b)
		w.number[top.b.ID] = i + 1
		w.parent[i], w.semi[i], w.label[i], w.ancestor[i] = top.parent, i, i, -1
		for k := range top.b.Term.To {
			stack = append(stack, frame{top.b.Term.To[k].Block, i})
		}
	}
	return w
}

// put notes that up is the semidominator of v.
func (w *domWalk) put(up, v int32) { w.next[v], w.bucket[up] = w.bucket[up], v }

// best is the block with the least semidominator on the way from v up to the root of
// its tree in the forest, without the root. The way is shortened.
func (w *domWalk) best(v int32) int32 {
	if w.ancestor[v] < 0 {
		return v
	}
	w.way = w.way[:0]
	for u := v; w.ancestor[w.ancestor[u]] >= 0; u = w.ancestor[u] {
		w.way = append(w.way, u)
	}
	for i := len(w.way) - 1; i >= 0; i-- {
		u := w.way[i]
		up := w.ancestor[u]
		if w.semi[w.label[up]] < w.semi[w.label[u]] {
			w.label[u] = w.label[up]
		}
		w.ancestor[u] = w.ancestor[up]
	}
	return w.label[v]
}
