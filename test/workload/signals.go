package main

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The work signals: signal 0 sent by each call.

// signals tests by signal 0 whether there is the process that does so, by each call that sends signals, by the two
// numbers that stand for a descriptor of oneself, and then by a descriptor that is of no process, and one that is none.
// Calls are all of these, Failed the last two and those that the kernel does not know. FDs has how many of "selves" it
// knows.
func signals(s settings, args []string) (func() (report, error), error) {
	const comm = "wl-signals"
	return func() (done report, err error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			pid, tid := os.Getpid(), unix.Gettid()
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return fmt.Errorf("pidfd_open: %w", err)
			}
			defer unix.Close(fd)
			done = report{Comm: comm, FDs: map[string]int{"pidfd": fd}}
			for name, call := range map[string]func() error{
				"kill":              func() error { return unix.Kill(pid, 0) },
				"tkill":             func() error { return signalCall(unix.SYS_TKILL, tid, 0, 0) },
				"tgkill":            func() error { return signalCall(unix.SYS_TGKILL, pid, tid, 0) },
				"rt_sigqueueinfo":   func() error { return queued(unix.SYS_RT_SIGQUEUEINFO, pid, 0) },
				"rt_tgsigqueueinfo": func() error { return queued(unix.SYS_RT_TGSIGQUEUEINFO, pid, tid) },
				"pidfd_send_signal": func() error { return unix.PidfdSendSignal(fd, 0, nil, 0) },
			} {
				if err := call(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				done.Calls++
			}
			for _, self := range []int{unix.PIDFD_SELF_THREAD, unix.PIDFD_SELF_THREAD_GROUP} {
				if err := unix.PidfdSendSignal(self, 0, nil, 0); err == nil {
					done.FDs["selves"]++
				} else {
					done.Failed++
				}
				done.Calls++
			}
			for _, none := range []int{0, 1 << 20} {
				if err := unix.PidfdSendSignal(none, 0, nil, 0); err != unix.EBADF {
					return fmt.Errorf("a signal to descriptor %d, which is of no process: %v", none, err)
				}
				done.Calls++
				done.Failed++
			}
			return nil
		})
		done.TIDs = tids
		return done, err
	}, nil
}

func signalCall(nr uintptr, args ...int) error {
	var words [3]uintptr
	for i, a := range args {
		words[i] = uintptr(a)
	}
	if _, _, e := unix.RawSyscall(nr, words[0], words[1], words[2]); e != 0 {
		return e
	}
	return nil
}

// queued sends signal 0 with an information (SI_QUEUE) to a process, or to a thread of it.
func queued(nr uintptr, pid, tid int) error {
	const queue = -1
	info := unix.Siginfo{Code: queue}
	words := []uintptr{uintptr(pid), 0, uintptr(unsafe.Pointer(&info)), 0}
	if tid != 0 {
		words = []uintptr{uintptr(pid), uintptr(tid), 0, uintptr(unsafe.Pointer(&info))}
	}
	if _, _, e := unix.RawSyscall6(nr, words[0], words[1], words[2], words[3], 0, 0); e != 0 {
		return e
	}
	return nil
}
