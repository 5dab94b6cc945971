package session

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/procs"
)

// MaybeCommand must be the first call of main: this executable may also be what
// waits to become the command of -c (see package procs).
func MaybeCommand() { procs.MaybeChild() }

// startCommand starts the command of -c up to where it waits for Go.
func (s *session) startCommand(apart *procs.Streams) (err error) {
	if len(s.argv) == 0 {
		return nil
	}
	s.childEnded.Store(false)
	s.released = false
	if s.child, err = procs.StartApart(s.argv, apart); err != nil {
		s.child = nil
		return err
	}
	if why := s.child.Unheld(); why != nil {
		s.messages.Verbosef("the first events may be those of starting %s: %v", s.argv[0], why)
	}
	return nil
}

// target says which processes the run concerns: programs test numbers of the
// initial pid namespace. Unless it was asked for, the tracer never traces
// itself.
func (s *session) target() (t plan.Target, err error) {
	switch {
	case s.child != nil:
		return plan.Target{PID: s.child.InitPID(), Follow: true}, nil // what the command starts is part of it
	case s.PID > 0:
		t.Follow = s.Follow
		t.PID, err = procs.InitPID(s.PID)
		return t, err
	}
	t.Self, err = procs.SelfInitPID()
	return t, s.machine.WithCause(err)
}

// releaseCommand lets the command run. When it has ended, so does the run.
func (s *session) releaseCommand() error {
	if s.child == nil {
		return nil
	}
	if err := s.child.Go(); err != nil {
		return err
	}
	s.released = true
	s.await(s.child)
	return nil
}

// commandGrace is how long the end of the run waits for a command after SIGTERM:
// short enough not to be felt after Ctrl-C. One that takes longer goes on alone.
const commandGrace = 200 * time.Millisecond

// stopCommand ends a command that outlives the run: it was started for it.
func (s *session) stopCommand() {
	switch {
	case s.child == nil || s.childEnded.Load():
		return
	case !s.released:
		s.child.Abandon()
		return
	}
	if err := s.child.Signal(unix.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.messages.Sayf("startrace: end the command: %v", err)
	}
	for end := time.Now().Add(commandGrace); !s.childEnded.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}
