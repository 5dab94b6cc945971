package session

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/startrace/startrace/internal/attach"
)

// A BugError is a panic in startrace itself, as a message.
type BugError struct {
	What  any
	Stack []byte
}

func (e *BugError) Error() string {
	return fmt.Sprintf("internal error: %v; this is a bug in startrace, not in the script (-v shows where)", e.What)
}

// guard turns a panic of the run into an error, once, at the outermost place:
// by then the programs are detached.
func guard(o Options, exit *int, err *error) {
	p := recover()
	if p == nil {
		return
	}
	bug, known := p.(*BugError) // of another goroutine, with its stack
	if !known {
		bug = &BugError{p, debug.Stack()}
	}
	if o.Verbose {
		fmt.Fprintf(o.Stderr, "%s\n", bug.Stack)
	}
	*exit, *err = Failed, bug
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
