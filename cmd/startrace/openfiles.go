package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// leastFiles are the open files that a small run takes, with what Go's runtime needs to begin: without that it ends by
// itself, in words of its own.
const leastFiles = 48

// tooFewFiles says that this process may have too few open files; nil where it may have enough.
func tooFewFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= leastFiles {
		return nil // where it cannot be asked for, it is found out
	}
	return fmt.Errorf("this process may have %d open files only, and startrace needs %d: ulimit -n 1024", limit.Cur,
		leastFiles)
}
