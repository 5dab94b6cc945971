package gofunc

import (
	"fmt"
	"slices"
)

// Flow, the code of a function: which instruction goes on where.

// A Flow is the code of a function, taken apart once for many questions: which instructions it has, and which of them
// goes on where.
type Flow struct {
	arch string
	code []byte
	// in are the instructions by the offsets at which they begin, and jumps the offsets of those of jumps, by the one
	// to which they go: it may be negative, or behind the end of the function.
	in    map[int]instruction
	jumps map[int][]int
}

// NewFlow takes the code of a function apart. Where it comes to something that is no instruction, the flow is that of
// the code before, and the error says so. It is nil for a processor that is not known.
func NewFlow(arch string, code []byte) (*Flow, error) {
	next, err := decoder(arch, code)
	if err != nil {
		return nil, err
	}
	f := &Flow{arch, code, map[int]instruction{}, map[int][]int{}}
	for at := 0; at < len(code); {
		in, err := next(code, at)
		if err != nil {
			return f, fmt.Errorf("find where instructions begin: %w", err)
		}
		f.in[at] = in
		if in.kind == branch || in.kind == jump {
			f.jumps[in.target] = append(f.jumps[in.target], at)
		}
		at += in.size
	}
	return f, nil
}

// Begins reports whether an instruction begins at an offset.
func (f *Flow) Begins(offset int) bool {
	in, ok := f.in[offset]
	return ok && in.kind != data
}

// JumpedTo reports whether the code jumps to an offset, which may be negative or behind its end.
func (f *Flow) JumpedTo(offset int) bool { return len(f.jumps[offset]) > 0 }

// Straight are the instructions before an end that run whenever the one at an offset does, and only then, in order.
func (f *Flow) Straight(offset, end int) (out []int) {
	for {
		in, ok := f.in[offset]
		next := offset + in.size
		if !ok || in.kind != plain || next >= end || !f.Begins(next) || f.JumpedTo(next) {
			return out
		}
		out = append(out, next)
		offset = next
	}
}

// Before is the instruction that runs whenever the one at an offset does, right before it, and goes on nowhere else;
// false where there is none.
func (f *Flow) Before(offset int) (at int, ok bool) {
	for at := offset - 1; at >= max(0, offset-longestInstruction) && !f.JumpedTo(offset); at-- {
		if in, known := f.in[at]; known && in.size == offset-at {
			return at, in.kind == plain
		}
	}
	return 0, false
}

// from are the offsets to which an instruction can go on.
func (f *Flow) from(in instruction) []int {
	switch in.kind {
	case plain, call:
		return []int{in.at + in.size}
	case branch:
		return []int{in.at + in.size, in.target}
	case jump:
		return []int{in.target}
	}
	return nil
}

// nowhere is the offset of no instruction.
const nowhere = -1

// reach are the instructions to which the one at an offset leads, on ways that do not come by another one. It is one of
// them itself.
func (f *Flow) reach(offset, without int) map[int]bool {
	seen, todo := map[int]bool{}, []int{offset}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		in, ok := f.in[at]
		if !ok || seen[at] || at == without {
			continue
		}
		seen[at] = true
		todo = append(todo, f.from(in)...)
	}
	return seen
}

// again reports whether the instruction at an offset can run again without another one.
func (f *Flow) again(offset, without int) bool {
	return slices.ContainsFunc(f.from(f.in[offset]), func(next int) bool { return f.reach(next, without)[offset] })
}
