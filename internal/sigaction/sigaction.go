// Package sigaction asks and sets what the kernel does at a signal, past the runtime of Go, which keeps its own record.
package sigaction

import (
	"syscall"
	"unsafe"
)

// What the kernel does at a signal, asked and set by rt_sigaction.

// An Action is the kernel's struct sigaction on amd64 and arm64 (include/linux/signal_types.h). The zero value is what
// the kernel does by default.
type Action struct {
	handler  uintptr // 0: the default, 1: ignored
	flags    uint64
	restorer uintptr
	mask     uint64
}

// Last is the largest number of a signal (_NSIG).
const Last = 64

// Caught says that a function is called at the signal.
func (a Action) Caught() bool { return a.handler > 1 }

// Of is what is done at a signal; not ok where the kernel does not tell.
func Of(signal syscall.Signal) (now Action, ok bool) {
	ok = change(signal, nil, &now)
	return now, ok
}

// Set sets what is done at a signal. Of SIGKILL and SIGSTOP that cannot be set.
func Set(signal syscall.Signal, to Action) bool { return change(signal, &to, nil) }

func change(signal syscall.Signal, set, old *Action) bool {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(set)),
		uintptr(unsafe.Pointer(old)), unsafe.Sizeof(old.mask), 0, 0)
	return errno == 0
}
