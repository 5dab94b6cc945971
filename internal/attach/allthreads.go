package attach

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A system call made in each thread of startrace.

// inAllThreads makes a system call in each thread of this process. Go's runtime sends each of them a signal for that,
// and waits without end for one that the kernel does not take as too many are pending (`ulimit -i`,
// RLIMIT_SIGPENDING). So that limit is lifted meanwhile, and where it cannot be, it is tried before.
//
// The arguments are pointers, so that what they point to stays where it is: as numbers the garbage collector would not
// know them, and move the stack on which that lies before the call.
func inAllThreads(call uintptr, arg1, arg2 unsafe.Pointer) error {
	if restore, ok := raise(unix.RLIMIT_SIGPENDING); ok {
		defer restore()
	}
	if err := tryQueue(mostThreads()); err != nil {
		return err
	}
	if _, _, errno := syscall.AllThreadsSyscall(call, uintptr(arg1), uintptr(arg2), 0); errno != 0 {
		return errno
	}
	return nil
}

// mostThreads is how many threads this process has, and some that may be made meanwhile.
func mostThreads() int {
	const more = 16
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 4 * more
	}
	return len(threads) + more
}

// tryQueue is an error if the kernel does not let so many signals wait. It sends as many to its own thread, which has
// blocked them, and takes them back.
func tryQueue(n int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const last = 64 // the last signal of those that are queued: nobody uses it here
	var before unix.Sigset_t
	only := unix.Sigset_t{Val: [16]uint64{1 << (last - 1)}}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &only, &before); err != nil {
		return err
	}
	var failed error
	for range n {
		if failed = unix.Tgkill(os.Getpid(), unix.Gettid(), last); failed != nil {
			break
		}
	}
	for errno := syscall.Errno(0); errno == 0 || errno == unix.EINTR; {
		var none unix.Timespec
		_, _, errno = unix.RawSyscall6(unix.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&only)), 0,
			uintptr(unsafe.Pointer(&none)), unsafe.Sizeof(only.Val[0]), 0, 0)
	}
	if errors.Is(failed, unix.EAGAIN) {
		failed = fmt.Errorf("too few signals may be pending (ulimit -i): %w", failed)
	}
	return errors.Join(failed, unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil))
}
