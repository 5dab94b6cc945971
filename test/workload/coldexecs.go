package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// The work coldexecs: programs executed with words in such pages.

const (
	coldExecWord   = "-exec-cold"
	coldScriptWord = "-exec-cold-scripts"
)

// coldexecs starts N processes. Each tries to execute /nonexistent/cold with 30 arguments, and then executes a program
// that ends with its number modulo 256 as the status. The names, the arguments and the environment lie in pages which
// nothing has touched.
func coldexecs(_ settings, args []string) (func() (report, error), error) {
	return processes(args, execComm, "wl-before", coldExecWord)
}

// execCold is what such a process does. It returns only if it must not go on.
func execCold(number string) {
	fmt.Fprintln(os.Stderr, "workload:", execFromCold(number))
	os.Exit(255)
}

func execFromCold(number string) error {
	runtime.LockOSThread()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := prepare(0, execComm, false); err != nil {
		return err
	}
	words, err := coldWords("/nonexistent/cold", "missing", self, "wl-after", exitWord, number, "COLD=1")
	if err != nil {
		return err
	}
	if errno := execve(words[0], slices.Repeat(words[1:2], 30), nil); errno != unix.ENOENT {
		return fmt.Errorf("execute what is not there: %w", errno)
	}
	return execve(words[2], words[3:6], words[6:])
}

// execColdScripts asks whether the second file could be executed (AT_EXECVE_CHECK), tries to execute the first, which
// must fail, and executes the second, with the arguments first, --option and "". It returns only if it must not go on.
func execColdScripts(fails, starts string) {
	runtime.LockOSThread()
	err := prepare(0, execComm, false)
	coldScript(fails, 0)
	coldScript(starts, executeCheck)
	fmt.Fprintln(os.Stderr, "workload:", errors.Join(err, coldScript(starts, 0)))
	os.Exit(255)
}

// executeCheck is AT_EXECVE_CHECK: execveat only says whether the program could be started.
const executeCheck = 0x10000

func coldScript(file string, flags uintptr) error {
	words, err := coldWords(file, "first", "--option", "")
	if err != nil {
		return err
	}
	if flags == 0 {
		return execve(words[0], words[1:], nil)
	}
	argv, here := append(words[1:], nil), unix.AT_FDCWD
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(here), uintptr(pointer(words[0])),
		uintptr(pointers(argv)), 0, flags, 0)
	runtime.KeepAlive(argv)
	return errno
}

// coldWords lays strings into pages of a file, each mapped by itself.
func coldWords(list ...string) ([]*byte, error) {
	file, err := os.CreateTemp("", "cold")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size := unix.Getpagesize()
	var out []*byte
	var failed error
	for i, s := range list {
		_, err := file.WriteAt(append([]byte(s), make([]byte, size-len(s))...), int64(i*size))
		failed = errors.Join(failed, err)
	}
	for i := range list {
		page, err := unix.Mmap(int(file.Fd()), int64(i*size), size, unix.PROT_READ, unix.MAP_PRIVATE)
		if err != nil {
			return nil, errors.Join(failed, err)
		}
		out = append(out, &page[0])
	}
	return out, errors.Join(failed, os.Remove(file.Name()))
}

func execve(name *byte, args, env []*byte) unix.Errno {
	argv, envp := append(slices.Clone(args), nil), append(slices.Clone(env), nil)
	_, _, errno := unix.RawSyscall(unix.SYS_EXECVE, uintptr(pointer(name)), uintptr(pointers(argv)),
		uintptr(pointers(envp)))
	runtime.KeepAlive(argv)
	runtime.KeepAlive(envp)
	return errno
}
