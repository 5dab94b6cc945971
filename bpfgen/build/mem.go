package build

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// A piece above smallPiece goes to the stack only while the budget holds; a
// small one may take smallReserve more, because one in scratch memory costs
// the claim of a scratch slot.
const (
	smallPiece   = 64
	smallReserve = 80
)

// DefaultStack is the budget to begin with. The rest of the 512 bytes is for
// spilled registers; Generate builds again with less where it does not suffice.
const DefaultStack = 344

// A region is memory of the program: a slot, or a part of the scratch memory.
type region struct {
	slot *ir.Slot
	off  int64 // in the scratch memory
	size int
}

// alloc gives memory that is the caller's for the whole program, or until it
// gives it back.
func (b *builder) alloc(size int) *region {
	size = (size + 7) &^ 7
	if r := b.reuse(size, true); r != nil {
		return r
	}
	r := b.fresh(size)
	b.made = append(b.made, r)
	return r
}

// release gives memory back whose bytes nothing needs any more: a key after
// the look-up, a record that is sent. Not in a loop: there a variable could
// get it, and be overwritten when the loop comes round.
func (b *builder) release(list ...*region) {
	if len(b.loops) == 0 {
		b.free = append(b.free, list...)
	}
}

// reuse takes free memory of about that size, the smallest that fits.
func (b *builder) reuse(size int, stack bool) *region {
	best := -1
	for i, r := range b.free {
		fits := r.size >= size && r.size <= 2*size+16 && (stack || r.slot == nil)
		if fits && (best < 0 || r.size < b.free[best].size) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	r := b.free[best]
	b.free = append(b.free[:best:best], b.free[best+1:]...)
	return r
}

// fresh makes new memory.
func (b *builder) fresh(size int) *region {
	budget := b.budget
	if size <= smallPiece && budget > 0 {
		budget += smallReserve
	}
	if b.stack+size <= budget {
		b.stack += size
		return &region{slot: b.f.NewSlot(size), size: size}
	}
	return b.scratch(size)
}

// MaxPiece is the most bytes of one piece of memory, which is also the reach of an instruction's offset: a larger one
// does not fit into the scratch memory.
const MaxPiece = 32<<10 - 8

// TooLarge says that one key, value, record or string of a handler is larger than MaxPiece.
type TooLarge struct {
	Pos  plan.Pos
	Size int
}

func (e *TooLarge) Error() string { return fmt.Sprintf("%s: a piece of %d bytes", e.Pos, e.Size) }

// scratch gives a part of the scratch memory.
func (b *builder) scratch(size int) *region {
	if size > MaxPiece {
		panic(&TooLarge{b.pos, size})
	}
	b.Uses[tree.MapScratch] = true
	off := b.f.ScratchSize
	b.f.ScratchSize += size
	return &region{off: int64(off), size: size}
}

// alone runs f, after which all memory that it took is free again: for ways of
// which only one is taken and after which the program ends.
func (b *builder) alone(f func()) {
	free, made := append([]*region(nil), b.free...), b.made
	b.made = nil
	f()
	b.free = append(free, b.made...)
	b.made = made
}

// allocText gives memory for a string. Kernels before 5.12 refuse loads from
// the stack at an offset that is not constant, as tests of strings need.
func (b *builder) allocText(size int) *region {
	if !b.NoCmpXchg {
		return b.alloc(size)
	}
	return b.allocScratch(size)
}

// allocScratch is alloc in the scratch memory, which lies in a map.
func (b *builder) allocScratch(size int) *region {
	size = (size + 7) &^ 7
	if r := b.reuse(size, false); r != nil {
		return r
	}
	r := b.scratch(size)
	b.made = append(b.made, r)
	return r
}

// addr is the address of byte off of r. Addresses are made anew at each use:
// they cost one instruction and no register in between.
func (b *builder) addr(r *region, off int64) *ir.Value {
	if r.slot != nil {
		return b.slotAddr(r.slot, off)
	}
	return b.cur.AddImm(ir.OpScratch, b.pos, r.off+off)
}

// temp is the 8-byte slot through which scalars are read.
func (b *builder) temp() *ir.Value {
	if b.loadSlot == nil {
		b.stack += 8
		b.loadSlot = b.f.NewSlot(8)
	}
	return b.slotAddr(b.loadSlot, 0)
}
