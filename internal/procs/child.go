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
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Child, the command of -c: started, held, let run, waited for, its exit code, and messages that it cannot be started.

// A Child is a started command. At first it is the stub, already under its
// final process number; Go makes it become the command. If this process ends
// before, the child ends too.
//
// Only the thread that traces a child may let it go, so Start locks its
// goroutine to its thread, and Go and Abandon, which unlock it, are called on
// the same goroutine. The other methods can be called on any.
type Child struct {
	// process is the child as its parent knows it, by a number and a descriptor.
	process process
	// init is the child's number in the first pid namespace, by which the kernel's programs know it.
	init int
	// path is the program of the command, as it was found in PATH.
	path   string
	start  *os.File // one byte: become the command
	report *os.File // what the child has to say; closed by exec
	ready  bool     // it has said that it waits
	held   bool     // by this thread, outside of a system call
	unheld error    // why not
}

// Start starts the command argv, found in PATH, up to where it waits for Go.
// It inherits the environment and all descriptors that a command of a shell
// inherits.
func Start(argv []string) (*Child, error) { return StartApart(argv, nil) }

// Streams are what a command has in the place of its parent's standard input (In), output (Out) and error (Err); nil
// leaves the parent's.
type Streams struct{ In, Out, Err *os.File }

// StartApart starts a command beside a parent that uses the terminal itself:
// with streams of its own, and in a process group of its own, so that keys that
// are typed for the parent do not reach it. nil: it shares all, as of Start.
func StartApart(argv []string, apart *Streams) (*Child, error) {
	if len(argv) == 0 {
		return nil, errors.New("no command")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) { // a relative PATH is the user's choice
		return nil, err
	}
	c := &Child{path: path}
	if err := c.launch(argv, apart); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := c.hold(); err != nil {
		c.Abandon()
		_, _ = c.Wait() // it was killed
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return c, nil
}

// hold stops a stub where nothing but the command's execve lies ahead. A child
// that cannot be held waits where it is.
func (c *Child) hold() error {
	if c.unheld == nil {
		c.unheld = seize(c.process.pid)
	}
	if c.unheld != nil {
		return nil
	}
	c.held = true
	err := c.tell()
	if err == nil {
		err = runToRead(c.process.pid)
	}
	if errors.Is(err, errEnded) && c.killed() {
		return nil
	}
	return err
}

// Unheld is nil if all that comes from the child's process from now on is the
// command's. Otherwise it says why it could not be held outside of a system
// call: then first comes the end of a read, or if the stub could not run,
// what a Go program does until it executes the command.
func (c *Child) Unheld() error { return c.unheld }

// Ready returns when the child does nothing but wait, or was killed. Whoever
// attaches probes calls it before, or they see how the child gets there.
func (c *Child) Ready() error {
	if c.ready {
		return nil
	}
	pid, err := c.readNumber()
	switch {
	case errors.Is(err, io.EOF) && c.killed():
	case errors.Is(err, io.EOF):
		return fmt.Errorf("start %s: %w", c.path, errEnded)
	case err != nil:
		return fmt.Errorf("start %s: %w", c.path, err)
	}
	c.ready = true
	if pid != 0 {
		c.init = pid
	}
	return nil
}

// PID is the number of the command's process as this process sees it.
func (c *Child) PID() int { return c.process.pid }

// InitPID is the number in the initial pid namespace, which programs see.
func (c *Child) InitPID() int { return c.init }

// Stops are what is called while the command is stopped; an error of it ends the child. nil: nobody wants that.
type Stops struct {
	// Loaded: it has the command's memory, and has run nothing of it.
	Loaded func() error
	// Linked: the dynamic linker has mapped its libraries, and nothing of the program itself has run. It is not called
	// where that cannot be seen, and only if Loaded is not nil.
	Linked func() error
}

// Go lets the child become the command and returns when it has, or cannot, or was killed.
func (c *Child) Go(at Stops) error {
	defer c.Abandon()
	if err := c.Ready(); err != nil {
		return err
	}
	if err := c.become(at); err != nil && !(errors.Is(err, errEnded) && c.killed()) {
		return fmt.Errorf("start %s: %w", c.path, err)
	}
	errno, err := c.readNumber()
	switch {
	case errors.Is(err, io.EOF): // closed by a successful exec
		return nil
	case err != nil:
		return fmt.Errorf("start %s: %w", c.path, err)
	}
	return fmt.Errorf("start %s: %w%s", c.path, syscall.Errno(errno), whyNot(syscall.Errno(errno)))
}

// whyNot says what an error of execve(2) means for a file that is there and may
// be executed.
func whyNot(errno syscall.Errno) string {
	switch errno {
	case syscall.ENOEXEC:
		return ": it is no program of this machine, nor a script that begins with #!"
	case syscall.ENOENT:
		return ": what its line #! names is not there, or the dynamic linker that it wants"
	}
	return ""
}

// become lets the child become the command, and calls what is to be called on the way. A child that cannot become it
// goes on to say why.
func (c *Child) become(at Stops) error {
	switch {
	case at.Loaded == nil:
		return c.release()
	case !c.held:
		return fmt.Errorf("it cannot be stopped where it begins: %w", c.unheld)
	}
	err := runToExec(c.process.pid)
	if err == nil {
		err = at.Loaded()
	}
	if err == nil && at.Linked != nil {
		err = c.link(at.Linked)
	}
	switch {
	case errors.Is(err, errEnded):
		c.held = false
		runtime.UnlockOSThread()
		return nil
	case err != nil:
		return err
	}
	return c.release()
}

// link lets the dynamic linker of the command run, and calls linked behind it.
func (c *Child) link(linked func() error) error {
	reached, err := runToEntry(c.process.pid)
	if err != nil || !reached {
		return err
	}
	return linked()
}

func (c *Child) release() error {
	if !c.held {
		return c.tell()
	}
	c.held = false
	return letGo(c.process.pid)
}

// tell writes the byte that the child waits for.
func (c *Child) tell() error {
	_, err := c.start.Write([]byte{1})
	if errors.Is(err, syscall.EPIPE) {
		return errEnded
	}
	return err
}

var errEnded = errors.New("the waiting process ended")

// killed waits until a child that is about to end has ended, and says whether
// a signal did it: Control-C reaches the child as well as this process. Then
// the command has ended before its first instruction, which is for Wait to
// report and no failure of starting it.
func (c *Child) killed() bool {
	ended, err := peek(c.process.pid, unix.WEXITED)
	return err == nil && ended.Code != cldExited
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
	if c.held {
		c.held = false
		// It is there, for nobody has waited for it yet.
		_ = c.process.signal(unix.SIGKILL)
		runtime.UnlockOSThread()
	}
	// Errors can only say that they are closed.
	c.start.Close()
	c.report.Close()
}

// Signal sends a signal to the command; os.ErrProcessDone if it has ended.
func (c *Child) Signal(s syscall.Signal) error { return c.process.signal(s) }

// Wait blocks until the command has ended, and gives its exit status as
// shells do: 128 and the signal if one killed it. It is called once, on any
// goroutine.
func (c *Child) Wait() (status int, err error) {
	ended, err := c.process.wait()
	switch {
	case err != nil:
		return 0, fmt.Errorf("wait for %s: %w", c.path, err)
	case ended.Signaled():
		return 128 + int(ended.Signal()), nil
	}
	return ended.ExitStatus(), nil
}
