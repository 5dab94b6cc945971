package session

import (
	"fmt"
	"runtime/debug"
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
	bug := &BugError{p, debug.Stack()}
	if o.Verbose {
		fmt.Fprintf(o.Stderr, "%s\n", bug.Stack)
	}
	*exit, *err = Failed, bug
}
