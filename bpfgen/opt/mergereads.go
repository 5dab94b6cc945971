package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass mergeReads: neighbouring reads of kernel memory become one.

// mergedSpan is how many bytes one read may take in place of several, and
// readStack how many bytes of slots the function may have with it.
const (
	mergedSpan = 64
	readStack  = 320
)

// mergeReads makes one read of several reads of neighbouring kernel memory:
// the fields of one object. The price of a read is the call, not the bytes.
// Not of user memory, of which a page may be there and the next not.
func mergeReads(f *ir.Func) bool {
	if !hasProbeReads(f) {
		return false
	}
	private, changed := privateSlots(f), false
	open := openSlots(f, f.Order())
	for _, b := range f.Order() {
		var groups [][]*probeRead
		for _, r := range probeReads(b, private, open[b.ID]) {
			groups = join(groups, r)
		}
		for _, g := range groups {
			if lo, hi := extent(g); len(g) > 1 && stackSize(f)+int(hi-lo) <= readStack {
				mergeGroup(b, g)
				changed = true
			}
		}
	}
	return changed
}

// join adds r to the group whose memory it is near, or starts one.
func join(groups [][]*probeRead, r *probeRead) [][]*probeRead {
	if r.call.Imm != helperProbeReadKernel {
		return groups
	}
	for i, g := range groups {
		if g[0].base != r.base {
			continue
		}
		longer := append(slices.Clip(g), r)
		if lo, hi := extent(longer); hi-lo <= mergedSpan && aligned(longer) {
			groups[i] = longer
			return groups
		}
	}
	return append(groups, []*probeRead{r})
}

// extent is the memory of the reads of a group, from base on; its start is
// aligned as the object is.
func extent(g []*probeRead) (lo, hi int64) {
	lo, hi = g[0].off, g[0].off
	for _, r := range g {
		lo, hi = min(lo, r.off), max(hi, r.off+r.dst.to-r.dst.from)
	}
	return lo &^ 7, hi
}

// aligned reports whether the stack can be loaded from where the bytes of the
// reads would be: it wants multiples of the width.
func aligned(g []*probeRead) bool {
	for _, r := range g {
		for _, l := range r.loads {
			if r.place(l)%int64(l.Op.Width()) != 0 {
				return false
			}
		}
	}
	return true
}

// place is what the load l takes, from base on.
func (r *probeRead) place(l *ir.Value) int64 {
	return r.off + l.Args[0].Imm + l.Imm - r.dst.from
}

func stackSize(f *ir.Func) int {
	n := 0
	for _, s := range f.Slots {
		n += s.Size
	}
	return n
}

// mergeGroup makes the first read of g one for all.
func mergeGroup(b *ir.Block, g []*probeRead) {
	f, first := b.Func, g[0].call
	lo, hi := extent(g)
	slot := f.NewSlot(int(hi - lo))
	before := func(op ir.Op, imm int64, args ...*ir.Value) *ir.Value {
		v := f.NewValue(op, first.Pos, args...)
		v.Imm, v.Block = imm, b
		b.Values = slices.Insert(b.Values, slices.Index(b.Values, first), v)
		return v
	}
	dst := before(ir.OpSlot, 0)
	dst.Slot = slot
	first.Args = []*ir.Value{dst, before(ir.OpConst, hi-lo), before(ir.OpAdd, lo, g[0].base)}
	s := newSubst(f)
	for _, r := range g {
		for _, l := range r.loads {
			l.Args, l.Imm = []*ir.Value{dst}, r.place(l)-lo
		}
		if r.call != first {
			s.replace(r.call, first)
		}
	}
	s.apply(f)
	s.forget(f)
}
