package binary

import (
	"runtime"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
)

// Functions that begin with the head of a loop: whether they jump back there.
//
// A compiler can make the first instruction of a function the head of a loop, where nothing has to be done before:
//
//	entry:  MOV RAX, RDI              // ← the probe
//	        MOV RDI, [RDI]
//	        TEST RDI, RDI
//	        JNE entry
//	        RET
//
// A probe there hits at each turn, which looks as a call: the stack and the return address are the same.

// mostTurns is up to how many functions of a pattern are looked through for such loops.
const mostTurns = 256

// turns reports whether a function, or a part of it that was moved away, jumps to where its calls are probed.
func turns(e *elffile.File, fn elffile.Function, entry uint64) bool {
	if fn.Size == 0 {
		return false
	}
	for _, p := range append([]elffile.Function{fn}, e.Parts(fn)...) {
		code, err := e.Code(p.Addr, p.Size)
		if err != nil {
			continue
		}
		// What is no instruction ends the look.
		if flow, _ := gofunc.NewFlow(runtime.GOARCH, code); flow != nil && flow.JumpedTo(int(int64(entry-p.Addr))) {
			return true
		}
	}
	return false
}

// returnsByInstruction says why the returns of a function are probed at the instructions that return, "": they need
// not, or cannot be. The kernel takes each turn of a loop at its entry for a call, with a return of its own.
func returnsByInstruction(e *elffile.File, fn elffile.Function) string {
	switch {
	case callsBack(e, fn):
		return "exceptions may pass it"
	case !turns(e, fn, fn.Addr):
		return ""
	}
	if ways := leave(e, fn, Function{}); ways.NoReturn != "" || ways.Ends.Tails > 0 {
		return ""
	}
	return "it begins with the head of a loop"
}
