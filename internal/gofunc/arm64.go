package gofunc

import (
	"encoding/binary"
	"fmt"
)

// Instructions of arm64 decoded: branches and literals.

// decodeARM64 tells branches by their bits (Arm ARM, C4.1.66): all
// instructions have four bytes, and the rest of them does not matter. pool are
// words that are data.
func decodeARM64(code []byte, at int, pool map[int]bool) (instruction, error) {
	in := instruction{at: at, size: 4}
	if at%4 != 0 || at+4 > len(code) {
		return in, fmt.Errorf("no instruction of arm64 at +%#x", at)
	}
	if pool[at] {
		in.kind = data
		return in, nil
	}
	switch word := binary.LittleEndian.Uint32(code[at:]); {
	case word&0xfffffc1f == 0xd65f0000, word&0xfffffbff == 0xd65f0bff: // RET Xn; RETAA, RETAB
		in.kind = ret
	case word>>26 == 0b100101: // BL
		in.kind, in.target = call, at+signed(word, 0, 26)
	case word&0xfffffc1f == 0xd63f0000, word&0xfffff81f == 0xd63f081f,
		word&0xfffff800 == 0xd73f0800: // BLR; BLRAAZ, BLRAA
		in.kind = call
	case word&0xfffffc1f == 0xd61f0000, word&0xfffff81f == 0xd61f081f, word&0xfffff800 == 0xd71f0800: // BR; BRAAZ, BRAA
		in.kind = leave
		if loaded(code, at, word>>5&31) {
			in.kind, in.target = leaveByMemory, Elsewhere
		}
	case word>>26 == 0b000101: // B
		in.kind, in.target = jump, at+signed(word, 0, 26)
	case word>>24 == 0x54, word>>25&0x3f == 0b011010: // B.cond, CBZ, CBNZ
		in.kind, in.target = branch, at+signed(word, 5, 19)
	case word>>25&0x3f == 0b011011: // TBZ, TBNZ
		in.kind, in.target = branch, at+signed(word, 5, 14)
	}
	return in, nil
}

// signed takes a signed number of words out of an instruction, in bytes.
func signed(word uint32, low, bits int) int {
	return int(int32(word<<(32-low-bits))>>(32-bits)) * 4
}

// literals finds the words that are data: Go's assembler puts constants behind
// the code and loads them relative to the instruction (LDR literal).
func literals(code []byte) map[int]bool {
	pool := map[int]bool{}
	for at := 0; at+4 <= len(code); at += 4 {
		word := binary.LittleEndian.Uint32(code[at:])
		if word&0x3b000000 != 0x18000000 || pool[at] {
			continue
		}
		words := 1 << (word >> 30 & 3) // W or S, X or D, Q; 3 is a prefetch or SW (one word)
		if words > 4 || word>>30 == 2 && word>>26&1 == 0 {
			words = 1
		}
		for i := range words {
			pool[at+signed(word, 5, 19)+4*i] = true
		}
	}
	return pool
}

// loaded reports whether the register of a jump was loaded from a place that an instruction says: a method or an
// import. Tables of a switch are indexed by a register, or have distances, which are added. Between the load and the
// jump stands what gives back the stack.
func loaded(code []byte, at int, register uint32) bool {
	for at -= 4; at >= 0; at -= 4 {
		word := binary.LittleEndian.Uint32(code[at:])
		switch {
		case word>>26&0b111 == 0b101: // branches, returns, calls
			return false
		case word&0x1f != register:
		case word&0xffe0ffe0 == 0xaa0003e0: // MOV Xd, Xm
			register = word >> 16 & 31
		default: // LDR Xt, with an unsigned offset; with a signed one, before or behind
			return word&0xffc00000 == 0xf9400000 || word&0xffe00000 == 0xf8400000
		}
	}
	return false
}
