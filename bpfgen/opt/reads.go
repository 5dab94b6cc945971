package opt

import (
	"math"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Calls of `bpf_probe_read_*` and the loads that take what they read, found for other passes.

// The helpers that copy memory which may not be there; from
// include/uapi/linux/bpf.h.
const (
	helperProbeReadUser   = 112
	helperProbeReadKernel = 113
)

// A probeRead is a call that copies size bytes at base+off to a slot, and the
// loads that take them from there, all in one block.
type probeRead struct {
	call  *ir.Value
	dst   piece
	base  *ir.Value
	off   int64
	loads []*ir.Value
}

// probeReads finds the reads of b whose bytes only their loads need. openEnd
// tells by slot where loads behind b need what b leaves there.
func probeReads(b *ir.Block, private, openEnd []bool) []*probeRead {
	var found []*probeRead
	last := map[*ir.Slot]*probeRead{}
	drop := func(s *ir.Slot) {
		for i, r := range found {
			if r == last[s] {
				found = append(found[:i], found[i+1:]...)
				break
			}
		}
		delete(last, s)
	}
	for _, v := range b.Values {
		if r, ok := asProbeRead(v); ok && private[r.dst.slot.ID] {
			found = append(found, r)
			last[r.dst.slot] = r
			continue
		}
		if s, ok := writes(v); ok {
			drop(s.slot)
		}
		touches(v, func(s piece) {
			if r := last[s.slot]; r != nil && v.Op.IsLoad() && s.from >= r.dst.from && s.to <= r.dst.to {
				r.loads = append(r.loads, v)
				return
			}
			drop(s.slot)
		})
	}
	for s := range last {
		if openEnd[s.ID] {
			drop(s)
		}
	}
	return found
}

// asProbeRead takes apart a call.
func asProbeRead(v *ir.Value) (*probeRead, bool) {
	if v.Op != ir.OpCall || v.Imm != helperProbeReadUser && v.Imm != helperProbeReadKernel {
		return nil, false
	}
	size, ok := constant(v.Args[1])
	if !ok || size <= 0 || size > math.MaxInt16 {
		return nil, false
	}
	dst, ok := spanAt(v.Args[0], 0, size)
	if !ok {
		return nil, false
	}
	r := &probeRead{call: v, dst: dst, base: v.Args[2]}
	if x := v.Args[2]; x.Op == ir.OpAdd && len(x.Args) == 1 {
		r.base, r.off = x.Args[0], x.Imm
	}
	return r, !isMade(r.base) // not of our own memory, which other instructions write
}

func hasProbeReads(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpCall && (v.Imm == helperProbeReadUser || v.Imm == helperProbeReadKernel) {
				return true
			}
		}
	}
	return false
}

// openSlots gives for each block the slots that something behind its end
// reads before a probe read fills them.
func openSlots(f *ir.Func, order []*ir.Block) [][]bool {
	type use struct{ reads, fills bool }
	first := make([]map[int]use, f.NumBlocks())
	for _, b := range order {
		first[b.ID] = map[int]use{}
		for _, v := range b.Values {
			note := func(s piece, u use) {
				if _, ok := first[b.ID][s.slot.ID]; !ok {
					first[b.ID][s.slot.ID] = u
				}
			}
			if r, ok := asProbeRead(v); ok {
				note(r.dst, use{fills: true})
				continue
			}
			touches(v, func(s piece) { note(s, use{reads: true}) })
		}
	}
	end := make([][]bool, f.NumBlocks())
	for _, b := range order {
		end[b.ID] = make([]bool, len(f.Slots))
	}
	for changed := true; changed; {
		changed = false
		for i := len(order) - 1; i >= 0; i-- {
			b := order[i]
			for _, e := range b.Term.To {
				for s := range f.Slots {
					u := first[e.Block.ID][s]
					if open := u.reads || !u.fills && end[e.Block.ID][s]; open && !end[b.ID][s] {
						end[b.ID][s], changed = true, true
					}
				}
			}
		}
	}
	return end
}
