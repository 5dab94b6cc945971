package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
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
const DefaultStack = 304

// A region is memory of the program: a slot, or a part of the scratch memory.
type region struct {
	slot *ir.Slot
	off  int64 // in the scratch memory
	size int
}

// alloc gives memory that is the caller's for the whole program.
func (b *builder) alloc(size int) *region {
	size = (size + 7) &^ 7
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

// scratch gives a part of the scratch memory.
func (b *builder) scratch(size int) *region {
	b.Uses[tree.MapScratch] = true
	off := b.f.ScratchSize
	b.f.ScratchSize += size
	return &region{off: int64(off), size: size}
}

// allocText gives memory for a string. Kernels before 5.12 refuse loads from
// the stack at an offset that is not constant, as tests of strings need.
func (b *builder) allocText(size int) *region {
	if b.NoCmpXchg {
		return b.scratch((size + 7) &^ 7)
	}
	return b.alloc(size)
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
