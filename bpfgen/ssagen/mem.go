package ssagen

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// Memory of a program: its stack (`DefaultStack`) and scratch memory, what goes where, the largest piece (`MaxPiece`).

// A piece above smallPiece goes to the stack only while the budget holds; a
// small one may take smallReserve more, because one in scratch memory costs
// the claim of a scratch slot.
const (
	smallPiece   = 64
	smallReserve = 80
)

// DefaultStack is the budget of the stack in bytes to begin with. The rest of the 512 bytes is for smallReserve and for
// spilled registers. Generate builds again with less where that does not suffice.
const DefaultStack = 344

// memory hands out the memory of a function: pieces of its stack, and of the scratch memory that programs claim. It is
// about one function from its first instruction to its last.
type memory struct {
	// shared has what the programs of the unit have in common. It says whether the kernel is older than 5.12, and is
	// told that the scratch memory is used.
	shared *Shared
	// body is the function that has the memory.
	body *ir.Builder
	// stack is how many bytes of the stack the slots take so far. budget is how many they may take, without
	// smallReserve.
	stack, budget int
	// made is the memory that was handed out since the function began, or since the innermost alone. free is the memory
	// that was given back and was not handed out again.
	made, free []*region
	// inLoops is how many loops the current place is in.
	inLoops int
	// loadSlot is the 8 bytes of the stack through which scalars are read. It is nil until the first of them.
	loadSlot *ir.Slot
}

// A region is memory of the program: the slot of the stack, or, where that is nil, the size bytes at the offset off of
// the scratch memory. size is a multiple of 8.
type region struct {
	slot *ir.Slot
	off  int64
	size int
}

// alloc gives memory that is the caller's for the whole program, or until it
// gives it back.
func (m *memory) alloc(size int) *region {
	size = (size + 7) &^ 7
	if r := m.reuse(size, true); r != nil {
		return r
	}
	r := m.fresh(size)
	m.made = append(m.made, r)
	return r
}

// release gives memory back whose bytes nothing needs any more: a key after
// the look-up, a record that is sent. Not in a loop: there a variable could
// get it, and be overwritten when the loop comes round.
func (m *memory) release(list ...*region) {
	if m.inLoops == 0 {
		m.free = append(m.free, list...)
	}
}

// reuse takes free memory of about that size, the smallest that fits.
func (m *memory) reuse(size int, stack bool) *region {
	best := -1
	for i, r := range m.free {
		fits := r.size >= size && r.size <= 2*size+16 && (stack || r.slot == nil)
		if fits && (best < 0 || r.size < m.free[best].size) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	r := m.free[best]
	m.free = append(m.free[:best:best], m.free[best+1:]...)
	return r
}

// fresh makes new memory.
func (m *memory) fresh(size int) *region {
	budget := m.budget
	if size <= smallPiece && budget > 0 {
		budget += smallReserve
	}
	if m.stack+size <= budget {
		m.stack += size
		return &region{slot: m.body.Func.NewSlot(size), size: size}
	}
	return m.scratch(size)
}

// MaxPiece is the most bytes of one piece of memory, which is also the reach of an instruction's offset: a larger one
// does not fit into the scratch memory.
const MaxPiece = 32<<10 - 8

// TooLarge is the error of a key, value, record or string of a handler that is larger than MaxPiece. The one at the
// place Pos of the script takes Size bytes.
type TooLarge struct {
	Pos  plan.Pos
	Size int
}

func (e *TooLarge) Error() string { return fmt.Sprintf("%s: a piece of %d bytes", e.Pos, e.Size) }

// scratch gives a part of the scratch memory.
func (m *memory) scratch(size int) *region {
	if size > MaxPiece {
		panic(&TooLarge{m.body.Pos, size})
	}
	m.shared.Uses[tree.MapScratch] = true
	off := m.body.Func.ScratchSize
	m.body.Func.ScratchSize += size
	return &region{off: int64(off), size: size}
}

// alone runs f, after which all memory that it took is free again: for ways of
// which only one is taken and after which the program ends.
func (m *memory) alone(f func()) {
	free, made := append([]*region(nil), m.free...), m.made
	m.made = nil
	f()
	m.free = append(free, m.made...)
	m.made = made
}

// allocText gives memory for a string. Kernels before 5.12 refuse loads from
// the stack at an offset that is not constant, as tests of strings need.
func (m *memory) allocText(size int) *region {
	if !m.shared.NoCmpXchg {
		return m.alloc(size)
	}
	return m.allocScratch(size)
}

// allocScratch is alloc in the scratch memory, which lies in a map.
func (m *memory) allocScratch(size int) *region {
	size = (size + 7) &^ 7
	if r := m.reuse(size, false); r != nil {
		return r
	}
	r := m.scratch(size)
	m.made = append(m.made, r)
	return r
}

// addr is the address of byte off of r. Addresses are made anew at each use:
// they cost one instruction and no register in between.
func (b *code) addr(r *region, off int64) *ir.Value {
	if r.slot != nil {
		return b.SlotAddr(r.slot, off)
	}
	return b.OpImm(ir.OpScratch, r.off+off)
}

// temp is the 8-byte slot through which scalars are read.
func (b *code) temp() *ir.Value {
	if b.loadSlot == nil {
		b.stack += 8
		b.loadSlot = b.Func.NewSlot(8)
	}
	return b.SlotAddr(b.loadSlot, 0)
}
