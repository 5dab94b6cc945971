// Package cfi turns the call frame information of a file (CFI: .eh_frame, .debug_frame; DWARF 6.4) into rows, by which
// programs in the kernel walk along the stacks of user programs: from an address on, where the frame of the function
// begins, and where the caller's registers are. The rules are those of wire.Unwind….
//
// Call frame information is not a table but a small program for each function, which says what has changed behind an
// instruction. One of
//
//	1000  push %rbp          CFA is rsp + 8, the return address at CFA - 8
//	1001  mov  %rsp, %rbp    advance 1; CFA is rsp + 16; rbp is at CFA - 16
//	1004  …                  advance 3; CFA is rbp + 16
//	1020  leave
//	1021  ret                advance 29; CFA is rsp + 8
//	1022
//
// gives the rows
//
//	1000  SP + 1 word
//	1001  SP + 2 words, frame pointer 2 words below
//	1004  FP + 2 words, frame pointer 2 words below
//	1021  SP + 1 word, frame pointer 2 words below
//	1022  none, unless another function follows
//
// All functions of a file are run once (program.go), in the order of their addresses (table.go), and each state is said
// as a rule (rule.go, expression.go) where a rule can say it: about 99.9 % of all can be. What cannot be said has the
// rule wire.UnwindUnfollowed, and code that the file tells nothing about wire.UnwindNone. Where both sections cover an
// address, .eh_frame wins. Some code has frames that are known without (untold.go) or by the code that it calls
// (kept.go), and Go's has frame pointers and changes of stacks that its linker does not tell of, and a table of its own
// that strip leaves (golang.go).
//
// Files are foreign data: time and memory are in proportion to their size, what is damaged is left out and counted, and
// nothing panics.
package cfi

import (
	"fmt"
	"io"

	"github.com/startrace/startrace/internal/elffile"
)

// Rows of rules of a file, put together of .eh_frame, .debug_frame, Go's table and what is known besides.

// Rows gives the rules of a file's code by address; no two neighbours are alike, and before the first row nothing is
// known. A file without call frame information has none, or a few of code that is known without.
func Rows(f *elffile.File) ([]Row, error) {
	rows, _, err := read(f)
	return rows, err
}

// Inspect gives the statistics of what Rows gives.
func Inspect(f *elffile.File) (Stats, error) {
	_, stats, err := read(f)
	return stats, err
}

func read(f *elffile.File) (rows []Row, stats Stats, err error) {
	a := arches[f.Machine]
	if a == nil || f.Is32 {
		return nil, stats, fmt.Errorf("%s: stacks are walked along in programs of amd64 and arm64 with 64 bits only",
			f.Path)
	}
	exceptions, _, err := f.Section(".eh_frame")
	if err != nil {
		return nil, stats, err
	}
	debug, err := debugFrame(f)
	if err != nil {
		return nil, stats, err
	}
	code := f.CodeSections()
	t := a.table(section{data: exceptions.Data, base: exceptions.Addr}, section{data: debug, debug: true}, code, &stats)
	if len(debug) == 0 {
		t = t.over(goFrames(f, a))
	}
	t = t.over(known(f, a, code, t))
	t = t.over(startup(f, a, code, t))
	t = kept(f, a, section{data: exceptions.Data, base: exceptions.Addr}, code, t).over(t)
	t = changed(f, a, t).over(t)
	t = signalReturns(f, a).over(t)
	if t.full {
		return nil, stats, fmt.Errorf("%s has more than %d rows of call frame information", f.Path, maxRows)
	}
	return t.finish(&gaps{file: f, pads: a.pads}, &stats), stats, nil
}

// maxDebug bounds .debug_frame when it is unpacked, in bytes. The largest programs of Go have 10 MB.
const maxDebug = 64 << 20

// debugFrame reads .debug_frame, also where it is compressed; it is empty where a file has none.
func debugFrame(f *elffile.File) ([]byte, error) {
	r, size, err := f.SectionReader(".debug_frame")
	if size == 0 || err != nil {
		return nil, err
	}
	if size > maxDebug {
		return nil, fmt.Errorf("%s: .debug_frame has %d bytes, more than %d", f.Path, size, maxDebug)
	}
	out := make([]byte, size)
	if _, err := r.ReadAt(out, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read .debug_frame of %s: %w", f.Path, err)
	}
	return out, nil
}

// table runs the functions of both sections.
func (a *arch) table(exceptions, debug section, code []elffile.CodeSection, stats *Stats) *table {
	return exceptions.table(a, code, stats).over(debug.table(a, code, stats))
}
