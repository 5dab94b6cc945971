// Package sideband reads what the kernel tells of processes as it happens:
// that they begin, run another program, map code, end (perf's side-band
// records, include/uapi/linux/perf_event.h).
//
// A process that lives for a millisecond can end before its mappings are read
// from /proc; these records are written when it maps, before any code in the
// mapping runs. So whoever has seen that a process did something finds all that
// it had mapped by then in the next Read.
//
// There is one event and one ring for each CPU that is online when the band is
// opened, for all processes: events that are inherited from one process by its
// children would cost each fork a copy for each CPU. It takes CAP_PERFMON
// (before 5.8 CAP_SYS_ADMIN), or kernel.perf_event_paranoid below 1.
//
// A Band belongs to one goroutine.
package sideband

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mapping"
)

// ringPages is the size of a CPU's ring, a power of two. A short process takes
// a kilobyte: that is room for some hundred between two reads.
const ringPages = 32

// A Band tells what happens until Close; numbers of processes are those of our
// pid namespace.
type Band struct {
	rings []*ring
	// early are events that were written after the last Read had begun: others
	// that came before them may not have been read.
	early []mapping.Event
	lost  uint64
}

// Open begins to listen.
func Open() (_ *Band, err error) {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	b := &Band{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	for _, cpu := range cpus {
		r, err := openRing(cpu)
		if errors.Is(err, unix.ENODEV) {
			continue // the CPU went offline meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("perf_event_open for what processes map: %w", err)
		}
		b.rings = append(b.rings, r)
	}
	return b, nil
}

func openRing(cpu int) (*ring, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Sample_type: unix.PERF_SAMPLE_TIME,
		Bits: unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		Clockid: unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(attr)) // kernels that know less accept zeros behind
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	mem, err := unix.Mmap(fd, 0, (1+ringPages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map its ring: %w", err), unix.Close(fd))
	}
	return newRing(fd, mem, page), nil
}

// Read calls f with all that had happened when it was called, in the order of
// time.
func (b *Band) Read(f func(*mapping.Event)) error {
	if !b.news() {
		return nil
	}
	now := clock()
	events := b.early
	for _, r := range b.rings {
		lost, err := r.drain(func(kind uint32, misc uint16, body []byte) {
			if e, ok := decode(kind, misc, body); ok {
				events = append(events, e)
			}
		})
		b.lost += lost
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(events, func(a, b mapping.Event) int { return cmp.Compare(a.Time, b.Time) })
	n := 0
	for n < len(events) && events[n].Time <= now {
		f(&events[n])
		n++
	}
	b.early = slices.Clone(events[n:])
	return nil
}

func (b *Band) news() bool {
	return len(b.early) > 0 || slices.ContainsFunc(b.rings, func(r *ring) bool { return !r.empty() })
}

// Lost is how many records found no room so far: then what is known of any
// process may be wrong.
func (b *Band) Lost() uint64 { return b.lost }

// clock is that of the events.
func clock() uint64 {
	var t unix.Timespec
	// It cannot fail: the clock always exists and t is writable.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return uint64(t.Nano())
}

// Close ends the events.
func (b *Band) Close() error {
	var errs []error
	for _, r := range b.rings {
		errs = append(errs, r.close())
	}
	b.rings = nil
	return errors.Join(errs...)
}
