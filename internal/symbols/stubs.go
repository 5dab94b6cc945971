package symbols

import (
	"cmp"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
)

// withStubs adds the entries of procedure linkage tables to the functions of a file, all by address. No symbol covers
// them, but for one that says nothing of its size, as _init, which goes on to the next.
func withStubs(list, stubs []elffile.Function) []elffile.Function {
	if len(stubs) == 0 {
		return list
	}
	list = append(slices.Clone(list), stubs...)
	slices.SortStableFunc(list, func(a, b elffile.Function) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// signalReturn names the code to which handlers of signals return where no symbol does: the frame above it is that of
// the kernel. Libraries that are stripped have no name for it, and it is found by its frame.
const signalReturn = "__restore_rt"
