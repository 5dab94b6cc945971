package symbols

import (
	"cmp"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
)

// Names of stubs of the PLT and of signal returns among a file's functions.

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
// the kernel. Libraries that are stripped have no name for it, and it is found by its frame, or by its instructions.
const signalReturn = "__restore_rt"

// signalReturns are such code of a file that may have it: the C library, and files that need no others.
func signalReturns(f *elffile.File) (out []elffile.Function) {
	library := f.LibraryName()
	if !strings.HasPrefix(library, "libc.") && !strings.HasPrefix(library, "libpthread.") && !elffile.Alone(f) {
		return nil
	}
	for begin, end := range elffile.SignalReturns(f) {
		if offset, ok := f.Offset(begin); ok {
			out = append(out, elffile.Function{Name: signalReturn, Addr: begin, Size: end - begin, Offset: offset})
		}
	}
	return out
}

// withSignalReturns adds these to the functions of a file, all by address, where none has them.
func withSignalReturns(list, found []elffile.Function) []elffile.Function {
	for _, one := range found {
		i, is := slices.BinarySearchFunc(list, one.Addr, func(fn elffile.Function, addr uint64) int {
			return cmp.Compare(fn.Addr, addr)
		})
		if !is && (i == 0 || list[i-1].Addr+list[i-1].Size <= one.Addr) {
			list = slices.Insert(slices.Clone(list), i, one)
		}
	}
	return list
}
