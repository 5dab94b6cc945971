package attach

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Which function attaches programs of each kind (`openerOf`); raw tracepoints, and the message that there is none of a
// name.

// openRaw attaches a program to a raw tracepoint. Its errors say why the kernel does not take it.
func openRaw(name string, prog *ebpf.Program) ([]spot, error) {
	link, err := bpf.AttachRawTracepoint(name, prog)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, fmt.Errorf("this kernel has no raw tracepoint %s", name)
	case errors.Is(err, unix.EINVAL):
		return nil, fmt.Errorf("raw tracepoint %s has fewer arguments than the program reads: %w", name, err)
	case err != nil:
		return nil, err
	}
	return []spot{{link: link, kind: rawPoint}}, nil
}

// openerOf gives what attaches programs of a kind to their points.
func openerOf(kind tree.AttachKind) func(*Loaded, *program) ([]spot, error) {
	switch kind {
	case tree.AttachTracepoint:
		return opening(openTracepoint)
	case tree.AttachRawTracepoint:
		return func(_ *Loaded, p *program) ([]spot, error) { return openRaw(p.Attach.Tracepoint(), p.code) }
	case tree.AttachSyscallEnter:
		return openingCalls("sys_enter")
	case tree.AttachSyscallExit:
		return openingCalls("sys_exit")
	case tree.AttachProfile, tree.AttachInterval:
		return opening(openClock)
	case tree.AttachPerf:
		return opening(openCounter)
	case tree.AttachWatchpoint:
		return openWatchpoint
	case tree.AttachIter:
		return opening(runIterator)
	case tree.AttachFentry, tree.AttachFexit, tree.AttachHook:
		return opening(openTrampoline)
	case tree.AttachKprobe, tree.AttachKretprobe, tree.AttachUprobe, tree.AttachUretprobe:
		return (*Loaded).openFunctions
	}
	panic(fmt.Sprintf("package attach cannot open points of kind %d", kind))
}

// openingCalls attaches programs at one of the two tracepoints of all system calls.
func openingCalls(name string) func(*Loaded, *program) ([]spot, error) {
	return func(l *Loaded, p *program) ([]spot, error) {
		if p.Attach.Exact() {
			return openTracepoint(l, tree.Tracepoint{Group: "raw_syscalls", Name: name}, p.code)
		}
		return openRaw(name, p.code)
	}
}

// opening attaches programs of one way.
func opening[W tree.Way](open func(*Loaded, W, *ebpf.Program) ([]spot, error)) func(*Loaded,
	*program) ([]spot, error) {
	return func(l *Loaded, p *program) ([]spot, error) { return open(l, p.Attach.Way.(W), p.code) }
}
