package opt

import "github.com/startrace/startrace/bpfgen/ir"

// The pass forward: loads from the stack become what was stored there.

// forward replaces loads from the stack by what was stored there, or loaded
// from there, in the same block. Across a call only constants are kept: others
// would take one of the four registers that survive it, and a load costs no
// more than the move there.
func forward(f *ir.Func) bool {
	private := privateSlots(f)
	s := newSubst(f)
	changed := false
	for _, b := range f.Blocks {
		m := &contents{private: private}
		for _, v := range b.Values {
			s.operands(v)
			if v.Op.IsLoad() {
				changed = m.load(v, s) || changed
				continue
			}
			m.step(v)
		}
	}
	s.apply(f)
	s.forget(f)
	return changed || s.changed
}

// contents is what slots are known to hold.
type contents struct {
	private []bool
	known   []held
}

// held says that the word at a place is value.
type held struct {
	at    piece
	value *ir.Value
}

// load replaces v, if what it loads is known, and notes what it loads. It
// reports whether v became a constant.
func (m *contents) load(v *ir.Value, s *subst) bool {
	at, ok := spanAt(v.Args[0], v.Imm, int64(v.Op.Width()))
	if !ok || !m.private[at.slot.ID] {
		return false
	}
	for _, h := range m.known {
		if h.at != at {
			continue
		}
		if c, ok := constant(h.value); ok {
			return become(v, ir.OpConst, c&low(8*v.Op.Width()))
		}
		s.replace(v, h.value)
		return false
	}
	m.known = append(m.known, held{at, v})
	return false
}

// low is a mask of n bits.
func low(n int) int64 {
	if n >= 64 {
		return -1
	}
	return int64(1)<<n - 1
}

// step notes what an instruction other than a load does.
func (m *contents) step(v *ir.Value) {
	if v.Op == ir.OpCall {
		m.drop(func(h held) bool { return h.value.Op != ir.OpConst })
	}
	if !v.Op.IsLoad() {
		touches(v, func(s piece) {
			if v.Op != ir.OpCopy { // which only reads there
				m.forget(s)
			}
		})
	}
	s, ok := writes(v)
	if !ok {
		return
	}
	m.forget(s)
	if !v.Op.IsStore() || !m.private[s.slot.ID] {
		return
	}
	x := v.Args[1]
	if _, isConst := constant(x); isConst || knownBits(x) <= 8*v.Op.Width() {
		m.known = append(m.known, held{s, x})
	}
}

func (m *contents) forget(s piece) {
	m.drop(func(h held) bool { return h.at.overlaps(s) })
}

func (m *contents) drop(gone func(held) bool) {
	kept := m.known[:0]
	for _, h := range m.known {
		if !gone(h) {
			kept = append(kept, h)
		}
	}
	m.known = kept
}
