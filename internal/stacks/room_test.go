package stacks

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/tried"
)

// Merged stacks take little for each frame, however deep they are: they share their callers.
func TestMergedStacksAreSmall(t *testing.T) {
	const stacks, depth, most = 5000, wire.MaxStack, 4 << 20
	n := New(nil, nil)
	frames := make([]value.Frame, depth)
	for i := range frames {
		frames[i] = value.Frame{Name: fmt.Sprint("function", i), Module: "app", Path: "/bin/app", User: true}
	}
	stack := func(i int) []value.Frame { // other functions from the fourth frame on outwards, and as many callers
		out := slices.Clone(frames)
		for at := range 4 {
			out[at].Name = strings.Clone(fmt.Sprint("leaf", i>>at))
		}
		return out
	}
	before := live()
	ids := make([]uint64, stacks)
	for i := range ids {
		ids[i] = n.merged.add(&namedStack{frames: stack(i)}, n.MergedFrame)
	}
	if took := live() - before; took > most {
		t.Errorf("%d stacks of %d frames take %d bytes, want at most %d", stacks, depth, took, most)
	}
	for i, id := range ids {
		if got := n.Frames(id); !slices.Equal(got, stack(i)) {
			t.Fatalf("stack %d is %v", i, got)
		}
	}
	tried.Many(t, "%d stacks", stacks)
}

// live is what is in use.
func live() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// Stacks that were read last are remembered, up to a number of frames, and one that is read again is the same, and
// counted once.
func TestForgottenStacks(t *testing.T) {
	at := uint64(reflect.ValueOf(atMarked).Pointer())
	n, table, _ := namesOf(t, nil, taken{id: 7, mark: 8, owner: uint32(os.Getpid()), addrs: []uint64{at, at}})
	read := n.find(7)
	if n.find(7) != read {
		t.Error("a stack is read again though little is remembered")
	}
	const each = 100
	for id := range uint64(3 * mostKnown / each) {
		table.known.add(1000+id, &namedStack{frames: make([]value.Frame, each)})
		frames := 0
		for _, s := range table.known.of {
			frames += len(s.frames)
		}
		if frames > mostKnown || frames != table.known.frames || table.known.of[1000+id] == nil {
			t.Fatalf("%d frames are remembered and %d counted, want at most %d", frames, table.known.frames, mostKnown)
		}
	}
	if again := n.find(7); again == read || !slices.Equal(again.frames, read.frames) || again.ending != read.ending {
		t.Errorf("read again: %+v, before %+v", again, read)
	}
	if lines := n.ShortLines(); len(lines) != 1 || !strings.HasPrefix(lines[0], "1 of 1 stack of ") {
		t.Errorf("got %q, want one stack", lines)
	}
}

// The process of a stack that was not seen in time is the same one when the stack is read again.
func TestProcessOfForgottenStack(t *testing.T) {
	at := uint64(reflect.ValueOf(atMarked).Pointer())
	n, table, _ := namesOf(t, nil, taken{id: 7, mark: 8, owner: uint32(os.Getpid()), addrs: []uint64{at}})
	n.find(7)
	if p := table.of[7]; p == nil || !p.Seen() {
		t.Errorf("the process is %+v, want one that is kept", p)
	}
}
