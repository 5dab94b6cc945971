package cfi

import (
	"bytes"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Some code has no call frame information, and its frames are known all the same.

// entryBytes is how much of the code at a program's entry belongs to the frame that nobody has called.
const entryBytes = 64

// known are the rows of such code that a table does not cover: stubs of calls into libraries, and where the program
// begins.
func known(f *elffile.File, a *arch, code []elffile.CodeSection, t *table) *table {
	out := &table{}
	begins := beginsAt(f)
	for _, s := range code {
		switch {
		case isOfStubs(s.Name):
			if t.at(s.Addr) == uncovered {
				a.stubs(out, f, s)
			}
		case s.Addr <= begins && begins < s.End() && t.at(begins) == uncovered:
			out.add(begins, wire.UnwindStop)
			out.add(begins+min(entryBytes, s.End()-begins), uncovered)
		}
	}
	return out
}

// isOfStubs says whether a section has stubs, by its name: .plt, .plt.sec, .plt.got, .iplt.
func isOfStubs(name string) bool {
	return strings.HasPrefix(name, ".plt") || strings.HasPrefix(name, ".iplt")
}

// A stubRow is a row of stubs, so many bytes behind the first one.
type stubRow struct {
	at   uint64
	rule uint32
}

// stubs gives the rows of a section of stubs. They begin as a function does. Where libraries are linked when they are
// called, the first stub is the one to which the others go on, with something more on the stack.
func (a *arch) stubs(t *table, f *elffile.File, s elffile.CodeSection) {
	rows := []stubRow{{0, a.stub}}
	first, err := f.Code(s.Addr, min(uint64(len(a.lazyStub)), s.Size))
	if err == nil && bytes.Equal(first, a.lazyStub) {
		rows = a.lazyStubs
	}
	for _, r := range rows {
		if r.at < s.Size {
			t.add(s.Addr+r.at, r.rule)
		}
	}
	t.add(s.End(), uncovered)
}

// beginsAt is where a program begins; 0 of libraries, which old linkers give an entry, too.
func beginsAt(f *elffile.File) uint64 {
	if f.PIE && f.Interp == "" && !elffile.Alone(f) {
		return 0
	}
	return f.Entry()
}
