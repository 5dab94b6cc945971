package emit

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/regalloc"
)

// The order in which the blocks of a program are laid out, so that few jumps are taken.

// A chunk is a run of instructions with one way in: the code of a block, or
// the moves of an edge that neither end of the edge can take.
type chunk struct {
	block *ir.Block // whose terminator ends the chunk; nil: one jump
	from  *ir.Block // block, or the source of the edge whose moves these are
	// steps are written one after the other, before the jump that ends the chunk.
	steps []regalloc.Step
	// to are the chunks that follow by falling through or jumping, in the order of the terminator's edges.
	to []*chunk
	// freq is, for each of to, an estimate of how often that way is taken.
	freq  []float64
	pos   ir.Pos // of the terminator
	preds int    // that do not come from behind
	raw   int    // number of the first raw instruction
	grown int    // the same when the kernel has patched those before
}

// posOf is the place in the script of step i: moves belong to what they
// prepare.
func (c *chunk) posOf(i int) ir.Pos {
	for _, s := range c.steps[i:] {
		if s.Kind == regalloc.Exec {
			return s.Value.Pos
		}
	}
	return c.pos
}

// makeChunks makes the chunks in the order of the allocation; the first is the
// entry. Moves of an edge go to the end of its source or the start of its
// target, if nothing else passes there.
func makeChunks(a *regalloc.Allocation) []*chunk {
	byBlock := map[*ir.Block]*chunk{}
	var chunks []*chunk
	preds := map[*ir.Block]int{}
	for _, b := range a.Order {
		c := &chunk{block: b, from: b, pos: b.Term.Pos}
		byBlock[b] = c
		for _, e := range b.Term.To {
			preds[e.Block]++
		}
	}
	for _, b := range a.Order {
		c, code := byBlock[b], &a.Code[b.ID]
		chunks = append(chunks, c)
		c.steps = append(c.steps, code.Steps...)
		for i, e := range b.Term.To {
			to, moves := byBlock[e.Block], code.Edges[i]
			switch {
			case len(moves) == 0:
			case len(b.Term.To) == 1:
				c.steps = append(c.steps, moves...)
			case preds[e.Block] == 1:
				to.steps = append(moves[:len(moves):len(moves)], to.steps...)
			default:
				to = &chunk{from: b, steps: moves, to: []*chunk{to}, freq: []float64{1}, pos: b.Term.Pos}
				chunks = append(chunks, to)
			}
			c.to = append(c.to, to)
			c.freq = append(c.freq, edgeFreq(a, b, i))
		}
	}
	return chunks
}

// edgeFreq estimates how often an edge is taken.
func edgeFreq(a *regalloc.Allocation, b *ir.Block, i int) float64 {
	t, f := &b.Term, a.Freq[b.ID]
	switch {
	case len(t.To) == 1:
		return f
	case t.Likely == 0:
		return f / 2
	case int(t.Likely) == i+1:
		return f * 0.95
	}
	return f * 0.05
}

// layout orders the chunks. A chunk is followed by the target that is taken
// more often; of two equal ones by the one to which all other ways have been
// laid out, so that the two ways of an if come before what follows it. What
// remains starts again at the first chunk in the old order.
func layout(chunks []*chunk) []*chunk {
	place := map[*chunk]int{}
	for i, c := range chunks {
		place[c] = i
	}
	for _, c := range chunks {
		for _, t := range c.to {
			if place[t] > place[c] {
				t.preds++
			}
		}
	}
	var out []*chunk
	done := map[*chunk]bool{}
	for _, c := range chunks {
		for c != nil && !done[c] {
			done[c] = true
			out = append(out, c)
			c = follower(c, done, place)
		}
	}
	return out
}

// follower gives the chunk to lay out behind c, nil for none in particular.
func follower(c *chunk, done map[*chunk]bool, place map[*chunk]int) *chunk {
	for _, t := range c.to {
		if place[t] > place[c] {
			t.preds--
		}
	}
	best := -1
	for i, t := range c.to {
		if !done[t] && (best < 0 || c.prefers(i, best, place)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return c.to[best]
}

// prefers reports whether way i should follow c rather than way j, j < i.
func (c *chunk) prefers(i, j int, place map[*chunk]int) bool {
	fi, fj := c.freq[i], c.freq[j]
	if fi > 1.5*fj || fj > 1.5*fi {
		return fi > fj
	}
	if readyI, readyJ := c.to[i].preds == 0, c.to[j].preds == 0; readyI != readyJ {
		return readyI
	}
	if c.block != nil && c.block.Term.Cond == ir.SET {
		return true // the condition has no opposite: way 0 must be jumped to
	}
	return place[c.to[i]] < place[c.to[j]]
}
