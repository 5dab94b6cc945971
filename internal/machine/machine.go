// Package machine is what this machine has, as a script and the commands ask for
// it: names and numbers of the kernel, programs and libraries, what can be probed,
// and why something cannot.
package machine

import (
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
)

// Machine, what is known of the one that runs, opened when it is asked for.

// A Machine is this machine from the beginning of a run, or of a command, to its
// end.
type Machine struct {
	facts    *kernel.Facts
	programs *binary.Finder // nil until one is looked for
	devices  map[uint64]string
	// root is the process whose view of files counts, 0 for our own; program is
	// that which points without a file mean.
	root    int
	program string
}

// Of is a machine with another kernel, of which only the types are known
// (kernel.TypesOnly), for compiling alone.
func Of(types kernel.Options) *Machine {
	return &Machine{devices: make(map[uint64]string), facts: kernel.Open(types)}
}

// Open knows nothing yet: all is read when it is asked for.
func Open() *Machine {
	m := &Machine{devices: make(map[uint64]string)}
	m.facts = kernel.Open(kernel.Options{
		Features: attach.Features, Trampolines: m.trampolines, OnlyFunction: attach.OnlyFunction,
		TryFunction: attach.TryFunction, BPFPrograms: attach.Programs, Words: attach.Words,
		HooksCalled: kernel.HooksCalled, TryHook: attach.TryHook,
	})
	return m
}

// Facts are those of the kernel.
func (m *Machine) Facts() *kernel.Facts { return m.facts }

// Again forgets what modules that have been loaded may have changed.
func (m *Machine) Again() { m.facts = m.facts.Again() }

// Close gives back what has been opened.
func (m *Machine) Close() error {
	if m.programs == nil {
		return nil
	}
	return m.programs.Close()
}

// tried is a function that every kernel has and that is rarely called, to try
// trampolines on.
const tried = "vfs_fsync"

// trampolines tries these; kernel.Facts asks once.
func (m *Machine) trampolines() kernel.Trampolines {
	b, err := m.facts.BTF()
	if err != nil {
		return attach.Trampolines(0)
	}
	id, _ := b.Named(kernel.KindFunc, tried)
	return attach.Trampolines(uint32(id))
}

// TracepointID is the number of a tracepoint, from tracefs.
func (m *Machine) TracepointID(group, name string) (uint64, error) {
	t, err := m.facts.Tracepoint(group, name)
	if err != nil {
		return 0, err
	}
	return uint64(t.ID), nil
}

// Tracepoint is the format of a tracepoint.
func (m *Machine) Tracepoint(group, name string) (*kernel.Tracepoint, error) {
	return m.facts.Tracepoint(group, name)
}
