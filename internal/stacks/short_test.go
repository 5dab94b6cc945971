package stacks

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// A stack by frame pointers is whole where it ends at a function that nobody calls.
//
// > A stack is whole if the tables say that nobody has called its last function, if that has no return address, or if
// > programs, threads or goroutines begin at it: `_start`, `clone`, `runtime.goexit`.
// > By frame pointers alone a stack that ends at `main` is not whole.
func TestBeginnings(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "read main": false, "read main __libc_start_call_main": false, "read start_thread": false,
		"read main libc.so.6+0x271ca": false, "read runtime.asmcgocall": false, "_start main": false,
		"read main _start": true, "read start_thread clone3": true, "main.main runtime.goexit.abi0": true,
		"runtime.check runtime.rt0_go.abi0": true, "_rt0_amd64_linux": true,
	} {
		var frames []value.Frame
		for _, name := range strings.Fields(text) {
			frames = append(frames, value.Frame{Name: name})
		}
		if got := startsProgram(frames); got != want {
			t.Errorf("%q is whole: %v, want %v", text, got, want)
		}
	}
}

// A stack that was taken before it was known what the program has mapped may lack frames also where it reaches the
// beginning: it has gone by frame pointers through code that has none. Of programs of 32 bits nothing else is known.
func TestEnds(t *testing.T) {
	const early = "taken before it was known what the program has mapped"
	for _, c := range []struct {
		why    int
		frames string
		narrow bool
		asked  uint16
		short  string
		open   bool
	}{
		{wire.UnwindReached, "read run", false, 8, "", false},
		{wire.UnwindReached, "read main _start", false, 8, "", false},
		{wire.UnwindNoFrame, "read main _start", false, 8, "", false},
		{wire.UnwindNoTable, "read main _start", false, 8, "frames can be missing: " + early, true},
		{wire.UnwindNoTable, "read main", false, 8, "not followed further: " + early, true},
		{wire.UnwindNoTable, "read main _start", true, 8, "", false},
		{wire.UnwindNoTable, "read main", true, 8, "not followed further: " + reasons[narrow], true},
		{wire.UnwindLimit, "read main", false, 2, "cut at 2 frames", false},
	} {
		var frames []value.Frame
		for _, name := range strings.Fields(c.frames) {
			frames = append(frames, value.Frame{Name: name})
		}
		e := entry{addrs: make([]uint64, len(frames)), mark: uint16(c.why)<<wire.MarkWhyShift | c.asked}
		if end, _ := e.ends(c.narrow, frames); end != (ending{c.short, c.open}) {
			t.Errorf("%+v: got %+v", c, end)
		}
	}
}

// A stack of which the addresses behind the first ones are no code is not whole, whatever the walk has thought.
func TestKeep(t *testing.T) {
	for _, c := range []struct{ kept, why, want int }{
		{3, wire.UnwindReached, wire.UnwindReached}, {2, wire.UnwindReached, wire.UnwindNoMapping},
		{2, wire.UnwindNoTable, wire.UnwindNoTable}, {2, wire.UnwindNoFrame, wire.UnwindNoFrame},
	} {
		e := entry{addrs: make([]uint64, 3), mark: uint16(c.why)<<wire.MarkWhyShift | 8}
		e.keep(e.addrs[:c.kept])
		if len(e.addrs) != c.kept || int(e.mark>>wire.MarkWhyShift) != c.want || e.asked() != 8 {
			t.Errorf("%+v: got %+v", c, e)
		}
	}
}
