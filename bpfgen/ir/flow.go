package ir

import "slices"

// Order, predecessors, dominators and loops of a function, kept while its edges stay.

// A flow is what follows from where the edges of a function lead. Passes ask for it again and again, most of them of a
// function whose edges are as they were: the function keeps it, and looks whether they are before it gives it out.
type flow struct {
	// numBlocks is Func.nextBlock: tables by block are as long.
	numBlocks int
	// order is what Order gives, ways what each of its blocks led to.
	order []*Block
	ways  []ways
	// preds, dom and loops are made when they are first asked for.
	preds  [][]Pred
	dom    *DomTree
	loops  []Loop
	looped bool // loops are there
}

// ways is where a block leads.
type ways struct {
	to     [2]*Block
	n      int
	likely uint8
}

func waysOf(b *Block) ways {
	w := ways{n: len(b.Term.To), likely: b.Term.Likely}
	for i := range b.Term.To {
		w.to[i] = b.Term.To[i].Block
	}
	return w
}

// holds reports whether all edges of f lead where they led.
func (w *flow) holds(f *Func) bool {
	if w == nil || w.numBlocks != f.nextBlock || w.order[0] != f.Blocks[0] {
		return false
	}
	for i, b := range w.order {
		if waysOf(b) != w.ways[i] {
			return false
		}
	}
	return true
}

// Order gives the blocks that can be reached, each before the blocks that it
// dominates (reverse postorder). Where a branch has a likely way, that way
// follows its block as closely as the order allows. Callers must not change it.
func (f *Func) Order() []*Block {
	if !f.flow.holds(f) {
		w := &flow{numBlocks: f.nextBlock, order: f.findOrder()}
		w.ways = make([]ways, len(w.order))
		for i, b := range w.order {
			w.ways[i] = waysOf(b)
		}
		f.flow = w
	}
	return f.flow.order
}

// of gives what is kept of order, nil where that is not what Order gives now.
func (f *Func) flowOf(order []*Block) *flow {
	w := f.flow
	if w == nil || len(order) != len(w.order) || &order[0] != &w.order[0] || !w.holds(f) {
		return nil
	}
	return w
}

// Preds gives for each block number the edges from order that lead there. Callers must not change it.
func (f *Func) Preds(order []*Block) [][]Pred {
	w := f.flowOf(order)
	if w == nil {
		return f.findPreds(order)
	}
	if w.preds == nil {
		w.preds = f.findPreds(order)
	}
	return w.preds
}

// Dominators gives the tree of the blocks in order.
func (f *Func) Dominators(order []*Block) *DomTree {
	w := f.flowOf(order)
	if w == nil {
		return f.findDominators(order)
	}
	if w.dom == nil {
		w.dom = f.findDominators(order)
	}
	return w.dom
}

// Loops gives the loops by their heads in the order. Callers must not change them.
func (f *Func) Loops(order []*Block) []Loop {
	w := f.flowOf(order)
	if w == nil {
		return f.findLoops(order, f.Preds(order))
	}
	if !w.looped {
		w.loops, w.looped = f.findLoops(order, f.Preds(order)), true
	}
	return w.loops
}

// findOrder finds what Order gives.
func (f *Func) findOrder() []*Block {
	seen := make([]bool, f.NumBlocks())
	type frame struct {
		b    *Block
		next int
	}
	post := make([]*Block, 0, len(f.Blocks))
	stack := make([]frame, 1, 32)
	stack[0].b = f.Blocks[0]
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
	slices.Reverse(post)
	return post
}

// findPreds finds what Preds gives.
func (f *Func) findPreds(order []*Block) [][]Pred {
	preds := make([][]Pred, f.NumBlocks())
	count, total := make([]int32, f.NumBlocks()), 0
	for _, b := range order {
		for i := range b.Term.To {
			count[b.Term.To[i].Block.ID]++
			total++
		}
	}
	all := make([]Pred, total) // for all blocks: many small slices cost more than the rest of a pass
	for _, b := range order {
		for i := range b.Term.To {
			id := b.Term.To[i].Block.ID
			if preds[id] == nil {
				n := count[id]
				preds[id], all = all[:0:n], all[n:]
			}
			preds[id] = append(preds[id], Pred{b, i})
		}
	}
	return preds
}
