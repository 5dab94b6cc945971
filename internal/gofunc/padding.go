package gofunc

import (
	"bytes"
	"fmt"
	"slices"
)

// A Flow is the code of a function, taken apart once for many questions.
type Flow struct {
	arch string
	code []byte
	// begins are the offsets at which instructions begin, and jumps those of jumps, by the offset to which they go.
	begins map[int]bool
	jumps  map[int][]int
	// next are where the instructions end that always go on with the next one, by where they begin.
	next map[int]int
}

// NewFlow takes the code of a function apart.
func NewFlow(arch string, code []byte) (*Flow, error) {
	next, err := decoder(arch, code)
	if err != nil {
		return nil, err
	}
	f := &Flow{arch, code, map[int]bool{}, map[int][]int{}, map[int]int{}}
	for at := 0; at < len(code); {
		in, err := next(code, at)
		if err != nil {
			return nil, fmt.Errorf("find where instructions begin: %w", err)
		}
		f.begins[at] = in.kind != data
		if in.kind == branch || in.kind == jump {
			f.jumps[in.target] = append(f.jumps[in.target], at)
		}
		if in.kind == plain {
			f.next[at] = at + in.size
		}
		at += in.size
	}
	return f, nil
}

// Straight are the instructions before an end that run whenever the one at an offset does, and only then, in order.
func (f *Flow) Straight(offset, end int) (out []int) {
	for {
		next, ok := f.next[offset]
		if !ok || next >= end || !f.begins[next] || len(f.jumps[next]) > 0 {
			return out
		}
		out = append(out, next)
		offset = next
	}
}

// Begins reports whether an instruction begins at an offset.
func (f *Flow) Begins(offset int) bool { return f.begins[offset] }

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
	if behind == offset || !f.begins[behind] || len(from) == 0 || slices.ContainsFunc(from, own) {
		return offset
	}
	return behind
}

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
