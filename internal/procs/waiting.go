package procs

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
)

// marker is the name (argv[0]) of a child that waits; ps shows it. Then come
// what it shall do first, the path and the words of the command.
const marker = "startrace: waiting to start"

// What a child does first.
const (
	justWait = "-"
	tellPID  = "tell-pid" // report its number in the initial pid namespace
)

// What a waiting child inherits beside standard input, output and error. The
// last is there only with tellPID.
const (
	startFD  = 3
	reportFD = 4
	whoamiFD = 5
)

// exitUnstarted is the status of a child that never became the command.
const exitUnstarted = 127

// MaybeChild must be called before anything else in main: in a child of Start
// it waits and becomes the command, and does not return. Otherwise it is a
// comparison of strings.
func MaybeChild() {
	if len(os.Args) > 3 && os.Args[0] == marker {
		wait(os.Args[1], os.Args[2], os.Args[3:])
		os.Exit(exitUnstarted)
	}
}

// wait waits for the parent's byte and becomes the command. It returns if the
// parent has gone or the command cannot be executed.
func wait(first, path string, argv []string) {
	unix.CloseOnExec(startFD)
	unix.CloseOnExec(reportFD)
	// What remains to be done after the byte is seen by probes: little.
	env := os.Environ()
	debug.SetGCPercent(-1)
	report(readiness(first))
	if !awaitByte() {
		return
	}
	// syscall.Exec also gives back the limit of open files that Go has raised.
	err := syscall.Exec(path, argv, env)
	var errno syscall.Errno
	errors.As(err, &errno)
	report(uint32(errno))
}

// awaitByte waits for the parent; false says that it has gone.
func awaitByte() bool {
	for {
		var b [1]byte
		n, err := unix.Read(startFD, b[:])
		if !errors.Is(err, unix.EINTR) {
			return n == 1 && err == nil
		}
	}
}

// readiness is what the child says when it waits: its number in the initial
// pid namespace, or 0 where nobody asked. If the number cannot be found the
// child ends, and the parent finds the pipe closed.
func readiness(first string) uint32 {
	if first != tellPID {
		return 0
	}
	pid, err := bpf.Run(whoamiFD, nil)
	if err != nil || unix.Close(whoamiFD) != nil {
		os.Exit(exitUnstarted)
	}
	return pid
}

// report writes a number to the parent. If the parent has gone there is
// nobody to tell.
func report(n uint32) {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], n)
	_, _ = unix.Write(reportFD, b[:])
}
