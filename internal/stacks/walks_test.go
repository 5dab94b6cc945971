package stacks

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/unwind"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// walking are processes of which programs walk along the stacks, and the map that says which have a table.
func walking(t *testing.T) (*Processes, *ebpf.Map) {
	t.Helper()
	need.Loading(t)
	newMap := func(spec *ebpf.MapSpec) *ebpf.Map {
		m, err := ebpf.NewMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	m := unwind.Maps{
		Processes: newMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: wire.UnwindProcessSize,
			MaxEntries: 64}),
		Tables: newMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: wire.UnwindTable, MaxEntries: 8}),
		Rows: newMap(&ebpf.MapSpec{Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: wire.UnwindSegments,
			InnerMap: &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: wire.UnwindChunk,
				MaxEntries: wire.UnwindSegment}}),
	}
	n := New(nil, nil)
	p := &n.Processes
	p.Walks.Begin(unwind.New(m, unwind.Options{}))
	t.Cleanup(func() {
		for _, trouble := range p.Walks.Trouble() {
			t.Error(trouble)
		}
		if err := errors.Join(p.Walks.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	return p, m.Processes
}

// A process has its table when there is news of it, its copies have it too, and what it becomes has none until it has
// mapped something.
func TestWalks(t *testing.T) {
	p, tables := walking(t)
	self, child := os.Getpid(), os.Getpid()+1<<20 // no process has that number
	has := func(pid int, want bool) {
		t.Helper()
		p.Walks.keeper.Await(time.Hour)
		err := tables.Lookup(uint32(pid), make([]byte, wire.UnwindProcessSize))
		if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			t.Fatal(err)
		}
		if got := err == nil; got != want {
			t.Errorf("process %d has a table: %v", pid, got)
		}
	}
	has(self, false)
	p.Walks.follow([]processNews{{pid: self}})
	has(self, true)
	p.hear(&mapping.Change{Kind: mapping.Forked, PID: child, Parent: self})
	has(child, true)
	p.hear(&mapping.Change{Kind: mapping.Executed, PID: child})
	has(child, false)
	p.hear(&mapping.Change{Kind: mapping.Ended, PID: self})
	has(self, false)
}

// Where the tables of all processes take too long, those that are left wait for their turn, the youngest first.
func TestReadyAll(t *testing.T) {
	p, _ := walking(t)
	p.Walks.ReadyAll(0)
	left := p.Walks.backlog
	if !slices.Contains(left, os.Getppid()) || slices.Contains(left, os.Getpid()) ||
		!slices.IsSortedFunc(left, func(a, b int) int { return b - a }) {
		t.Errorf("%v are left", left)
	}
}

// All processes that there are get their tables in turns.
func TestWalksOfAll(t *testing.T) {
	p, _ := walking(t)
	p.Walks.backlog = []int{os.Getppid(), os.Getpid()}
	for len(p.Walks.backlog) > 0 {
		p.Walks.follow(nil)
	}
	if !p.Walks.keeper.Knows(os.Getpid()) {
		t.Error("this process has no table")
	}
	p.Walks.lost()
	if len(p.Walks.backlog) == 0 {
		t.Error("after a loss nobody is looked at again")
	}
}

// Where nobody walks nothing is done.
func TestNoWalks(t *testing.T) {
	w := New(nil, nil).Processes.Walks
	w.Ready([]int{1}, time.Hour)
	w.ReadyAll(time.Hour)
	w.Expect("/proc/self/exe")
	w.tell(&mapping.Change{Kind: mapping.Executed, PID: 1})
	w.follow([]processNews{{pid: 1}})
	w.lost()
	if err := w.Close(); err != nil || w.Trouble() != nil {
		t.Error(err, w.Trouble())
	}
}
