package elffile

import (
	"encoding/binary"
	"fmt"
)

// Frames of Go's functions by .gopclntab, for files without .debug_frame.
//
// Go's runtime walks along stacks by .gopclntab, which strip leaves: for each function it has by how much the stack
// pointer has moved since its first instruction. Go's linker makes .debug_frame of the same numbers, where it makes
// one.

// A GoFrame is some code of a function in which the stack pointer does not move.
type GoFrame struct {
	// Begin is the address of the first byte, End that of the byte behind it.
	Begin, End uint64
	// Depth is how many bytes the stack pointer is below where it was at the first instruction of the function.
	Depth int64
	// Top: nobody has called the function.
	Top bool
}

const (
	// goFrameWord is which word of 32 bits of a function's description tells where its depths are; 0: it has none.
	goFrameWord = 4
	// goFlags is which byte of it has its flags, of which goTop says that nobody has called it.
	goFlags, goTop = 41, 1
	// maxGoValues bounds the values by code. The largest programs have some 20 MB.
	maxGoValues = 64 << 20
	// maxGoFrames bounds the frames. The largest programs have two million.
	maxGoFrames = 16 << 20
)

// GoFrames are the frames of the functions of a file of Go.
type GoFrames struct {
	table  *goTable
	header goHeader
	// values are by how much the stack pointer moves, of all functions.
	values []byte
}

// ReadGoFrames gives the frames of Go's functions, none of a file that has no table of Go 1.18 or later.
func ReadGoFrames(f *File) (*GoFrames, error) {
	table := goTableInPieces(f)
	if table == nil {
		return &GoFrames{}, nil
	}
	h, err := table.header()
	if err != nil || h.values > h.functions || h.functions-h.values > maxGoValues {
		return &GoFrames{}, err
	}
	values := make([]byte, h.functions-h.values)
	if _, err := table.from.ReadAt(values, int64(h.values)); err != nil {
		return &GoFrames{}, fmt.Errorf("read %s of %s: %w", goTableSection, f.Path, err)
	}
	return &GoFrames{table, h, values}, nil
}

// Each calls with the frames by address. Where the table is damaged it ends.
func (g *GoFrames) Each(call func(GoFrame)) error {
	if g.table == nil {
		return nil
	}
	order := g.table.file.elf.ByteOrder
	last, left := uint64(0), maxGoFrames
	return g.table.each(g.header, g.header.flags+1, func(begin, end uint64, described []byte) {
		at := order.Uint32(described[4*goFrameWord:])
		if at > 0 && uint64(at) < uint64(len(g.values)) && last <= begin {
			of := GoFrame{Begin: begin, End: end, Top: described[g.header.flags]&goTop != 0}
			last = of.each(g.values[at:], g.header.step, &left, call)
		}
	})
}

// each calls with the frames of a function, of which the frame has where it lies, and gives where they end. Each is by
// how much the depth changes, as a number whose lowest bit is its sign, and for how many steps of code it holds; at the
// end the depth does not change. The first depth counts from -1. left is how many frames there may be.
func (of GoFrame) each(values []byte, step uint64, left *int, call func(GoFrame)) (end uint64) {
	at, out := of.Begin, GoFrame{Depth: -1, Top: of.Top}
	for ; at < of.End && *left > 0; *left-- {
		change, n := binary.Uvarint(values)
		if n <= 0 || change == 0 && at > of.Begin {
			break
		}
		steps, m := binary.Uvarint(values[n:])
		if m <= 0 || steps == 0 || steps > (of.End-at)/max(step, 1) {
			break
		}
		out.Begin, out.End = at, at+steps*step
		out.Depth += int64(change>>1) ^ -int64(change&1)
		call(out)
		at, values = out.End, values[n+m:]
	}
	return at
}
