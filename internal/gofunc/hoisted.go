package gofunc

// Instructions of inlined code that stand in front of a loop around it.
//
// Compilers put instructions of code within a function in front of a loop around it, since they come to the same at
// each turn, and debug information may have it begin with them:
//
//	77  mov $0, r13     of the code, once
//	7d  jmp c9
//	…
//	fe  add $4, rdx     the rest of it, for each turn of the loop around it
//	…
//	c7  jne fe

// AfterHoisted gives where such code begins for each turn, of the places at which one of its stretches begins; its
// entry where it begins there. own is as that of BehindPadding.
func (f *Flow) AfterHoisted(entry int, stretches []int, own func(int) bool) int {
	var turned []int
	if !f.onlyComputes(entry, own) || f.Stores(entry, own) {
		return entry
	}
	for _, at := range stretches {
		if at != entry && f.Begins(at) && !f.reach(at, nowhere)[entry] && f.turnsAround(at, own) {
			turned = append(turned, at)
		}
	}
	for _, at := range turned {
		first, before := true, f.reach(entry, at)
		for _, other := range turned {
			first = first && (other == at || !before[other])
		}
		if first {
			return at
		}
	}
	return entry
}

// onlyComputes reports whether nothing is decided and nothing called from an offset on, as far as the instructions are
// own.
func (f *Flow) onlyComputes(offset int, own func(int) bool) bool {
	for own(offset) {
		in, ok := f.in[offset]
		switch {
		case ok && in.kind == jump:
			return true
		case !ok || in.kind != plain:
			return false
		}
		offset += in.size
	}
	return true
}

// turnsAround reports whether the instruction at an offset can run again by a way through what is not own.
func (f *Flow) turnsAround(offset int, own func(int) bool) bool {
	around := map[int]bool{}
	for at := range f.reach(offset, nowhere) {
		around[at] = !own(at)
	}
	for at, is := range around {
		if is && f.reach(at, nowhere)[offset] {
			return true
		}
	}
	return false
}
