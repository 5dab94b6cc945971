package gofunc

import "slices"

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
func Joined(arch string, code []byte, offset int, always bool, own func(int) bool) int {
	next, err := decoder(arch, code)
	if err != nil {
		return offset
	}
	if in, err := next(code, offset); err != nil || in.kind != jump {
		return offset
	}
	ways, err := waysOf(next, code)
	if err != nil {
		return offset
	}
	for range mostJumps {
		in, ok := ways.in[offset]
		if !ok || in.kind != jump || !own(in.target) || !always && !ways.entered(in.target, offset) {
			break
		}
		offset = in.target
	}
	return offset
}

// ways are those through the code of a function.
type ways struct {
	in map[int]instruction // by their offsets
}

func waysOf(next decode, code []byte) (*ways, error) {
	w := &ways{map[int]instruction{}}
	for at := 0; at < len(code); {
		in, err := next(code, at)
		if err != nil {
			return nil, err
		}
		w.in[at] = in
		at += in.size
	}
	return w, nil
}

// from are the offsets to which an instruction can go on.
func (w *ways) from(in instruction) []int {
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

// reach are the instructions to which the one at an offset leads, on ways that do not come by another one. It is one of
// them itself.
func (w *ways) reach(offset, without int) map[int]bool {
	seen, todo := map[int]bool{}, []int{offset}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		in, ok := w.in[at]
		if !ok || seen[at] || at == without {
			continue
		}
		seen[at] = true
		todo = append(todo, w.from(in)...)
	}
	return seen
}

// entered reports whether a way comes to the instruction at an offset otherwise than by one jump, and by no turn of a
// loop that begins there: the function can go it without having been there before.
func (w *ways) entered(offset, jump int) bool {
	inside, around := w.reach(offset, -1), w.reach(0, offset)
	for at, in := range w.in {
		turn := inside[at] && !around[at]
		if at != jump && !turn && slices.Contains(w.from(in), offset) {
			return true
		}
	}
	return false
}
