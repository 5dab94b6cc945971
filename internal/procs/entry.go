package procs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The command of -c runs up to its own first instruction, behind the dynamic linker.
//
// A program with libraries begins in the dynamic linker, which maps them and then goes to the first instruction of the
// program. A breakpoint of the CPU stops it there: in its memory nothing changes, and it is gone before the program
// goes on.

// Of the auxiliary vector (getauxval(3)): where the dynamic linker lies, 0 if there is none, and where the program's
// own first instruction is.
const (
	auxBase  = 7
	auxEntry = 9
)

// entryOf gives where the program of a process begins itself; false where no dynamic linker comes before, or nobody
// says.
func entryOf(pid int) (entry uint64, ok bool) {
	vector, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return 0, false
	}
	values := map[uint64]uint64{}
	for ; len(vector) >= 16; vector = vector[16:] {
		values[binary.NativeEndian.Uint64(vector)] = binary.NativeEndian.Uint64(vector[8:])
	}
	return values[auxEntry], values[auxBase] != 0 && values[auxEntry] != 0
}

// mostLinking bounds how long a program is waited for: what libraries do before it begins can take any time.
const mostLinking = time.Second

// runToEntry lets a seized process, which has just become another program, run until that begins itself. reached is
// false where it does so nowhere, not in time, or the CPU has no breakpoint for it. It is stopped in any case.
func runToEntry(pid int) (reached bool, err error) {
	entry, ok := entryOf(pid)
	if !ok || breakAt(pid, entry) != nil {
		return false, nil
	}
	over := time.Now().Add(mostLinking)
	for signal := 0; ; {
		if err := unix.PtraceCont(pid, signal); err != nil {
			return false, endedOr(err)
		}
		status, err := stoppedUntil(pid, over)
		if err != nil {
			return false, endedOr(err)
		}
		info, err := syscallInfo(pid)
		switch signal = pending(status); {
		case err != nil:
			return false, endedOr(err)
		case status.TrapCause() == unix.PTRACE_EVENT_EXEC:
			return false, nil // it has no breakpoints any more
		case signal == int(unix.SIGTRAP) && info.ip == entry:
			return true, endedOr(breakAt(pid, 0))
		case signal == 0 && !time.Now().Before(over):
			return false, endedOr(breakAt(pid, 0))
		}
	}
}

// endedOr makes errEnded of what ptrace says of a process that was killed.
func endedOr(err error) error {
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, errEnded):
		return errEnded
	case err != nil:
		return fmt.Errorf("trace it: %w", err)
	}
	return nil
}

// stoppedUntil is stopped, but interrupts the process at a time.
func stoppedUntil(pid int, over time.Time) (unix.WaitStatus, error) {
	for interrupted := false; ; time.Sleep(50 * time.Microsecond) {
		switch info, err := peek(pid, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG); {
		case err != nil:
			return 0, err
		case info.Signo != 0:
			return stopped(pid)
		case !interrupted && !time.Now().Before(over):
			if err := unix.PtraceInterrupt(pid); err != nil {
				return 0, err
			}
			interrupted = true
		}
	}
}
