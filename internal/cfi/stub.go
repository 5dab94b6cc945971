package cfi

import (
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Some code has no call frame information, and its frames are known all the same.

// entryBytes is how much of the code at a program's entry belongs to the frame that nobody has called.
const entryBytes = 64

// known are the rows of such code that a table does not cover: stubs of calls into libraries, which begin with nothing
// but the return address on the stack, and where the program begins.
func known(f *elffile.File, a *arch, code []elffile.CodeSection, t *table) *table {
	out := &table{}
	begins := beginsAt(f)
	for _, s := range code {
		switch {
		case a.stubs && stubs(s.Name):
			if t.at(s.Addr) == uncovered {
				out.add(s.Addr, a.make(wire.UnwindSP, 0, 1))
				out.add(s.End(), uncovered)
			}
		case s.Addr <= begins && begins < s.End() && t.at(begins) == uncovered:
			out.add(begins, wire.UnwindStop)
			out.add(begins+min(entryBytes, s.End()-begins), uncovered)
		}
	}
	return out
}

func stubs(name string) bool {
	return strings.HasPrefix(name, ".plt") || strings.HasPrefix(name, ".iplt")
}

// beginsAt is where a program begins; 0 of libraries, which old linkers give an entry, too.
func beginsAt(f *elffile.File) uint64 {
	if f.PIE && f.Interp == "" && !alone(f) {
		return 0
	}
	return f.Entry()
}

// alone says whether a file needs no other: static programs, the dynamic linker, the vDSO.
func alone(f *elffile.File) bool {
	libraries, err := f.Libraries()
	return f.Interp == "" && err == nil && len(libraries) == 0
}
