package session

import (
	"errors"

	"github.com/startrace/startrace/internal/mistake"
)

// Work that takes long runs beside, so that a signal can end it.

// aside runs work that takes long, as compiling does, and does not wait for its end
// once a signal has come: the process is about to end then. It is for a run that has
// shown nothing yet; at the prompt, which goes on, the work is done in place, and
// asks by itself whether it is wanted still (unwanted).
//
// While it waits the caller touches nothing that the work does.
func (s *session) aside(work func() error) error {
	if s.begun || s.dialogue != nil {
		return work()
	}
	done := make(chan struct{})
	var err error
	var bug *mistake.Bug
	go func() {
		defer close(done)
		defer func() { bug = mistake.Caught(recover()) }()
		err = work()
	}()
	defer s.bell.Ring() // of what the wait has taken the next one must hear, too
	for {
		select {
		case <-done:
			if bug != nil {
				panic(bug)
			}
			return err
		case <-s.bell.Rung():
			if err := s.unwanted(); err != nil {
				return err
			}
		}
	}
}

// unwanted is an error once a signal has come: what is being loaded has not shown anything yet, and is given up at
// once.
func (s *session) unwanted() error {
	d := s.dialogue
	if s.interrupted.Load() && (!s.begun || d != nil) || d != nil && d.stopsLoading() {
		return errors.New("interrupted before all probes were attached")
	}
	return nil
}
