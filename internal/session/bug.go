package session

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/plan"
)

// Guard turns a panic of the run, or of one of its callbacks, into an error.
func Guard(o *Options, exit *int, err *error) {
	bug := mistake.Caught(recover())
	if bug == nil {
		return
	}
	if o.Verbose {
		fmt.Fprintf(o.Stderr, "%s\n", bug.Stack)
	}
	*exit, *err = Failed, bug
}

// A crowdError is a point that has no room for the program of a probe.
type crowdError struct {
	error
	pos plan.Pos // of the probe
}

func (e *crowdError) Error() string   { return e.pos.String() + ": " + e.error.Error() }
func (e *crowdError) Place() plan.Pos { return e.pos }
func (e *crowdError) Unwrap() error   { return e.error }

// placeCrowd says by which probe a point had more programs than it can run.
func (s *session) placeCrowd(err error) error {
	var at *attach.Error
	if !errors.As(err, &at) || !errors.Is(err, unix.E2BIG) {
		return err
	}
	for _, p := range s.plan.Probes {
		if p.ID == at.Program.Probe {
			return &crowdError{err, p.Pos}
		}
	}
	return err
}

// nameScript puts into the report of a program that the kernel refuses which
// script makes it.
func (s *session) nameScript(err error) error {
	var rejected *attach.VerifierError
	if errors.As(err, &rejected) {
		if rejected.Script = "-e CODE"; len(s.Code) == 0 && len(s.Args) > 0 {
			rejected.Script = s.Args[0]
		}
	}
	return err
}
