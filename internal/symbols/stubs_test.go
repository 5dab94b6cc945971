package symbols

import (
	"testing"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/test/need"
)

// Code that only jumps into a library is named for the function there, and not for what lies before it.
//
// > The code in a file that only jumps to a function of a library is `malloc@plt`.
func TestNamesOfStubs(t *testing.T) {
	f, err := elffile.Open(need.Built(t, "gcc -Wl,-z,lazy", "stubs.c",
		"#include <unistd.h>\nint main(void) { return getppid(); }\n"), elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := newFile(f)
	for _, stub := range elffile.Stubs(f) {
		for _, behind := range []uint64{0, 7} {
			if name, start, ok := table.find(stub.Offset + behind); !ok || name != stub.Name || start != stub.Offset {
				t.Errorf("%d bytes behind %s is %q, %v", behind, stub.Name, name, ok)
			}
		}
	}
	if name, _, _ := table.find(stubOf(t, f, "getppid@plt")); name != "getppid@plt" {
		t.Errorf("found %q", name)
	}
}

func stubOf(t *testing.T, f *elffile.File, name string) uint64 {
	t.Helper()
	for _, stub := range elffile.Stubs(f) {
		if stub.Name == name {
			return stub.Offset
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

// What a handler of signals returns to is where the frame of the kernel begins, and not the end of what lies before it.
func TestNameOfSignalFrame(t *testing.T) {
	table := told(t,
		mapping.Change{Kind: mapping.Executed, Time: 10, PID: 100},
		mappedAt(11, 100, code(0x1000, 0x2000, 0, "/nowhere")),
	)
	addrs := []uint64{0x1010, 0x1100, 0x1200, 0x1300}
	stack := table.Stack(table.SeeStack(100, 12, addrs), addrs, map[int]bool{2: true})
	for i, want := range []string{"nowhere+0x10", "__restore_rt", "nowhere+0x200", "nowhere+0x300"} {
		if got := stack[i].Name(); got != want {
			t.Errorf("frame %d is %s, want %s", i, got, want)
		}
	}
}
