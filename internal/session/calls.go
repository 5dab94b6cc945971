package session

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

// calls calls the functions that a script gave away, from the first event or timer to the last function of at_exit,
// and counts what they raise.
type calls struct {
	// o are the options of the run, for what becomes of a panic of startrace itself (Guard).
	o *Options
	// host runs the script.
	host *script.Host
	// out is flushed before a failure is told, so that lines keep their order.
	out *output.Output
	// messages takes what failed.
	messages *output.Messages

	// atExit are the functions that at_exit() was given, in its order.
	atExit []starlark.Callable
	// counts are the failures of all callbacks, those of ofTimers and exits among them.
	counts []*failures
	// ofTimers and exits are the failures of timers and of the functions of at_exit.
	ofTimers, exits *failures
}

// newCalls makes calls without a host, which newSession sets.
func newCalls(o *Options, out *output.Output, m *output.Messages) *calls {
	c := &calls{o: o, out: out, messages: m}
	c.ofTimers, c.exits = c.count("timer"), c.count("at_exit")
	return c
}

// failures counts what the callbacks of one probe, the timers or the functions of at_exit raised. The first of each
// function is shown when it happens, the rest as a number at the end.
type failures struct {
	// of names the callbacks in messages: "handler of syscall:openat".
	of string
	// count is how many there were so far, those that were shown among them.
	count uint64
	// shown are the places of the functions of which one was shown.
	shown map[string]bool
}

// count begins to count the failures of something.
func (c *calls) count(of string) *failures {
	f := &failures{of: of, shown: map[string]bool{}}
	c.counts = append(c.counts, f)
	return f
}

// call calls a function of the script that is not the handler of a probe.
func (c *calls) call(fn starlark.Callable, f *failures, args ...starlark.Value) {
	if err := c.guarded(fn, args...); err != nil {
		c.failed(f, placeOf(fn), err)
	}
}

// placeOf is where a function stands in the script; its name where it stands in none.
func placeOf(fn starlark.Callable) string {
	if f, ok := fn.(interface{ Position() syntax.Position }); ok {
		return f.Position().String()
	}
	return fn.Name()
}

// guarded calls fn. A panic of startrace itself is an error of this call, so that what the run has to show is not
// lost with it.
func (c *calls) guarded(fn starlark.Callable, args ...starlark.Value) (err error) {
	defer Guard(c.o, new(int), &err)
	_, err = c.host.Call(fn, args...)
	return err
}

// maxShown bounds the functions whose first failure is shown.
const maxShown = 100

// failed takes note of an error of a callback that stands at a place. exit() is none.
func (c *calls) failed(f *failures, place string, err error) {
	var exit *builtins.ExitError
	if errors.As(err, &exit) {
		return
	}
	if f.count++; !f.shown[place] && len(f.shown) < maxShown {
		f.shown[place] = true
		c.out.Flush() // what was printed before the error stands before it
		mistake.Print(c.messages.W, fmt.Sprintf("startrace: %s: %v", f.of, mistake.Tidy(err)))
	}
}

// report says how many callbacks failed beyond those that were shown, and
// whether any did.
func (c *calls) report(w io.Writer) bool {
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
