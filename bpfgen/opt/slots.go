package opt

import "github.com/startrace/startrace/bpfgen/ir"

// Pieces of the stack whose uses are all known, for passes about memory.

// privateSlots tells by number the slots all of whose uses are known: their
// addresses go to loads, stores and helpers only, so that nothing else reads
// or writes them.
func privateSlots(f *ir.Func) []bool {
	private := make([]bool, len(f.Slots))
	for i := range private {
		private[i] = true
	}
	lose := func(v *ir.Value) {
		if v.Op == ir.OpSlot {
			private[v.Slot.ID] = false
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for i, a := range v.Args {
				if !addresses(v, i) {
					lose(a)
				}
			}
		}
		for at := range b.Term.Operands() {
			lose(*at)
		}
	}
	return private
}

// addresses reports whether v uses operand i only to reach memory.
func addresses(v *ir.Value, i int) bool {
	switch {
	case v.Op == ir.OpCall, v.Op == ir.OpCopy:
		return true
	case v.Op.IsMemory(), v.Op == ir.OpZero:
		return i == 0
	}
	return false
}

// A piece is some bytes of a slot.
type piece struct {
	slot     *ir.Slot
	from, to int64
}

func (s piece) overlaps(o piece) bool { return s.slot == o.slot && s.from < o.to && o.from < s.to }

// spanAt is n bytes from an address that is one of a slot.
func spanAt(addr *ir.Value, off, n int64) (piece, bool) {
	if addr.Op != ir.OpSlot {
		return piece{}, false
	}
	return piece{addr.Slot, addr.Imm + off, addr.Imm + off + n}, true
}

// writes gives the piece of a slot that v overwrites and does nothing else.
func writes(v *ir.Value) (piece, bool) {
	switch {
	case v.Op.IsStore():
		return spanAt(v.Args[0], v.Imm, int64(v.Op.Width()))
	case v.Op == ir.OpZero, v.Op == ir.OpCopy:
		return spanAt(v.Args[0], 0, v.Imm)
	}
	return piece{}, false
}

// touches gives f the pieces of slots that v may read, and those that it may
// write in another way than writes says. A helper may do both to all of a slot.
func touches(v *ir.Value, f func(piece)) {
	at := func(a *ir.Value, off, n int64) {
		if s, ok := spanAt(a, off, n); ok {
			f(s)
		}
	}
	switch {
	case v.Op == ir.OpCall:
		for _, a := range v.Args {
			if a.Op == ir.OpSlot {
				f(piece{a.Slot, 0, int64(a.Slot.Size)})
			}
		}
	case v.Op.IsLoad():
		at(v.Args[0], v.Imm, int64(v.Op.Width()))
	case v.Op == ir.OpCopy:
		at(v.Args[1], 0, v.Imm)
	case v.Op.IsMemory() && !v.Op.IsStore(): // atomics
		at(v.Args[0], v.Imm, 8)
	}
}
