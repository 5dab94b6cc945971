// Package sideband reads what the kernel tells of processes as it happens:
// that they begin, run another program, map code, end (perf's side-band
// records, include/uapi/linux/perf_event.h).
//
// A process that lives for a millisecond can end before its mappings are read
// from /proc; these records are written when it maps, before any code in the
// mapping runs. So whoever has seen that a process did something finds all that
// it had mapped by then in the next Read.
//
// There is one ring for each CPU. A band of all processes has one event for each
// CPU that is online, and takes CAP_PERFMON (before 5.8 CAP_SYS_ADMIN) or
// kernel.perf_event_paranoid below 1. An event of a CPU ends when the CPU goes
// offline, so whoever hears that one came says so (Came). A band of one process
// has an event for each of its threads on each CPU that the machine has, online or
// not: these wait for their CPU. Children inherit them, a copy of all for each
// fork, but nothing of other processes is ever read.
//
// A Band belongs to one goroutine.
package sideband

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mapping"
)

// Band, which listens to processes by perf events: of all, of one, of a CPU that comes; Lost.

// mostEvents bounds the events of a band of one process, each of which is a file.
const mostEvents = 512

// ringPages is the size of a CPU's ring, a power of two.
const ringPages = 32

// A Band tells what happens until Close; numbers of processes are those of our
// pid namespace.
type Band struct {
	threads []int // all, or those of the process when the band was opened
	rings   []*ring
	events  []int // of other threads, which write into the rings
	// early are events that were written after the last Read had begun: others
	// that came before them may not have been read.
	early []mapping.Change
	lost  uint64
}

// all stands for every thread of the system (perf_event_open(2)).
const all = -1

// Open begins to listen to all processes.
func Open() (*Band, error) { return open([]int{all}) }

// OpenProcess begins to listen to a process of our pid namespace and to all that
// it will start.
func OpenProcess(pid int) (*Band, error) {
	threads, err := threadsOf(pid)
	if err != nil {
		return nil, err
	}
	b, err := open(threads)
	if err != nil {
		return nil, err
	}
	if err := b.join(pid); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// maxJoins bounds how often it is looked for more threads.
const maxJoins = 8

// join listens to the threads of a process that began after its threads were listed, and before the thread that started
// them was listened to: they inherit nothing.
func (b *Band) join(pid int) error {
	for range maxJoins {
		now, err := threadsOf(pid)
		if err != nil {
			return nil // it has ended
		}
		now = slices.DeleteFunc(now, func(thread int) bool { return slices.Contains(b.threads, thread) })
		if len(now) == 0 {
			return nil
		}
		if err := b.listenTo(now); err != nil {
			return err
		}
		b.threads = append(b.threads, now...)
	}
	return nil
}

// threadsOf are those that the process has now.
func threadsOf(pid int) (threads []int, err error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			threads = append(threads, tid)
		}
	}
	return threads, err
}

func open(threads []int) (*Band, error) {
	b := &Band{threads: threads}
	if err := b.listenTo(threads); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// listenTo listens to threads on all CPUs.
func (b *Band) listenTo(threads []int) error {
	cpus, err := cpusFor(threads)
	if err != nil {
		return err
	}
	if n := len(b.events) + len(b.rings) + len(threads)*len(cpus); n > mostEvents {
		return fmt.Errorf("%d threads on %d CPUs are %d events, more than %d", len(threads), len(cpus), n, mostEvents)
	}
	for _, cpu := range cpus {
		if err := b.listen(threads, cpu); err != nil {
			return fmt.Errorf("perf_event_open for what processes map: %w", err)
		}
	}
	return nil
}

// cpusFor are those on which events of threads can be opened.
func cpusFor(threads []int) ([]int, error) {
	if slices.Contains(threads, all) {
		return kernel.OnlineCPUs()
	}
	return kernel.PresentCPUs()
}

// Came listens to a CPU that came online. What was told before it went is kept.
func (b *Band) Came(cpu int) error {
	if !slices.Contains(b.threads, all) {
		return nil
	}
	for i, r := range b.rings {
		if r.cpu == cpu {
			b.rings = slices.Delete(b.rings, i, i+1)
			if err := errors.Join(b.take(r), r.close()); err != nil {
				return err
			}
			break
		}
	}
	if err := b.listen(b.threads, cpu); err != nil {
		return fmt.Errorf("perf_event_open for what processes map: %w", err)
	}
	return nil
}

// listen opens the ring of a CPU and lets the events of all threads write into it.
func (b *Band) listen(threads []int, cpu int) error {
	into := b.ringOf(cpu)
	for _, thread := range threads {
		fd, err := openEvent(thread, cpu)
		switch {
		case errors.Is(err, unix.ENODEV):
			return nil // the CPU went offline meanwhile
		case errors.Is(err, unix.ESRCH) && (len(threads) > 1 || into >= 0):
			continue // the thread has ended meanwhile
		case err != nil:
			return err
		case into >= 0:
			b.events = append(b.events, fd)
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, into); err != nil {
				return err
			}
			continue
		}
		r, err := openRing(fd)
		if err != nil {
			return err
		}
		r.cpu = cpu
		b.rings = append(b.rings, r)
		into = fd
	}
	return nil
}

// ringOf is the descriptor of the ring that a CPU has already, -1 of none.
func (b *Band) ringOf(cpu int) int {
	for _, r := range b.rings {
		if r.cpu == cpu {
			return r.fd
		}
	}
	return -1
}

func openEvent(thread, cpu int) (int, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Sample_type: unix.PERF_SAMPLE_TIME,
		Bits: unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv |
			unix.PerfBitWatermark,
		Clockid: unix.CLOCK_MONOTONIC,
		Wakeup:  1, // each byte, and so each record, makes the descriptor readable: events that wake are samples only
	}
	if thread != all {
		attr.Bits |= unix.PerfBitInherit
	}
	attr.Size = uint32(unsafe.Sizeof(attr)) // kernels that know less accept zeros behind
	return unix.PerfEventOpen(&attr, thread, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// openRing takes fd.
func openRing(fd int) (*ring, error) {
	page := os.Getpagesize()
	mem, err := unix.Mmap(fd, 0, (1+ringPages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map its ring: %w", err), unix.Close(fd))
	}
	return newRing(fd, mem, page), nil
}

// Read calls f with all that had happened when it was called, in the order of
// time.
func (b *Band) Read(f func(*mapping.Change)) error {
	if !b.news() {
		return nil
	}
	now := clock()
	for _, r := range b.rings {
		if err := b.take(r); err != nil {
			return err
		}
	}
	events := b.early
	slices.SortStableFunc(events, func(a, b mapping.Change) int { return cmp.Compare(a.Time, b.Time) })
	n := 0
	for n < len(events) && events[n].Time <= now {
		f(&events[n])
		n++
	}
	b.early = slices.Clone(events[n:])
	return nil
}

// take puts what a ring has beside what is early.
func (b *Band) take(r *ring) error {
	lost, err := r.drain(func(kind uint32, misc uint16, body []byte) {
		if e, ok := decode(kind, misc, body); ok {
			b.early = append(b.early, e)
		}
	})
	b.lost += lost
	return err
}

func (b *Band) news() bool {
	return len(b.early) > 0 || slices.ContainsFunc(b.rings, func(r *ring) bool { return !r.empty() })
}

// Rings are the descriptors of the rings, each of which can be read (poll(2)) as soon as the kernel writes a record.
func (b *Band) Rings() (list []int) {
	for _, r := range b.rings {
		list = append(list, r.fd)
	}
	return list
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
	for _, fd := range b.events {
		errs = append(errs, unix.Close(fd))
	}
	b.rings, b.events = nil, nil
	return errors.Join(errs...)
}
