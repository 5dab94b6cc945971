package ir

// Dominators makes the tree, by the algorithm of Lengauer and Tarjan, "A Fast
// Algorithm for Finding Dominators in a Flowgraph", 1979, the simple version. It takes
// n log n steps, also where blocks follow each other for long and all lead to one,
// as those of an elif chain do.
//
// In the paper's words: blocks have the numbers of a depth first walk. The
// semidominator of a block is the least from which a way leads there whose blocks
// between have greater numbers than the block itself. A block's immediate dominator
// is its semidominator, or that of a block between the two.
func (f *Func) Dominators(order []*Block) *DomTree {
	t := &DomTree{idom: make([]*Block, f.NumBlocks()), num: make([]int, f.NumBlocks())}
	for i, b := range order {
		t.num[b.ID] = i + 1
	}
	w := newDomWalk(f, order[0], len(order))
	preds := f.Preds(order)
	for i := len(w.blocks) - 1; i > 0; i-- {
		for _, p := range preds[w.blocks[i].ID] {
			if u := w.best(w.number[p.Block.ID] - 1); w.semi[u] < w.semi[i] {
				w.semi[i] = w.semi[u]
			}
		}
		w.bucket[w.semi[i]] = append(w.bucket[w.semi[i]], i)
		up := w.parent[i]
		w.ancestor[i] = up
		for _, v := range w.bucket[up] {
			w.idom[v] = up
			if u := w.best(v); w.semi[u] < w.semi[v] {
				w.idom[v] = u
			}
		}
		w.bucket[up] = nil
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
	number []int // by block: its number + 1, 0 if not reached
	parent []int // in the tree of the walk
	// semi is the semidominator that is known of each so far; at first the block itself.
	semi []int
	// idom is the immediate dominator; before the last loop of Dominators it may be that of another block which has the
	// same.
	idom   []int
	bucket [][]int // of which blocks it is the semidominator
	// ancestor links the blocks that are done into a forest, -1 for its roots; label
	// is the block with the least semidominator on the way up that was shortened.
	ancestor, label []int
	way             []int // scratch of best
}

func newDomWalk(f *Func, entry *Block, n int) *domWalk {
	w := &domWalk{number: make([]int, f.NumBlocks()), bucket: make([][]int, n)}
	type frame struct {
		b      *Block
		parent int
	}
	stack := []frame{{entry, 0}}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.number[top.b.ID] != 0 {
			continue
		}
		i := len(w.blocks)
		w.blocks = append(w.blocks, top.b)
		w.number[top.b.ID] = i + 1
		w.parent = append(w.parent, top.parent)
		w.semi, w.label = append(w.semi, i), append(w.label, i)
		w.idom, w.ancestor = append(w.idom, 0), append(w.ancestor, -1)
		for _, e := range top.b.Term.To {
			stack = append(stack, frame{e.Block, i})
		}
	}
	return w
}

// best is the block with the least semidominator on the way from v up to the root of
// its tree in the forest, without the root. The way is shortened.
func (w *domWalk) best(v int) int {
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
