package gofunc

import "slices"

// EnteredAt gives where code within the function is entered that is said to begin at an offset, where no way leads to
// that from outside: debug information of LLVM has the lowest address of the code, and LLVM turns loops so that a part
// from the middle lies first.
//
//	79  jmp 9a      before the loop
//	7b  nop         where the code is said to begin: padding, which never runs
//	80  …           the code's end
//	98  je ba       of the loop
//	9a  …           where it is entered, at each turn
//	b8  jmp 80
//
// own reports whether the instruction at an offset is of the code. later: where a way from outside leads to the offset,
// too, it is asked whether that comes by the code itself. The offset stays where there is no other place, or several.
func (f *Flow) EnteredAt(offset int, later bool, own func(int) bool) int {
	from := f.before(offset)
	if !later && slices.ContainsFunc(from, func(at int) bool { return !own(at) }) ||
		len(from) == 0 && padding(f.arch, f.code[min(offset, len(f.code)):]) == 0 {
		return offset
	}
	entries := f.edge(own)
	if len(entries) != 1 || slices.Contains(entries, offset) {
		return offset
	}
	return entries[0]
}

// before are the instructions that can go on to the one at an offset.
func (f *Flow) before(offset int) []int {
	out := slices.Clone(f.jumps[offset])
	for at := offset - 1; at >= max(0, offset-longestInstruction); at-- {
		in, ok := f.in[at]
		if ok && at+in.size == offset && slices.Contains(f.from(in), offset) {
			out = append(out, at)
		}
	}
	return out
}

// edge are the own instructions to which the function comes without having been at one of them.
func (f *Flow) edge(own func(int) bool) (out []int) {
	seen, todo := map[int]bool{}, []int{0}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		in, ok := f.in[at]
		switch {
		case !ok || seen[at]:
			continue
		case own(at):
			out = append(out, at)
		default:
			todo = append(todo, f.from(in)...)
		}
		seen[at] = true
	}
	return out
}
