// Package resident keeps the memory of a test process mapped in guests of test/vm, so that comparing what the kernel
// computes with what Go computes does not find the emulator's faults.
package resident

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The memory of a test is kept mapped in guests.

// InGuest maps all memory of the process, now and later, if it runs in a guest; a TestMain calls it first.
//
// QEMU's TCG (7.2) forgets the flags when a SETcc that stores to memory meets a page that is not mapped yet: the
// instruction that is run again after the page fault stores 0. A Go function with TESTQ BX, BX; SETL (AX) did so for
// each of 2000 fresh pages, on 6.1 and 6.12, and for none that was written or populated before. So math/big, which
// stores its sign this way, made a negative number positive about once in 100,000.
func InGuest() {
	if os.Getenv("STARTRACE_VM") == "" {
		return
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE); err != nil {
		fmt.Fprintln(os.Stderr, "mlockall:", err)
		os.Exit(1)
	}
}
