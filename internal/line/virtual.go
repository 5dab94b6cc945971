package line

import (
	"fmt"
	"math"
	"os"

	"github.com/peterh/liner"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/pty"
)

// The terminal that liner has: pipes in place of standard input and output.

// A virtual terminal is the one that liner has. Its descriptors are 0 and 1 of
// this process, since liner asks these for modes and the width; the real
// terminal has others.
type virtual struct {
	liner  *liner.State
	keys   *os.File // what is written here liner reads as keys
	output *os.File // what liner prints
	// in and out are the real terminal.
	in, out *os.File
}

// newVirtual takes the place of the terminal at descriptors 0 and 1.
func newVirtual() (v *virtual, err error) {
	v = &virtual{}
	var slave *os.File
	if v.output, slave, err = pty.Open(1, math.MaxUint16); err != nil {
		return nil, err
	}
	defer slave.Close() // 0 and 1 hold it
	if err := rawOutput(slave); err != nil {
		return nil, err
	}
	if v.in, err = duplicate(unix.Stdin, "keys"); err != nil {
		return nil, err
	}
	if v.out, err = duplicate(unix.Stdout, "terminal"); err != nil {
		return nil, err
	}
	var keys *os.File
	if keys, v.keys, err = os.Pipe(); err != nil {
		return nil, err
	}
	for _, fd := range []int{unix.Stdin, unix.Stdout} {
		if err := unix.Dup3(int(slave.Fd()), fd, 0); err != nil {
			return nil, fmt.Errorf("descriptor %d: %w", fd, err)
		}
	}
	v.liner, err = newLiner(keys)
	return v, err
}

// duplicate gives a descriptor a second number.
func duplicate(fd int, name string) (*os.File, error) {
	other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	return os.NewFile(uintptr(other), name), nil
}

// rawOutput makes a terminal pass on what is printed as it is.
func rawOutput(t *os.File) error {
	mode, err := unix.IoctlGetTermios(int(t.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	mode.Oflag &^= unix.OPOST
	return unix.IoctlSetTermios(int(t.Fd()), unix.TCSETS, mode)
}

// newLiner makes a liner that reads its keys from a file. It takes os.Stdin and
// the kind of terminal as they are when it is made; what follows its output is
// an xterm as far as that goes.
func newLiner(keys *os.File) (*liner.State, error) {
	kind, input := os.Getenv("TERM"), os.Stdin
	if err := os.Setenv("TERM", "xterm"); err != nil {
		return nil, err
	}
	os.Stdin = keys
	l := liner.NewLiner()
	os.Stdin = input
	l.SetCtrlCAborts(true)
	l.SetBeep(false)
	return l, os.Setenv("TERM", kind)
}
