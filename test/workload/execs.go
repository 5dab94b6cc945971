package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// The work execs: processes that execute a program.

const (
	execWord = "-exec-as"
	execComm = "wl-execs"
)

// The leader of a process keeps the main goroutine, so that others run on other threads.
func init() {
	if len(os.Args) > 1 && os.Args[1] == execWord {
		runtime.LockOSThread()
	}
}

// execs starts N processes, one after the other. In each a thread that is not the leader executes a program, by execve
// and execveat in turn, whose last argument is the number of the process modulo 256; the program ends with that status.
func execs(_ settings, args []string) (func() (report, error), error) {
	return processes(args, execComm, "wl-before", execWord)
}

// execAs is what such a process does. It returns only if it must not go on.
func execAs(number string) {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		failed <- execHere(number)
	}()
	fmt.Fprintln(os.Stderr, "workload:", <-failed)
	os.Exit(255)
}

// execHere executes the program on this thread.
func execHere(number string) error {
	if unix.Gettid() == os.Getpid() {
		return fmt.Errorf("thread %d is the leader", os.Getpid())
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := prepare(0, execComm, false); err != nil {
		return err
	}
	words := [][]byte{[]byte("wl-after\x00"), []byte(exitWord + "\x00"), []byte(number + "\x00")}
	argv := []*byte{&words[0][0], &words[1][0], &words[2][0], nil}
	envp := []*byte{nil}
	path := append([]byte(self), 0)
	call := [5]uintptr{uintptr(pointer(&path[0])), uintptr(pointers(argv)), uintptr(pointers(envp))}
	trap := uintptr(unix.SYS_EXECVE)
	if i, _ := strconv.Atoi(number); i%2 == 1 {
		dir := unix.AT_FDCWD
		call = [5]uintptr{uintptr(dir), call[0], call[1], call[2]}
		trap = unix.SYS_EXECVEAT
	}
	_, _, errno := unix.RawSyscall6(trap, call[0], call[1], call[2], call[3], call[4], 0)
	runtime.KeepAlive(words)
	runtime.KeepAlive(path)
	return errno
}
