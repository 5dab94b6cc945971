package bpf

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// A perf event that runs a program: opened, linked, stopped.

// A PerfEvent is an event that runs a program.
//
// Missing in link: a program for an event that the caller has opened. What it opens itself is on CPU 0, which may be
// off, and where the kernel does not take the program there its error has no number; its Tracepoint also asks for
// samples, which some tracepoints do not give, and its Kprobe takes no address. AttachRawLink, which would do for
// events without cookies, needs Linux 5.15.
type PerfEvent struct {
	descriptor // of the event, or of the link that keeps it alive
	linked     bool
}

// attachPerfEvent is BPF_PERF_EVENT of enum bpf_attach_type (5.15).
const attachPerfEvent = 41

// OpenPerfEvent opens a perf event of a process (-1: all) on a CPU (-1: all, for one process), gives it the program and
// starts it. With a cookie, for which it needs Linux 5.15, the program is linked to it.
func OpenPerfEvent(attr *unix.PerfEventAttr, pid, cpu int, p *ebpf.Program, cookie *uint64) (*PerfEvent, error) {
	attr.Size = uint32(unix.PERF_ATTR_SIZE_VER1)
	fd, err := unix.PerfEventOpen(attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("perf_event_open: %w", err)
	}
	event := &PerfEvent{descriptor: descriptor(fd)}
	if cookie != nil {
		return event.withLink(p, *cookie)
	}
	err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, p.FD())
	runtime.KeepAlive(p)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("give the program to the perf event: %w", err), event.Close())
	}
	if err := event.start(); err != nil {
		return nil, errors.Join(err, event.Close())
	}
	return event, nil
}

// withLink gives the event its program by a link, and starts it.
func (e *PerfEvent) withLink(p *ebpf.Program, cookie uint64) (*PerfEvent, error) {
	attr := struct {
		linkHead
		cookie uint64
	}{linkHead{prog: uint32(p.FD()), target: uint32(e.descriptor), attachType: attachPerfEvent}, cookie}
	fd, err := createLink(&attr)
	runtime.KeepAlive(p)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("link the program to the perf event: %w", err), e.Close())
	}
	linked := &PerfEvent{descriptor: descriptor(fd), linked: true}
	if err := errors.Join(e.start(), e.Close()); err != nil {
		return nil, errors.Join(err, linked.Close())
	}
	return linked, nil
}

func (e *PerfEvent) start() error {
	if err := unix.IoctlSetInt(int(e.descriptor), unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
		return fmt.Errorf("start the perf event: %w", err)
	}
	return nil
}

// Stop ends its runs; it still has to be closed. A link cannot be stopped.
func (e *PerfEvent) Stop() error {
	if e.linked {
		return errors.New("a link is stopped by closing it")
	}
	return unix.IoctlSetInt(int(e.descriptor), unix.PERF_EVENT_IOC_DISABLE, 0)
}
