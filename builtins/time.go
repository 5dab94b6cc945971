package builtins

import (
	"fmt"
	"math"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/duration"
)

// every(), after(), at_exit(), exit(), now(), duration(), NSEC, USEC, MSEC, SEC; the shortest interval, and what a
// function that is called later takes.

// timeUnits are the units of time with their labels, in ns.
var timeUnits = []struct {
	constant, name string
	ns             int64
}{
	{"NSEC", "", 1}, {"USEC", "us", 1e3}, {"MSEC", "ms", 1e6}, {"SEC", "s", 1e9},
}

// durationName is the type of flags whose value is a time in ns.
const durationName = "duration"

var timeFamily = []Entry{
	constant("NSEC", "time", 1, "A nanosecond: times are ints in ns."),
	constant("USEC", "time", 1e3, "A microsecond in ns."),
	constant("MSEC", "time", 1e6, "A millisecond in ns."),
	constant("SEC", "time", 1e9, "A second in ns."),
	{
		Name: durationName, Family: "time",
		Signature: `duration("5ms")`,
		Doc:       `Reads a duration in ns: "100ns", "20us", "5ms", "1.5s", "2m", "1h30m". An int is taken as ns.`,
		call: func(_ *Env, c *call) (starlark.Value, error) {
			var v starlark.Value
			if err := c.unpack("text", &v); err != nil {
				return nil, err
			}
			ns, err := toDuration(v)
			return starlark.MakeInt64(ns), err
		},
	},
	{
		Name: "every", Family: "time",
		Signature: `every(interval, fn)`,
		Doc: `Calls fn() each interval ("1s", or ns), and once more at the end for the last part. If fn has a
parameter without a default, it gets the time in ns that has passed since the call before, which is
longer than the interval if calls were missed.`,
		call: timer("every", "interval", func(rt Runtime, d time.Duration, fn starlark.Callable) error {
			return rt.Every(d, fn)
		}),
	},
	{
		Name: "after", Family: "time",
		Signature: `after(delay, fn)`,
		Doc:       `Calls fn() once after a delay. A run that ends before the delay does not call it.`,
		call: timer("after", "delay", func(rt Runtime, d time.Duration, fn starlark.Callable) error {
			return rt.After(d, fn)
		}),
	},
	{
		Name: "at_exit", Family: "time",
		Signature: "at_exit(fn)",
		Doc: `Calls fn() when the run ends, in the order of the calls of at_exit. There it is an error to ask for
another call, by at_exit, every or after. exit(code) ends the function and sets the code of the run.`,
		call: func(e *Env, c *call) (starlark.Value, error) {
			if e.Loading() {
				return nil, errModule(c.name)
			}
			var fn starlark.Callable
			if err := c.unpack("fn", &fn); err != nil {
				return nil, err
			}
			if err := takesNothing(c.name, fn); err != nil {
				return nil, err
			}
			e.later = append(e.later, fn)
			return starlark.None, e.Runtime.AtExit(fn)
		},
	},
	{
		Name: "exit", Family: "time",
		Signature: "exit(code=0)",
		Doc:       "Ends the script or the callback here, and the run in order: last intervals, at_exit, summaries.",
		call: func(e *Env, c *call) (starlark.Value, error) {
			code := 0
			if err := c.unpack("code?", &code); err != nil {
				return nil, err
			}
			if code < 0 || code > 255 {
				return nil, fmt.Errorf("exit: got %d, want 0 to 255", code)
			}
			e.Runtime.Exit(code)
			return nil, &ExitError{code}
		},
	},
	{
		Name: "now", Family: "time",
		Signature: "now()",
		Doc:       "The time as e.time has it: monotonic, in ns.",
		call: func(e *Env, c *call) (starlark.Value, error) {
			if err := c.unpack(); err != nil {
				return nil, err
			}
			return starlark.MakeInt64(e.Runtime.Now()), nil
		},
	},
	{
		Name: "strftime", Family: "time",
		Signature: `strftime(format, time=None)`,
		Doc: `A time as text: strftime("%H:%M:%S"). It is the time of the event in a handler, and else now, or a
time such as e.time. The letters behind % are aAbBcdDeFhHIjmMnprRsStTuwxXyYzZ, as in C, and %f is microseconds,
%L milliseconds, %N nanoseconds. A time that is None or FAULT gives None or FAULT.
One of 2^63 ns or more, which no clock shows, is taken for the last before, 292 years after the boot.`,
		call: strftimeCall,
	},
}

// constant is the row of a name of a number.
func constant(name, family string, v int64, doc string) Entry {
	return Entry{Name: name, Family: family, Signature: name, Doc: doc, value: starlark.MakeInt64(v)}
}

// timer makes a builtin that calls a function later; when is the name of its first argument.
func timer(name, when string, start func(Runtime, time.Duration, starlark.Callable) error) func(*Env,
	*call) (starlark.Value, error) {
	return func(e *Env, c *call) (starlark.Value, error) {
		if e.Loading() {
			return nil, errModule(name)
		}
		var d starlark.Value
		var fn starlark.Callable
		if err := c.unpack(when, &d, "fn", &fn); err != nil {
			return nil, err
		}
		ns, err := toDuration(d)
		switch _, plain := d.(starlark.Int); {
		case err != nil:
		case ns <= 0:
			err = fmt.Errorf("got %s, want more than 0", d)
		case plain && ns < 1e6:
			err = fmt.Errorf("got %s, which is in ns; want at least a millisecond: 2 * SEC, or \"2s\"", d)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		takes := takesNothing
		if name == "every" {
			takes = takesPassed
		}
		if err := takes(name, fn); err != nil {
			return nil, err
		}
		e.later = append(e.later, fn)
		return starlark.None, start(e.Runtime, time.Duration(ns), fn)
	}
}

// takesNothing refuses a function that is to be called without arguments and wants some.
func takesNothing(name string, fn starlark.Callable) error {
	if wanted := Wants(fn); len(wanted) > 0 {
		return fmt.Errorf("%s: fn: %s is called without arguments, but wants %s", name, fn.Name(), wanted[0])
	}
	return nil
}

// takesPassed refuses a function of every that wants more than the time that has passed.
func takesPassed(name string, fn starlark.Callable) error {
	if wanted := Wants(fn); len(wanted) > 1 {
		return fmt.Errorf("%s: fn: %s is called with the time that has passed, in ns, but wants also %s", name,
			fn.Name(), wanted[1])
	}
	return nil
}

// Wants are the parameters of a function of the script without which it cannot be called.
func Wants(fn starlark.Callable) (names []string) {
	f, ok := fn.(*starlark.Function)
	if !ok {
		return nil
	}
	starred := 0 // *args and **kwargs, which stand last
	if f.HasVarargs() {
		starred++
	}
	if f.HasKwargs() {
		starred++
	}
	for i := range f.NumParams() - starred {
		if word, _ := f.Param(i); f.ParamDefault(i) == nil {
			names = append(names, word)
		}
	}
	return names
}

// toDuration reads a string such as "5ms", or an int in ns.
func toDuration(v starlark.Value) (int64, error) {
	switch v := v.(type) {
	case starlark.Int:
		if ns, ok := v.Int64(); ok && ns <= duration.Most {
			return ns, nil
		}
		return 0, fmt.Errorf("got %s, %w", v, duration.ErrTooLong)
	case starlark.Float:
		if !(math.Abs(float64(v)) <= duration.Most) { // nan is neither
			return 0, fmt.Errorf("got %s, %w", v, duration.ErrTooLong)
		}
		return int64(v), nil
	case starlark.String:
		return duration.Parse(string(v))
	}
	return 0, fmt.Errorf(`got %s, want a duration: "5ms", or an int in ns`, v.Type())
}
