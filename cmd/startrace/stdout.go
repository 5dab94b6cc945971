package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// Standard output that is closed at the start.

// stdoutAtStart is what fcntl(1, F_GETFD) gave before Go's runtime began: less
// than 0 where the process was started without a standard output (`>&-`). It is
// set by startrace_entry (entry_amd64.s, entry_arm64.s), where the program begins
// if it is linked with -E startrace_entry, as the Makefile does; else it stays 0.
//
// It must be asked so early since the runtime opens /dev/null in the place of
// what is closed (checkfds, runtime/fds_unix.go). Later nobody can tell this from
// a /dev/null that was given on purpose.
var stdoutAtStart int64

// standardOutput is where results go. In the place of a standard output that is
// closed comes one that cannot be written, so that printing fails, as it does in
// other tools. The /dev/null of the runtime would swallow all results.
func standardOutput() *os.File {
	if stdoutAtStart < 0 {
		if null, err := os.Open(os.DevNull); err == nil {
			_ = unix.Dup3(int(null.Fd()), unix.Stdout, 0) // if this fails, results go to /dev/null
			_ = null.Close()
		}
	}
	return os.Stdout
}
