package machine

import (
	"fmt"

	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/locate"
)

// Programs as the traced process sees them.

// Trace says which process is traced, 0 for none, or else which program is
// started. It is said before a program is looked for.
func (m *Machine) Trace(pid int, program string) { m.root, m.program = pid, program }

// Programs looks for user programs as the traced process does. A point without
// a file means the program of that process, or the one that is started.
func (m *Machine) Programs() *binary.Finder {
	if m.programs == nil {
		m.programs = &binary.Finder{Locate: locate.Finder{PID: m.root}, Program: m.program}
		if m.root != 0 {
			m.programs.Program = fmt.Sprintf("/proc/%d/exe", m.root)
		}
	}
	return m.programs
}

// Listing says what can be probed here.
func (m *Machine) Listing() *listing.Source {
	finder := m.Programs()
	return &listing.Source{Facts: m.facts, Programs: finder, Traced: finder.Program != "",
		NoCounters: !kernel.HasCounters()}
}
