package cfi

import (
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// A handler of signals returns to a few instructions that ask the kernel to go on where it was interrupted. The frame
// above them is the kernel's. The GNU C library of amd64 says so in its call frame information; Go, musl and the vDSO
// of arm64 do not, so that debuggers know these instructions by their bytes.

// goNote is a section that all programs of Go have, also those that were stripped.
const goNote = ".note.go.buildid"

// signalReturns are the rows of such instructions: in files that may have their own, which are Go's programs and files
// that need no others.
func signalReturns(f *elffile.File, a *arch) *table {
	t := &table{}
	if _, golang, _ := f.Section(goNote); !golang && !elffile.Alone(f) {
		return t
	}
	for begin, end := range elffile.SignalReturns(f) {
		from := begin - min(a.nop, begin)
		if n := len(t.rows); n > 0 {
			from = max(from, t.rows[n-1].Addr)
		}
		t.add(from, wire.UnwindSignal)
		t.add(end, uncovered)
	}
	return t
}
