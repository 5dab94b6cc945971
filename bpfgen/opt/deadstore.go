package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// deadStore removes stores to the stack that nothing reads before they are
// overwritten or the program ends. What a helper is given counts as read,
// also where it only writes: kernels before 6.3 want that to be defined.
func deadStore(f *ir.Func) bool {
	l := newSlotLiveness(f)
	if l.bytes == 0 {
		return false
	}
	order := f.Order()
	for changed := true; changed; {
		changed = false
		for _, b := range slices.Backward(order) {
			live := l.atEnd(b)
			for _, v := range slices.Backward(b.Values) {
				l.before(v, live)
			}
			if !slices.Equal(live, l.in[b.ID]) {
				l.in[b.ID], changed = live, true
			}
		}
	}
	removed := false
	for _, b := range order {
		removed = l.sweep(b) || removed
	}
	return removed
}

// slotLiveness says which bytes of private slots are read later.
type slotLiveness struct {
	private []bool
	start   []int // of each slot in the bytes of all
	bytes   int
	in      [][]bool // at the start of each block
}

func newSlotLiveness(f *ir.Func) *slotLiveness {
	l := &slotLiveness{private: privateSlots(f), in: make([][]bool, f.NumBlocks())}
	for _, s := range f.Slots {
		l.start = append(l.start, l.bytes)
		if l.private[s.ID] {
			l.bytes += s.Size
		}
	}
	return l
}

func (l *slotLiveness) atEnd(b *ir.Block) []bool {
	live := make([]bool, l.bytes)
	for _, e := range b.Term.To {
		for i, x := range l.in[e.Block.ID] {
			live[i] = live[i] || x
		}
	}
	return live
}

// piece is the part of live that s is, nil if it is not known.
func (l *slotLiveness) piece(s piece, live []bool) []bool {
	if !l.private[s.slot.ID] || s.from < 0 || s.to > int64(s.slot.Size) {
		return nil
	}
	at := l.start[s.slot.ID]
	return live[at+int(s.from) : at+int(s.to)]
}

// before turns what is live behind v into what is live before it.
func (l *slotLiveness) before(v *ir.Value, live []bool) {
	if s, ok := writes(v); ok {
		clear(l.piece(s, live))
	}
	touches(v, func(s piece) {
		p := l.piece(s, live)
		for i := range p {
			p[i] = true
		}
	})
}

// sweep removes the dead stores of b.
func (l *slotLiveness) sweep(b *ir.Block) bool {
	live, before := l.atEnd(b), len(b.Values)
	var kept []*ir.Value
	for _, v := range slices.Backward(b.Values) {
		if s, ok := writes(v); ok {
			if p := l.piece(s, live); p != nil && !slices.Contains(p, true) {
				continue
			}
		}
		l.before(v, live)
		kept = append(kept, v)
	}
	slices.Reverse(kept)
	b.Values = kept
	return len(kept) != before
}
