package procs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
)

// A child that waits for its parent where the stub cannot run.

// marker is the name (argv[0]) of a child that waits; ps shows it. Where it is
// this executable its descriptors come next, then the path and the words of
// the command.
const marker = "startrace: waiting to start"

// exitUnstarted is the status of a child that never became the command.
const exitUnstarted = 127

// MaybeChild must be called before anything else in main: where the stub cannot
// run (see Unheld) a child is this executable, and here it waits and becomes
// the command, and does not return. Otherwise it is a comparison of strings.
func MaybeChild() {
	if len(os.Args) > 5 && os.Args[0] == marker {
		p, err := parseParams(os.Args[1:4])
		if err == nil {
			wait(p, os.Args[4], os.Args[5:])
		}
		os.Exit(exitUnstarted)
	}
}

func (p params) words() []string {
	return []string{fmt.Sprint(p.start), fmt.Sprint(p.report), fmt.Sprint(p.whoami)}
}

func parseParams(words []string) (p params, err error) {
	for i, fd := range []*int32{&p.start, &p.report, &p.whoami} {
		n, err := strconv.ParseInt(words[i], 10, 32)
		if err != nil {
			return p, err
		}
		*fd = int32(n)
	}
	return p, nil
}

// wait does what the stub does. It returns if the parent has gone or the
// command cannot be executed.
func wait(p params, path string, argv []string) {
	unix.CloseOnExec(int(p.start))
	unix.CloseOnExec(int(p.report))
	// What remains to be done after the byte is seen by probes: little.
	env := os.Environ()
	debug.SetGCPercent(-1)
	leaveSignals()
	report(p, readiness(p))
	if !awaitByte(p) {
		return
	}
	// syscall.Exec also gives back the limit of open files that Go has raised.
	err := syscall.Exec(path, argv, env)
	var errno syscall.Errno
	errors.As(err, &errno)
	report(p, uint32(errno))
}

// awaitByte waits for the parent; false says that it has gone.
func awaitByte(p params) bool {
	for {
		var b [1]byte
		n, err := unix.Read(int(p.start), b[:])
		if !errors.Is(err, unix.EINTR) {
			return n == 1 && err == nil
		}
	}
}

// readiness is what the child says when it waits: its number in the initial
// pid namespace, or 0 where nobody asked. If the number cannot be found the
// child ends, and the parent finds the pipe closed.
func readiness(p params) uint32 {
	if p.whoami < 0 {
		return 0
	}
	who, err := ebpf.NewProgramFromFD(int(p.whoami))
	if err != nil {
		os.Exit(exitUnstarted)
	}
	pid, err := bpf.Run(who, nil)
	if err != nil || who.Close() != nil {
		os.Exit(exitUnstarted)
	}
	return pid
}

// report writes a number to the parent. If the parent has gone there is
// nobody to tell.
func report(p params, n uint32) {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], n)
	_, _ = unix.Write(int(p.report), b[:])
}
