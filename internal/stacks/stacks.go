// Package stacks names the addresses of stacks, of the kernel and of user programs,
// and knows why a stack is short.
package stacks

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/symbols"
	"github.com/startrace/startrace/internal/until"
	"github.com/startrace/startrace/internal/unwind"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// Names: what gives the stacks of a run their frames and names, and what memory that takes.

// Names are the names of addresses in one run, and the tables of the stacks that
// its programs have taken.
type Names struct {
	// Kernel has the names of the kernel's addresses.
	Kernel Kernel
	// Processes has those of programs, and what is known of processes whose stacks were taken.
	Processes Processes
	// Addresses keeps stacks apart in reports that differ in the offsets in their functions (--addresses).
	Addresses bool
	merged    merged
	messages  *output.Messages
	tables    []*Table
}

var _ value.StackSource = (*Names)(nil)

// What the names of the kernel take while they are being read, and those of programs that stacks lead through.
const (
	usualKernelBytes  = 8 << 20
	usualProgramBytes = 8 << 20
	// mostKernelBytes is for those of a kernel that has more of them than usual, as 7.2: they grow while they are read.
	mostKernelBytes = 12 << 20
)

// Size is about how many bytes names take, and what is being read to walk along stacks.
func (n *Names) Size() int {
	size := 0
	if n.Kernel.symbols != nil {
		size = n.Kernel.symbols.Bytes()
	} else if n.Kernel.reading != nil {
		size = usualKernelBytes
	}
	if len(n.tables) > 0 {
		size += usualProgramBytes
	}
	if walks := &n.Processes.Walks; walks.On() && walks.keeper.Reading() {
		size += unwind.ReadingSize
	}
	return size
}

// New knows no names yet. It waits for those that are read no longer than wait says.
func New(m *output.Messages, wait *until.Wait) *Names {
	n := &Names{Kernel: Kernel{messages: m, wait: wait}, messages: m}
	n.Processes.Wait = wait
	n.Processes.Walks.processes = &n.Processes
	n.Processes.Late = func() { m.Lackf("startrace: %s", lateNames("functions of programs")) }
	n.Processes.Unread = func(why error) { m.Lackf("startrace: %v", unreadNames("functions of some programs", why)) }
	return n
}

// SetRoom gives the room that is asked for where names are read that take much memory.
func (n *Names) SetRoom(room until.Room) { n.Kernel.room, n.Processes.Room = room, room }

// Add adds the table of a unit's stacks, whose programs are given.
func (n *Names) Add(table *ebpf.Map, programs []*tree.Program) *Table {
	t := &Table{names: n, programs: programs, table: table, known: known{of: map[uint64]*namedStack{}},
		kept: newKept(table), of: map[uint64]*symbols.Process{}}
	n.tables = append(n.tables, t)
	return t
}

// Forget takes a table away; nil is none.
func (n *Names) Forget(t *Table) {
	n.tables = slices.DeleteFunc(n.tables, func(other *Table) bool { return other == t })
}

// OfProcess reports whether a record is news of a process with a new user stack.
func OfProcess(rec []byte) bool {
	return len(rec) == wire.ProcessSize && binary.NativeEndian.Uint32(rec[wire.HeaderNumber:]) == wire.NumberProcess
}

// Note keeps the news of a process in whose table t there is a new stack, until
// Processes.See.
func (n *Names) Note(t *Table, rec []byte) { n.Processes.note(t, rec) }

// Frames are the leaf first.
func (n *Names) Frames(id uint64) []value.Frame {
	if stack := n.merged.at(id); stack != nil {
		return n.merged.frames.list(stack.frames)
	}
	return n.find(id).frames
}

// Short says why frames are missing.
func (n *Names) Short(id uint64) string { return n.ending(id).short }

// Unfinished reports whether callers were not found.
func (n *Names) Unfinished(id uint64) bool { return n.ending(id).unfinished }

func (n *Names) ending(id uint64) ending {
	if stack := n.merged.at(id); stack != nil {
		return stack.ending
	}
	return n.find(id).ending
}

// find gives a stack that programs have taken.
func (n *Names) find(id uint64) *namedStack {
	var table *Table
	for _, t := range n.tables {
		if table == nil || t.has(id) {
			table = t
		}
	}
	if table == nil {
		return absentStack(id)
	}
	return table.find(id)
}

// ShortLines say, once for each program, why stacks of programs were short or had
// no names, or not all that debug information could tell.
func (n *Names) ShortLines() (lines []string) {
	for _, t := range n.tables {
		lines = append(lines, t.short.lines()...)
	}
	switch n := len(n.Processes.Unopened); {
	case n == 1:
		lines = append(lines, "the stacks of one process lack names: a file that it had mapped could not be opened")
	case n > 1:
		lines = append(lines,
			fmt.Sprintf("the stacks of %d processes lack names: files that they had mapped could not be opened", n))
	}
	return append(lines, n.Processes.Lost...)
}
