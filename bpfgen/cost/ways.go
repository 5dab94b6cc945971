package cost

import "github.com/startrace/startrace/bpfgen/ir"

// The most costly way through a function, in which loops are replaced by their heads.

// ways are the ways through a function, in which loops are replaced by their
// heads one after the other.
type ways struct {
	cost []Cost      // by the ID of a block, of the head of a loop that was replaced: all of it
	head []*ir.Block // by the ID: the block that stands for this one, at first itself
}

func newWays(f *ir.Func, order []*ir.Block) *ways {
	w := &ways{cost: make([]Cost, f.NumBlocks()), head: make([]*ir.Block, f.NumBlocks())}
	for _, b := range order {
		w.head[b.ID] = b
	}
	return w
}

// collapse replaces a loop of at most n rounds, of which the loops inside have
// been replaced. In the round in which it is left, it may go to the end of its
// body.
func (w *ways) collapse(l ir.Loop, n int64) {
	all := w.longest(l.Head, l.Blocks).times(add(n, 1))
	for _, b := range l.Blocks {
		w.head[b.ID] = l.Head
	}
	w.cost[l.Head.ID] = all
}

// longest is the cost of the longest way from the first block, over blocks that
// are in their order. Ways back to the first block end there.
func (w *ways) longest(first *ir.Block, blocks []*ir.Block) (most Cost) {
	inside := make(map[*ir.Block]bool, len(blocks))
	for _, b := range blocks {
		inside[b] = true
	}
	to := map[*ir.Block]Cost{first: w.cost[first.ID]}
	for _, b := range blocks {
		here := to[w.head[b.ID]]
		most = most.max(here)
		for _, e := range b.Term.To {
			next := w.head[e.Block.ID]
			if next != w.head[b.ID] && next != first && inside[next] {
				to[next] = to[next].max(here.plus(w.cost[next.ID]))
			}
		}
	}
	return most
}
