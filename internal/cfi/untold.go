package cfi

import (
	"bytes"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Rules of code without frame information: stubs of the PLT, the entry of a program, .init.
//
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

// Each program and library of amd64 has some functions of the compiler's own (crti.o, crtbegin.o), without call frame
// information. They run when it begins, is loaded and ends. That is when their pages are touched first, so that samples
// come in them more often than they are long. All but two leave the stack alone.

// initBegin and initEnd are how code of the sections .init and .fini begins, behind a mark of where calls may lead, and
// how it ends: sub $8,%rsp; add $8,%rsp; ret.
var (
	initBegin = []byte("\x48\x83\xec\x08")
	initEnd   = []byte("\x48\x83\xc4\x08\xc3")
	branchEnd = []byte("\xf3\x0f\x1e\xfa") // endbr64
)

// The function that calls what a library has to do at its end, from its first test on. Only code that may lie anywhere
// has cmpq:
//
//	cmpb $0,…; jne …; push %rbp; cmpq $0,…; mov %rsp,%rbp; …; pop %rbp; ret
//
// Before it lie two others, of together beforeDestructors bytes, and behind it one of a few.
var (
	testCode  = []byte("\x80\x3d")
	pushCode  = []byte("\x55")
	askCode   = []byte("\x48\x83\x3d")
	frameCode = []byte("\x48\x89\xe5")
	leaveCode = []byte("\x5d\xc3")
)

// The sizes of the instructions that hold numbers.
const (
	testSize = 7
	jumpSize = 2
	askSize  = 8
)

const (
	bodySize = 48 // behind the frame, at most

	beforeDestructors = 0x70
	behindDestructors = 0x20
	mostSearched      = 1 << 20 // bytes of code that nothing is said about
)

// The rules of such functions: before they push anything, behind one word, and with a frame pointer.
const (
	ruleCalled = wire.UnwindSP | 1<<amd64Operand
	rulePushed = wire.UnwindSP | 2*savedOne | 2<<amd64Operand
	ruleFramed = wire.UnwindFP | 2*savedOne | 2<<amd64Operand
	ruleMoved  = wire.UnwindSP | 2<<amd64Operand
)

// startup are the rows of these functions where a table does not cover them.
func startup(f *elffile.File, a *arch, code []elffile.CodeSection, t *table) *table {
	out := &table{}
	if !a.pushes {
		return out
	}
	searched := uint64(0)
	for _, s := range code {
		if s.Name == ".init" || s.Name == ".fini" {
			if t.at(s.Addr) == uncovered {
				initRows(out, f, s)
			}
			continue
		}
		for at := s.Addr; at < s.End() && searched < mostSearched; {
			end := min(t.next(at), s.End())
			if t.at(at) == uncovered && !isOfStubs(s.Name) {
				searched += end - at
				destructorRows(out, f, at, end)
			}
			at = end
		}
	}
	return out
}

// initRows adds the rows of a section .init or .fini.
func initRows(out *table, f *elffile.File, s elffile.CodeSection) {
	b, err := f.Code(s.Addr, min(s.Size, wire.UnwindPage))
	bare := bytes.TrimPrefix(b, branchEnd)
	if err != nil || !bytes.HasPrefix(bare, initBegin) || !bytes.HasSuffix(b, initEnd) {
		return
	}
	out.add(s.Addr, ruleCalled)
	out.add(s.Addr+uint64(len(b)-len(bare)+len(initBegin)), ruleMoved)
	out.add(s.Addr+uint64(len(b))-1, ruleCalled)
	out.add(s.Addr+uint64(len(b)), uncovered)
}

// destructorRows adds those of the functions of crtbegin.o, if they lie between two addresses.
func destructorRows(out *table, f *elffile.File, from, end uint64) {
	b, err := f.Code(from, min(end-from, mostSearched))
	if err != nil {
		return
	}
	m, ok := findDestructors(b)
	if !ok {
		return
	}
	at := func(i int) uint64 { return from + uint64(i) }
	out.add(from+uint64(max(0, m.test-beforeDestructors-len(branchEnd))), ruleCalled)
	out.add(at(m.pushed), rulePushed)
	out.add(at(m.framed), ruleFramed)
	out.add(at(m.left), ruleCalled)
	out.add(min(end, at(m.left)+behindDestructors), uncovered)
}

// destructors is where the function is: its first test, and behind what it pushes, makes its frame and leaves it.
type destructors struct{ test, pushed, framed, left int }

// findDestructors looks for the function in code.
func findDestructors(b []byte) (m destructors, ok bool) {
	for at := 0; ; at++ {
		next := bytes.Index(b[at:], testCode)
		if next < 0 {
			return m, false
		}
		at += next
		m = destructors{test: at, pushed: at + testSize + jumpSize + len(pushCode)}
		if m.pushed > len(b) || !bytes.HasSuffix(b[:m.pushed], pushCode) {
			continue
		}
		m.framed = m.pushed + len(frameCode)
		if bytes.HasPrefix(b[m.pushed:], askCode) {
			m.framed += askSize
		}
		if m.framed > len(b) || !bytes.HasSuffix(b[:m.framed], frameCode) {
			continue
		}
		body := bytes.Index(b[m.framed:min(len(b), m.framed+bodySize)], leaveCode)
		if body >= 0 {
			m.left = m.framed + body + 1
			return m, true
		}
	}
}

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
