package procs

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A child process: signal, wait.

// A process is a child process of this one. It is not an os.Process: to make
// the first of these, Go tries whether clone gives process descriptors
// (syscall.doCheckClonePidfd), with a child that shares memory and handlers
// of signals with this process. A Control-C that meets that child comes twice,
// and so would end the run at once.
type process struct {
	pid int

	mu   sync.Mutex
	gone bool // waited for: the number may be another process's
}

// signal sends a signal to the process; os.ErrProcessDone if it has ended.
func (p *process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return os.ErrProcessDone
	}
	return unix.Kill(p.pid, s)
}

// wait blocks until the process has ended.
func (p *process) wait() (unix.WaitStatus, error) {
	if _, err := peek(p.pid, unix.WEXITED); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	return waitFor(p.pid)
}

// How a process changed (include/uapi/asm-generic/siginfo.h).
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// peek waits until a process has changed, and leaves that to be waited for.
func peek(pid, changes int) (info unix.Siginfo, err error) {
	for {
		err = unix.Waitid(unix.P_PID, pid, &info, changes|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return info, err
		}
	}
}

// waitFor takes the next change of a process.
func waitFor(pid int) (status unix.WaitStatus, err error) {
	for {
		_, err = unix.Wait4(pid, &status, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			return status, err
		}
	}
}
