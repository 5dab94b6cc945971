package procs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// signalAction is the kernel's struct sigaction on amd64 and arm64 (include/linux/signal_types.h).
type signalAction struct {
	handler  uintptr // 0: the default, 1: ignored
	flags    uint64
	restorer uintptr
	mask     uint64
}

// lastSignal is _NSIG.
const lastSignal = 64

// leaveSignals gives all signals that are caught their default action. Go
// catches nearly all, and ends by a signal in steps on the thread that got it;
// if another thread executes the command meanwhile, that thread goes, and the
// signal with it. By default the kernel ends the process when the signal is
// sent. What is ignored stays so: it is the command's to inherit.
func leaveSignals() {
	for n := uintptr(1); n <= lastSignal; n++ {
		var now signalAction
		if sigaction(n, nil, &now) && now.handler > 1 {
			sigaction(n, &signalAction{}, nil) // all but SIGKILL and SIGSTOP can be set, and these are not caught
		}
	}
}

func sigaction(n uintptr, set, old *signalAction) bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, n, uintptr(unsafe.Pointer(set)),
		uintptr(unsafe.Pointer(old)), unsafe.Sizeof(set.mask), 0, 0)
	return errno == 0
}
