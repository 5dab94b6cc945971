package gofunc

import (
	"encoding/binary"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// Whether code stores into memory before it decides or calls.

// Stores reports whether own code stores into memory from an offset on, before it decides or calls. Compilers put such
// code in front of no loop, as what only computes. What lies in the frame does not count: registers are kept there.
func (f *Flow) Stores(offset int, own func(int) bool) bool {
	for own(offset) {
		in, ok := f.in[offset]
		if !ok || in.kind != plain {
			return false
		}
		code := f.code[offset : offset+in.size]
		if f.arch == "amd64" && storesAMD64(code) || f.arch == "arm64" && storesARM64(code) {
			return true
		}
		offset += in.size
	}
	return false
}

// StoresBefore reports whether own code that begins at an offset stores in front of a loop that has a later own offset.
func (f *Flow) StoresBefore(first, later int, own func(int) bool) bool {
	if !f.Begins(first) || !f.Stores(first, own) {
		return false
	}
	for at := range f.reach(later, first) {
		if at != later && f.reach(at, first)[later] {
			return true
		}
	}
	return false
}

// storing are the instructions of amd64 that write their first operand, of those that compilers make of a store.
var storing = []x86asm.Op{x86asm.MOV, x86asm.ADD, x86asm.SUB, x86asm.INC, x86asm.DEC, x86asm.AND, x86asm.OR,
	x86asm.XOR, x86asm.NEG, x86asm.NOT, x86asm.XADD, x86asm.XCHG, x86asm.CMPXCHG}

func storesAMD64(code []byte) bool {
	in, err := x86asm.Decode(code, 64)
	if err != nil || !slices.Contains(storing, in.Op) {
		return false
	}
	mem, ok := in.Args[0].(x86asm.Mem)
	return ok && mem.Base != x86asm.RSP && mem.Base != x86asm.RBP
}

// storesARM64 knows str of a register, with an offset and without.
func storesARM64(code []byte) bool {
	word := binary.LittleEndian.Uint32(code)
	scaled, unscaled := word&0x3fc00000 == 0x39000000, word&0x3fe00000 == 0x38000000
	base := word >> 5 & 31
	return (scaled || unscaled) && base != 31 && base != 29
}
