// Package stream reads the ring buffer that programs send their events to,
// and puts the events of all CPUs in the order of their times.
//
// A Reader maps the ring (kernel/bpf/ringbuf.c): one page that user space
// writes, with the consumer's position; one page with the producers' position;
// then the data. Positions count bytes and never wrap; a record is an 8-byte
// header, whose first word is its length and two flags, and the data, rounded
// up to 8. A Merger orders what a Reader gives.
//
// Both belong to one goroutine; only Wake may be called from others. What the
// kernel's side has written is checked, so that a damaged ring is an error.
package stream

import "golang.org/x/sys/unix"

// The comment of the package, and the clock of events.

// Now is the clock of events: CLOCK_MONOTONIC in ns, bpf_ktime_get_ns.
func Now() uint64 {
	var t unix.Timespec
	// It cannot fail: the clock always exists and t is writable.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return uint64(t.Nano())
}
