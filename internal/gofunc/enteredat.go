package gofunc

import "slices"

// Where code of an inlined copy is entered that debug information says to begin elsewhere.

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
// too, it is asked whether that comes by the code itself. The same is asked where no way is known to lead there: a
// table leads to it, as within a match that was inlined in the code. The offset stays where there is no other place,
// or several.
func (f *Flow) EnteredAt(offset int, later bool, own func(int) bool) int {
	from := f.before(offset)
	if here := min(offset, len(f.code)); later && offset > 0 && len(from) == 0 && padding(f.arch, f.code[here:]) == 0 {
		if entries := f.edge(own, f.tableTargets(own)...); len(entries) == 1 {
			return entries[0]
		}
		return offset
	}
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

// tableTargets are the instructions behind jumps to which no way is known: some lead there by a table, as those of a
// switch do. Own ones are left out, and so is padding.
func (f *Flow) tableTargets(own func(int) bool) (out []int) {
	for at := range f.in {
		if at > 0 && !own(at) && len(f.before(at)) == 0 && padding(f.arch, f.code[at:]) == 0 {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// edge are the own instructions to which the function comes without having been at one of them, from its beginning or
// other places.
func (f *Flow) edge(own func(int) bool, more ...int) (out []int) {
	seen, todo := map[int]bool{}, append([]int{0}, more...)
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
