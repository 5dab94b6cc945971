package gofunc

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Where a probe stands behind padding, or in front of the head of code's own loop, for inlined copies.

// BehindPadding gives where a probe stands for code within the function that begins at an offset. Compilers put
// instructions that do nothing in front of a loop, and debug information may count them to code that is the loop's:
//
//	39  nop         once, before the loop
//	40  lea …       the code, for each turn
//	…
//	7b  jne 40      of the function around the code
//
// Then the probe stands behind them. own reports whether the instruction at an offset is of the code: where the code
// jumps back itself the loop is its own, and it begins in front of the loop.
func (f *Flow) BehindPadding(offset int, own func(int) bool) int {
	behind := offset
	for behind < len(f.code) {
		n := padding(f.arch, f.code[behind:])
		if n == 0 {
			break
		}
		behind += n
	}
	from := f.jumps[behind]
	if behind == offset || !f.Begins(behind) || len(from) == 0 || slices.ContainsFunc(from, own) {
		return offset
	}
	return behind
}

// IntoLoop gives where a probe stands for code within the function that begins at an offset with the head of a loop of
// its own, so that a turn is no begin: at the instruction before it, where all ways into the loop come by that, and it
// does nothing but go on.
//
//	b3  lea rax, …  before the loop
//	b7  nop
//	c0  mov ecx, …  the code, for each turn
//	…
//	d6  jne c0      of the code, too
//
// turns: a probe there hits at each turn all the same. own is as that of BehindPadding.
func (f *Flow) IntoLoop(offset int, own func(int) bool) (at int, turns bool) {
	head := f.head(offset, own)
	from := f.jumps[head]
	if !slices.ContainsFunc(from, own) {
		return offset, false
	}
	others := slices.ContainsFunc(from, func(at int) bool { return !own(at) })
	for before := head - 1; before >= max(0, head-longestInstruction) && !others; before-- {
		if in, ok := f.in[before]; ok && in.size == head-before && in.kind == plain && !own(before) {
			return before, false
		}
	}
	return offset, true
}

// head is where the turns of a loop of the code come to that begins at an offset: that, or the first of instructions in
// front of it that only move values between registers, to which the code jumps. Those are of no line:
//
//	e4  mov r8, rdi     at each turn
//	e7  …               the code
//	04  jne e4          of the code
func (f *Flow) head(offset int, own func(int) bool) int {
	for at := offset; ; {
		if slices.ContainsFunc(f.jumps[at], own) {
			return at
		}
		before := slices.IndexFunc([]int{2, 3, 4}, func(size int) bool {
			in, ok := f.in[at-size]
			return ok && in.size == size && in.kind == plain && !own(at-size) &&
				movesRegister(f.arch, f.code[at-size:at])
		})
		if before < 0 || len(f.jumps[at]) > 0 {
			return offset
		}
		at -= before + 2
	}
}

// movesRegister reports whether an instruction does nothing but put the value of one register into another.
func movesRegister(arch string, code []byte) bool {
	if arch == "arm64" { // orr x0, xzr, x1
		return len(code) == 4 && binary.LittleEndian.Uint32(code)&0x7fe0ffe0 == 0x2a0003e0
	}
	if code[0]&0xf0 == 0x40 { // a prefix REX
		code = code[1:]
	}
	return len(code) == 2 && (code[0] == 0x89 || code[0] == 0x8b) && code[1] >= 0xc0
}

// longestInstruction is how long an instruction of any processor can be.
const longestInstruction = 15

// padding is how long the instruction is with which some code begins, if it does nothing, else 0.
func padding(arch string, code []byte) int {
	if arch == "arm64" {
		if bytes.HasPrefix(code, []byte{0x1f, 0x20, 0x03, 0xd5}) {
			return 4
		}
		return 0
	}
	prefixes := 0
	for prefixes < len(code) && (code[prefixes] == 0x66 || code[prefixes] == 0x2e) {
		prefixes++
	}
	rest := code[prefixes:]
	switch {
	case len(rest) >= 1 && rest[0] == 0x90:
		return prefixes + 1
	case len(rest) >= 3 && rest[0] == 0x0f && rest[1] == 0x1f:
		if in, err := decodeAMD64(code, 0); err == nil {
			return in.size
		}
	}
	return 0
}
