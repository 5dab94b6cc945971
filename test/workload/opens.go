package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// The work opens: files opened by several threads, with their results.

// opened is one call of openat: what a tracer should see of it.
type opened struct {
	name   string
	result int // a descriptor or minus an errno
}

// missingEvery says which calls are made for a file that is not there.
const missingEvery = 3

// opens opens and closes files of each thread's own. Names differ in length, so that a name with the tail of another
// does not pass for it.
func opens(s settings, args []string) (func() (report, error), error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("opens takes a number, a number of threads and a folder")
	}
	n, err := numbers(args[:2], 2, 2)
	if err != nil {
		return nil, err
	}
	calls, threads := n[0], n[1]
	made := make([][]opened, threads)
	for thread := range made {
		if made[thread], err = makeFiles(args[2], thread, share(calls, threads, thread)); err != nil {
			return nil, err
		}
	}
	const comm = "wl-opens"
	return func() (report, error) {
		tids, err := onThreads(threads, comm, s.pin, func(thread int) error { return openAll(made[thread]) })
		done := report{Comm: comm, Calls: calls, TIDs: tids}
		for _, list := range made {
			for _, call := range list {
				if call.result < 0 {
					done.Failed++
				}
			}
		}
		if err == nil && s.log != "" {
			err = writeLog(s.log, tids, made)
		}
		return done, err
	}, nil
}

// ownFiles is how many files each thread has; they are opened again and again.
const ownFiles = 50

// makeFiles plans the calls of a thread and makes its files, by mknod, which is not an open.
func makeFiles(dir string, thread, calls int) ([]opened, error) {
	plan := make([]opened, calls)
	for i := range plan {
		k := i % ownFiles
		if i%missingEvery == 0 {
			plan[i].name = filepath.Join(dir, fmt.Sprintf("missing-%d-%s%d", thread, strings.Repeat("m", k), i))
			continue
		}
		plan[i].name = filepath.Join(dir, fmt.Sprintf("file-%d-%s%d", thread, strings.Repeat("f", 49-k), k))
		if err := unix.Mknod(plan[i].name, unix.S_IFREG|0o600, 0); err != nil && err != unix.EEXIST {
			return nil, fmt.Errorf("make %s: %w", plan[i].name, err)
		}
	}
	return plan, nil
}

// openAll makes the calls and notes their results.
func openAll(plan []opened) error {
	for i := range plan {
		name, err := unix.BytePtrFromString(plan[i].name)
		if err != nil {
			return err
		}
		fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, atFdCwd, uintptr(pointer(name)), unix.O_RDONLY, 0, 0, 0)
		if errno != 0 {
			plan[i].result = -int(errno)
			continue
		}
		plan[i].result = int(fd)
		unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	}
	return nil
}

// atFdCwd is AT_FDCWD as an argument of a system call.
const atFdCwd = ^uintptr(99)

// writeLog writes a line for each call: thread, result, name.
func writeLog(name string, tids []int, made [][]opened) error {
	var b bytes.Buffer
	for thread, list := range made {
		for _, call := range list {
			fmt.Fprintf(&b, "%d %d %s\n", tids[thread], call.result, call.name)
		}
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}
