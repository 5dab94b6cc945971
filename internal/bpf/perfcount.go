package bpf

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// A perf event that counts, without a program.

// A PerfCount is an event that is counted and runs no program.
//
// Missing in link: it has no events without a program.
type PerfCount struct{ descriptor }

// OpenPerfCount begins to count an event of a thread (-1: all) on a CPU (-1: all, for one thread).
func OpenPerfCount(attr *unix.PerfEventAttr, tid, cpu int) (*PerfCount, error) {
	attr.Size = uint32(unix.PERF_ATTR_SIZE_VER1)
	fd, err := unix.PerfEventOpen(attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("perf_event_open: %w", err)
	}
	return &PerfCount{descriptor(fd)}, nil
}

// Read gives the count so far, with that of threads and processes that inherited the event.
func (c *PerfCount) Read() (uint64, error) {
	var count [8]byte
	n, err := unix.Read(int(c.descriptor), count[:])
	if err != nil {
		return 0, fmt.Errorf("read a perf event: %w", err)
	}
	if n != len(count) {
		return 0, fmt.Errorf("read a perf event: %d bytes where %d were wanted", n, len(count))
	}
	return binary.NativeEndian.Uint64(count[:]), nil
}
