package gofunc

import (
	"maps"
	"slices"
)

// Where a probe stands behind a jump, or at the jump into a loop, for lines.

// mostJumps is how many jumps are followed at most, one behind the other.
const mostJumps = 64

// Joined follows the jumps of a function from the one at an offset, as long as they go to what is own. Go without
// optimization joins the ways to a line by jumps that belong to it, each way by another one:
//
//	2b  jmp 2d      when no condition held
//	2d  jmp 2f      one way goes here,
//	2f  mov …       another one here: all of them come by this one
//
// The head of a loop, to which each turn comes, is gone to where always is set. Otherwise it is only where a way leads
// into the loop that does not come by the jump: gcc lets a break of one loop, and its end, go into the next so.
func (f *Flow) Joined(offset int, always bool, own func(int) bool) int {
	for range mostJumps {
		in, ok := f.in[offset]
		if !ok || in.kind != jump || !own(in.target) || !always && !f.entered(in.target, offset) {
			break
		}
		offset = in.target
	}
	return offset
}

// entered reports whether a way comes to the instruction at an offset otherwise than by one jump, and by no turn of a
// loop that begins there: the function can go it without having been there before.
func (f *Flow) entered(offset, jump int) bool {
	inside, around := f.reach(offset, nowhere), f.reach(0, offset)
	for at, in := range f.in {
		turn := inside[at] && !around[at]
		if at != jump && !turn && slices.Contains(f.from(in), offset) {
			return true
		}
	}
	return false
}

// Entry is the jump by which all ways come into the loop that has the instruction at an offset, where it goes to what
// is own, and is so itself or goes to another instruction than that. Else it is the offset. Go with optimization often
// leaves no more than that of how a loop begins, which it may count to the line before:
//
//	10  jmp 20      once
//	12  …
//	1c  inc rax     each turn
//	20  cmp rax, 3
//	24  jl 12
func (f *Flow) Entry(offset int, own func(int) bool) int {
	entry := offset
	for _, at := range slices.Sorted(maps.Keys(f.in)) {
		in := f.in[at]
		switch {
		case in.kind != jump || !own(in.target) || !f.again(offset, at) || f.reach(0, at)[offset]:
		case own(at):
			return at
		case in.target != offset:
			entry = at
		}
	}
	return entry
}
