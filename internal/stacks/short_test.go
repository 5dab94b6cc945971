package stacks

import (
	"strings"
	"testing"

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
