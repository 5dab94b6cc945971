// Package procs starts the command of -c so that it can be traced from its
// first instruction, and finds the numbers by which the kernel's programs
// know processes.
package procs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// A Child is a started command. At first it is this executable again, already
// under its final process number, waiting on a pipe; Go makes it become the
// command. If this process ends before, the pipe closes and the child ends too.
type Child struct {
	process *os.Process
	init    int
	path    string
	start   *os.File // one byte: become the command
	report  *os.File // what the child has to say; closed by exec
	ready   bool     // it has said that it waits
}

// Start starts the command argv, found in PATH, up to where it waits for Go.
// It inherits the environment and standard input, output and error.
func Start(argv []string) (_ *Child, err error) {
	if len(argv) == 0 {
		return nil, errors.New("no command")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) { // a relative PATH is the user's choice
		return nil, err
	}
	pipes, err := newPipes()
	if err != nil {
		return nil, err
	}
	c := &Child{path: path, start: pipes.startW, report: pipes.reportR}
	err = c.launch(append([]string{marker, justWait, path}, argv...), pipes)
	// The child has its own ends now, and must see when ours close.
	pipes.startR.Close()
	pipes.reportW.Close()
	if err != nil {
		c.Abandon()
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return c, nil
}

// pipes are the ends of the two pipes between this process and the child.
type pipes struct{ startR, startW, reportR, reportW *os.File }

func newPipes() (p pipes, err error) {
	if p.startR, p.startW, err = os.Pipe(); err != nil {
		return p, err
	}
	if p.reportR, p.reportW, err = os.Pipe(); err != nil {
		return p, errors.Join(err, p.startR.Close(), p.startW.Close())
	}
	return p, nil
}

// launch starts the child and learns its number in the initial namespace.
func (c *Child) launch(args []string, p pipes) error {
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr, p.startR, p.reportW}
	initial, err := inInitialNamespace()
	if err != nil {
		return err
	}
	if !initial {
		who, err := loadWhoami()
		if err != nil {
			return err
		}
		defer who.Close()
		args[1] = tellPID
		files = append(files, who)
	}
	if c.process, err = os.StartProcess("/proc/self/exe", args, &os.ProcAttr{Files: files}); err != nil {
		return err
	}
	c.init = c.process.Pid
	if !initial {
		return c.Ready()
	}
	return nil
}

// Ready returns when the child does nothing but wait. Whoever attaches probes
// calls it before, or they see how the child gets there.
func (c *Child) Ready() error {
	if c.ready {
		return nil
	}
	pid, err := c.readNumber()
	if err != nil {
		return fmt.Errorf("start %s: the waiting process ended: %w", c.path, err)
	}
	c.ready = true
	if pid != 0 {
		c.init = pid
	}
	return nil
}

// PID is the number of the command's process as this process sees it.
func (c *Child) PID() int { return c.process.Pid }

// InitPID is the number in the initial pid namespace, which programs see.
func (c *Child) InitPID() int { return c.init }

// Go lets the child become the command and returns when it has, or cannot.
func (c *Child) Go() error {
	if err := c.Ready(); err != nil {
		return err
	}
	if _, err := c.start.Write([]byte{1}); err != nil {
		return fmt.Errorf("start %s: %w", c.path, err)
	}
	errno, err := c.readNumber()
	c.Abandon()
	switch {
	case errors.Is(err, io.EOF): // the pipe was closed by a successful exec
		return nil
	case err != nil:
		return fmt.Errorf("start %s: %w", c.path, err)
	}
	return fmt.Errorf("start %s: %w", c.path, syscall.Errno(errno))
}

// readNumber reads a number that the child reports; io.EOF if it reports none.
func (c *Child) readNumber() (int, error) {
	var b [4]byte
	if _, err := io.ReadFull(c.report, b[:]); err != nil {
		return 0, err
	}
	return int(binary.NativeEndian.Uint32(b[:])), nil
}

// Abandon ends a child that has not become the command; it does nothing to
// one that has.
func (c *Child) Abandon() {
	// Errors can only say that they are closed.
	c.start.Close()
	c.report.Close()
}

// Signal sends a signal to the command.
func (c *Child) Signal(s os.Signal) error { return c.process.Signal(s) }

// Wait blocks until the command has ended, and gives its exit status as
// shells do: 128 and the signal if one killed it. It is called once, on any
// goroutine.
func (c *Child) Wait() (status int, err error) {
	state, err := c.process.Wait()
	if err != nil {
		return 0, fmt.Errorf("wait for %s: %w", c.path, err)
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return state.ExitCode(), nil
}
