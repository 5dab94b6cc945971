package main

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// What is said where a process may open too few files.

// leastFiles are the open files that Go's runtime needs to begin: without them it ends by itself, in words of its own.
// What a run needs beyond them depends on its points, and is said where it is met: usualFiles are enough for one probe.
const leastFiles, usualFiles = 10, 40

// tooFewFiles says that this process may have too few open files; nil where it may have enough.
func tooFewFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= leastFiles {
		return nil // where it cannot be asked for, it is found out
	}
	return fmt.Errorf("this process may have %d open files only, and startrace needs %d to begin, a run with one "+
		"probe needs %d: ulimit -n 1024", limit.Cur, leastFiles, usualFiles)
}

// ofFiles is what to do where an error is that this process may open no more files, "" for other errors and where it
// has been said.
func ofFiles(err error) string {
	var limit unix.Rlimit
	if !errors.Is(err, unix.EMFILE) || strings.Contains(err.Error(), "ulimit -n") ||
		unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return ""
	}
	return fmt.Sprintf("; this process may have %d: raise that, as by ulimit -n %d", limit.Cur, max(1024, 2*limit.Cur))
}
