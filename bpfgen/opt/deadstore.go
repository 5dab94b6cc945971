package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass deadStore: stores to the stack that nothing reads are removed.

// deadStore removes stores to the stack that nothing reads before they are
// overwritten or the program ends. What a helper is given counts as read,
// also where it only writes: kernels before 6.3 want that to be defined.
func deadStore(f *ir.Func) bool {
	l := newSlotLiveness(f)
	if l.bytes == 0 {
		return false
	}
	order := f.Order()
	live := make(byteSet, len(l.in[0]))
	for changed := true; changed; {
		changed = false
		for _, b := range slices.Backward(order) {
			l.atEnd(b, live)
			for _, v := range slices.Backward(b.Values) {
				l.before(v, live)
			}
			if !slices.Equal(live, l.in[b.ID]) {
				copy(l.in[b.ID], live)
				changed = true
			}
		}
	}
	removed := false
	for _, b := range order {
		removed = l.sweep(b, live) || removed
	}
	return removed
}

// A byteSet has a bit for each byte.
type byteSet []uint64

// eachWord gives do each word of s that has bits from one byte to before another, with these bits.
func (s byteSet) eachWord(from, to int, do func(word *uint64, bits uint64)) {
	for at := from; at < to; {
		i, first := at/64, at%64
		n := min(64-first, to-at)
		do(&s[i], ^uint64(0)>>(64-n)<<first)
		at += n
	}
}

// slotLiveness says which bytes of private slots are read later.
type slotLiveness struct {
	private []bool
	start   []int // of each slot in the bytes of all
	bytes   int
	in      []byteSet // at the start of each block
}

func newSlotLiveness(f *ir.Func) *slotLiveness {
	l := &slotLiveness{private: privateSlots(f)}
	for _, s := range f.Slots {
		l.start = append(l.start, l.bytes)
		if l.private[s.ID] {
			l.bytes += s.Size
		}
	}
	n := (l.bytes + 63) / 64
	all := make(byteSet, n*f.NumBlocks())
	l.in = make([]byteSet, f.NumBlocks())
	for i := range l.in {
		l.in[i], all = all[:n:n], all[n:]
	}
	return l
}

// atEnd makes live what is live at the end of b.
func (l *slotLiveness) atEnd(b *ir.Block, live byteSet) {
	clear(live)
	for _, e := range b.Term.To {
		for i, x := range l.in[e.Block.ID] {
			live[i] |= x
		}
	}
}

// piece gives the bytes that s is, if they are known.
func (l *slotLiveness) piece(s piece) (from, to int, known bool) {
	if !l.private[s.slot.ID] || s.from < 0 || s.to > int64(s.slot.Size) {
		return 0, 0, false
	}
	at := l.start[s.slot.ID]
	return at + int(s.from), at + int(s.to), true
}

// before turns what is live behind v into what is live before it.
func (l *slotLiveness) before(v *ir.Value, live byteSet) {
	if s, ok := writes(v); ok {
		if from, to, known := l.piece(s); known {
			live.eachWord(from, to, func(word *uint64, bits uint64) { *word &^= bits })
		}
	}
	touches(v, func(s piece) {
		if from, to, known := l.piece(s); known {
			live.eachWord(from, to, func(word *uint64, bits uint64) { *word |= bits })
		}
	})
}

// sweep removes the dead stores of b. live is room for it.
func (l *slotLiveness) sweep(b *ir.Block, live byteSet) bool {
	l.atEnd(b, live)
	at := len(b.Values)
	for _, v := range slices.Backward(b.Values) {
		if !l.isDead(v, live) {
			l.before(v, live)
			at--
			b.Values[at] = v
		}
	}
	b.Values = slices.Delete(b.Values, 0, at)
	return at > 0
}

// isDead reports whether v does nothing but to write bytes that are not live behind it.
func (l *slotLiveness) isDead(v *ir.Value, live byteSet) bool {
	s, ok := writes(v)
	if !ok {
		return false
	}
	from, to, known := l.piece(s)
	read := false
	if known {
		live.eachWord(from, to, func(word *uint64, bits uint64) { read = read || *word&bits != 0 })
	}
	return known && !read
}
