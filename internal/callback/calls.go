// Package callback calls the functions that a script gave away, and counts what they raise. The first failure of each
// function is shown when it happens, the others are a number at the end:
//
//	startrace: handler of syscall:read: -e:1:44: division by zero
//	startrace: handler of syscall:read failed 12 times; the first is shown above
package callback

import (
	"errors"
	"fmt"
	"io"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/starlark/script"
)

// Calls of functions of the script: what a callback raised, and how many failures are shown (`maxShown`).

// Calls calls the functions that a script gave away, from the first event or timer to the last function of at_exit,
// and counts what they raise.
type Calls struct {
	// Host runs the script.
	Host *script.Host
	// out is flushed before a failure is told, so that lines keep their order.
	out *output.Output
	// messages takes what failed.
	messages *output.Messages

	// AtExit are the functions that at_exit() was given, in its order.
	AtExit []starlark.Callable
	// counts are the failures of all callbacks, those of ofTimers and exits among them.
	counts []*Failures
	// OfTimers and exits are the failures of timers and of the functions of at_exit.
	OfTimers, OfExits *Failures
}

// New makes calls without a host, which newSession sets.
func New(out *output.Output, m *output.Messages) *Calls {
	c := &Calls{out: out, messages: m}
	c.OfTimers, c.OfExits = c.Count("timer"), c.Count("at_exit")
	return c
}

// Failures counts what the callbacks of one probe, the timers or the functions of at_exit raised. The first of each
// function is shown when it happens, the rest as a number at the end.
type Failures struct {
	// of names the callbacks in messages: "handler of syscall:openat".
	of string
	// count is how many there were so far, those that were shown among them.
	count uint64
	// shown are the places of the functions of which one was shown.
	shown map[string]bool
}

// Count begins to count the failures of something.
func (c *Calls) Count(of string) *Failures {
	f := &Failures{of: of, shown: map[string]bool{}}
	c.counts = append(c.counts, f)
	return f
}

// Call calls a function of the script that is not the handler of a probe.
func (c *Calls) Call(fn starlark.Callable, f *Failures, args ...starlark.Value) {
	if err := c.Guarded(fn, args...); err != nil {
		c.Failed(f, placeOf(fn), err)
	}
}

// placeOf is where a function stands in the script; its name where it stands in none.
func placeOf(fn starlark.Callable) string {
	if f, ok := fn.(interface{ Position() syntax.Position }); ok {
		return f.Position().String()
	}
	return fn.Name()
}

// Guarded calls fn. A panic of startrace itself is an error of this call, so that what the run has to show is not
// lost with it.
func (c *Calls) Guarded(fn starlark.Callable, args ...starlark.Value) (err error) {
	defer func() {
		if bug := mistake.Caught(recover()); bug != nil {
			c.messages.Verbosef("%s", bug.Stack)
			err = bug
		}
	}()
	_, err = c.Host.Call(fn, args...)
	return err
}

// maxShown bounds the functions whose first failure is shown.
const maxShown = 100

// Exit is the exit() in what a function has raised, nil if it was something else.
func Exit(err error) error {
	var exit *builtins.ExitError
	if errors.As(err, &exit) {
		return exit
	}
	return nil
}

// Failed takes note of an error of a callback that stands at a place. exit() is none.
func (c *Calls) Failed(f *Failures, place string, err error) {
	if Exit(err) != nil {
		return
	}
	if f.count++; !f.shown[place] && len(f.shown) < maxShown {
		f.shown[place] = true
		c.out.Flush() // what was printed before the error stands before it
		mistake.Print(c.messages.W, fmt.Sprintf("startrace: %s: %v", f.of, mistake.Tidy(err)))
	}
}

// Report says how many callbacks failed beyond those that were shown, and
// whether any did.
func (c *Calls) Report(w io.Writer) bool {
	any := false
	for _, f := range c.counts {
		any = any || f.count > 0
		if shown := len(f.shown); f.count > uint64(shown) {
			which := "the first is"
			if shown > 1 {
				which = "the first of each function is"
			}
			fmt.Fprintf(w, "startrace: %s failed %s; %s shown above\n", escape.Line(f.of),
				format.Count(f.count, "time"), which)
		}
	}
	return any
}
