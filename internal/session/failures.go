package session

import (
	"errors"
	"fmt"
	"io"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/mistake"
)

// failures counts what the callbacks of one probe, or the timers, raised. The
// first is shown when it happens, the rest as a number at the end.
type failures struct {
	of    string // "handler of syscall:openat"
	count uint64
}

func (s *session) newFailures(of string) *failures {
	f := &failures{of: of}
	s.failures = append(s.failures, f)
	return f
}

// callback calls a function of the script without arguments.
func (s *session) callback(fn starlark.Callable, f *failures) {
	if err := s.guarded(fn); err != nil {
		s.failed(f, err)
	}
}

// guarded calls fn. A panic of startrace itself is an error of this call, so that what the run has to show is not
// lost with it.
func (s *session) guarded(fn starlark.Callable, args ...starlark.Value) (err error) {
	defer Guard(&s.Options, new(int), &err)
	_, err = s.host.Call(fn, args...)
	return err
}

// failed takes note of an error of a callback. exit() is none.
func (s *session) failed(f *failures, err error) {
	var exit *builtins.ExitError
	if errors.As(err, &exit) {
		return
	}
	if f.count++; f.count == 1 {
		s.out.Flush() // what was printed before the error stands before it
		mistake.Print(s.messages.W, fmt.Sprintf("startrace: %s: %v", f.of, mistake.Tidy(err)))
	}
}

// reportFailures says how many callbacks failed beyond those that were shown,
// and whether any did.
func (s *session) reportFailures(w io.Writer) bool {
	any := false
	for _, f := range s.failures {
		any = any || f.count > 0
		if f.count > 1 {
			fmt.Fprintf(w, "startrace: %s failed %s; the first is shown above\n", f.of, format.Count(f.count, "time"))
		}
	}
	return any
}
