package session

import (
	"fmt"

	"github.com/startrace/startrace/internal/mistake"
)

// A panic of a run becomes the message of a bug.

// Guard turns a panic of the run, or of one of its callbacks, into an error. It is
// deferred.
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
