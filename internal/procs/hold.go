package procs

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The command of -c is stopped by ptrace until all is attached.
//
// A child that waits in a system call is seen by the programs when that ends.
// So its parent traces it (man 2 ptrace) and lets it wait where its read has
// ended: it is stopped behind the trace point sys_exit and has only execve
// before it. The stop at the entry of execve comes too late, because on x86
// the kernel looks before that stop whether there is a trace point to call
// (syscall_trace_enter, kernel/entry/common.c), and the command's first event
// would be the end of an execve that never began.
//
// The kernel accepts requests only from the thread that seized the process,
// and takes the end of that thread for the tracer's.

// seize stops the process wherever it is, and locks the goroutine to the thread
// until letGo. If it fails the process runs on as if nothing had happened.
func seize(pid int) error {
	runtime.LockOSThread()
	err := trySeize(pid)
	if err != nil {
		runtime.UnlockOSThread()
		err = fmt.Errorf("trace it: %w", err)
	}
	return err
}

func trySeize(pid int) error {
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	err := unix.PtraceInterrupt(pid)
	if err == nil {
		_, err = stopped(pid)
	}
	if err == nil {
		err = unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACESYSGOOD)
	}
	if err == nil {
		_, err = syscallInfo(pid) // fails before 5.3, and where ptrace is an emulation
	}
	if err != nil {
		_ = unix.PtraceDetach(pid) // it may have ended; the error says so
	}
	return err
}

// runToRead lets a seized process run until it has read a byte.
func runToRead(pid int) error {
	reading := false
	for signal := 0; ; {
		err := unix.PtraceSyscall(pid, signal)
		if errors.Is(err, unix.ESRCH) {
			return errEnded // SIGKILL ends a stop
		}
		var status unix.WaitStatus
		if err == nil {
			status, err = stopped(pid)
		}
		if err != nil {
			return fmt.Errorf("trace it: %w", err)
		}
		if signal = pending(status); signal != syscallStop {
			continue
		}
		signal = 0
		info, err := syscallInfo(pid)
		if err != nil {
			return fmt.Errorf("trace it: %w", err)
		}
		if reading && info.ended(1) {
			return nil
		}
		reading = info.begins(unix.SYS_READ)
	}
}

// runToExec lets a seized process run until it has become another program, of which
// it has run nothing yet.
func runToExec(pid int) error {
	err := unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACEEXEC)
	for signal := 0; err == nil; {
		if err = unix.PtraceCont(pid, signal); err != nil {
			break
		}
		var status unix.WaitStatus
		if status, err = stopped(pid); err == nil && status.TrapCause() == unix.PTRACE_EVENT_EXEC {
			return nil
		}
		signal = pending(status)
	}
	switch {
	case errors.Is(err, errEnded):
		return err
	case errors.Is(err, unix.ESRCH):
		return errEnded // SIGKILL ends a stop
	}
	return fmt.Errorf("trace it: %w", err)
}

// letGo ends tracing and unlocks the goroutine. Signals that came meanwhile
// are delivered now.
func letGo(pid int) error {
	err := unix.PtraceDetach(pid)
	runtime.UnlockOSThread()
	if errors.Is(err, unix.ESRCH) {
		return errEnded
	}
	return err
}

// stopped waits until a traced process has stopped; errEnded if it ends, which
// is left for Wait.
func stopped(pid int) (status unix.WaitStatus, err error) {
	info, err := peek(pid, unix.WEXITED|unix.WSTOPPED)
	if err != nil {
		return status, err
	}
	if info.Code == cldExited || info.Code == cldKilled || info.Code == cldDumped {
		return status, errEnded
	}
	return waitFor(pid)
}

// syscallStop is what PTRACE_O_TRACESYSGOOD makes of SIGTRAP.
const syscallStop = int(unix.SIGTRAP) | 0x80

// pending is the signal that a process is stopped by and still has to get; 0
// where a stop is not that of a signal.
func pending(status unix.WaitStatus) int {
	const event = 16 // status>>16 is PTRACE_EVENT_STOP in all stops but those
	if status>>event != 0 {
		return 0
	}
	return int(status.StopSignal())
}

// callInfo is struct ptrace_syscall_info (include/uapi/linux/ptrace.h): op says at which end of a call the process is
// stopped, arch which architecture's calls it makes, ip and sp are its registers.
type callInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	data [7]uint64 // entry: number, arguments; exit: result, whether it is an error
}

func syscallInfo(pid int) (info callInfo, err error) {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO,
		uintptr(pid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		err = errno
	}
	return info, err
}

func (i callInfo) begins(number uint64) bool {
	return i.op == unix.PTRACE_SYSCALL_INFO_ENTRY && i.data[0] == number
}

func (i callInfo) ended(result uint64) bool {
	return i.op == unix.PTRACE_SYSCALL_INFO_EXIT && i.data[0] == result
}
