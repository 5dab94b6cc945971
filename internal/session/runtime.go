package session

import (
	"errors"
	"fmt"
	"io"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/starlark/value"
)

// What the script's builtins ask of the run: every, after, exit, print, announce, now, show.

// runtime is the session as the script's builtins see it.
type runtime struct{ *session }

var _ builtins.Runtime = runtime{}

func (r runtime) Every(d time.Duration, fn starlark.Callable) error {
	t := &timers.Timer{Period: uint64(d), Func: fn}
	t.Call = func(uint64) { r.callTimer(t) }
	if len(builtins.Wants(fn)) > 0 {
		var last uint64
		t.Call = func(now uint64) {
			since := max(last, r.began)
			last = now
			r.callTimer(t, starlark.MakeUint64(now-since))
		}
		if r.begun {
			last = stream.Now()
		}
	}
	return r.addTimer(d, t)
}

func (r runtime) After(d time.Duration, fn starlark.Callable) error {
	t := &timers.Timer{Func: fn}
	t.Call = func(uint64) { r.callTimer(t) }
	return r.addTimer(d, t)
}

// callTimer calls the function of a timer, and takes note of one that had to be ended.
func (r runtime) callTimer(t *timers.Timer, args ...starlark.Value) {
	r.calls.Call(t.Func, r.calls.OfTimers, args...)
	t.Cut = r.ending.IsCut() || r.hurried.Load() || r.budget.Over()
}

// addTimer starts to count when tracing starts, for timers that are set
// before: loading takes time that is not part of the first interval.
func (r runtime) addTimer(d time.Duration, t *timers.Timer) error {
	if r.leaving {
		return errLeaving
	}
	t.Deadline = uint64(d)
	if r.begun {
		t.Deadline += stream.Now()
	}
	r.timers.Add(t)
	return nil
}

func (r runtime) AtExit(fn starlark.Callable) error {
	if r.leaving {
		return errLeaving
	}
	r.calls.AtExit = append(r.calls.AtExit, fn)
	return nil
}

// errLeaving is for what a function of at_exit wants to be called later.
var errLeaving = errors.New("this is called at the exit, after which nothing is: call the function here")

func (r runtime) Exit(code int) {
	r.exited = true
	r.code = code
}

// Out takes lines. Where the format has no place for them they go to standard
// error.
func (r runtime) Out() io.Writer {
	if !r.out.Format().TakesLines() {
		return r.messages.W
	}
	return r.out.Lines()
}

// Announce waits until everything is attached: who reads that tracing has begun
// may start what is to be traced.
func (r runtime) Announce(text string) {
	switch {
	case r.untraced:
	case r.attaching():
		r.announced = append(r.announced, text)
	default:
		r.messages.Say(text + r.untilWhen())
	}
}

// attaching reports whether the script, or a chunk at the prompt, runs whose
// probes are not attached yet.
func (s *session) attaching() bool {
	return !s.begun || s.dialogue != nil && s.dialogue.taking && !s.delivery.InHandler()
}

// sayAnnounced says what was announced while probes were not attached yet.
func (s *session) sayAnnounced() {
	for _, text := range s.announced {
		s.messages.Say(text + s.untilWhen())
	}
	s.announced = nil
}

// untilWhen says what will end the run, behind words such as "Tracing writes".
func (s *session) untilWhen() string {
	switch {
	case s.leaving:
		return ""
	case s.Command != "" && s.Duration > 0:
		return fmt.Sprintf(" until the command ends, at most for %v", s.Duration)
	case s.Command != "":
		return " until the command ends"
	case s.Duration > 0:
		return fmt.Sprintf(" for %v", s.Duration)
	}
	return "; press ^C to finish"
}

func (r runtime) Now() int64 { return int64(stream.Now()) }

func (r runtime) EventTime() (int64, bool) {
	if !r.delivery.InHandler() {
		return 0, false
	}
	return r.delivery.Time(), true
}

// Wall is the time of day, which may be set while the run lasts.
func (r runtime) Wall(monotonic int64) time.Time { return r.clock.at(monotonic) }

func (r runtime) Show(v starlark.Value, o builtins.ShowOptions) error {
	t, err := r.results.Table(v)
	if err != nil {
		return err
	}
	if t != nil && !r.attaching() && !r.leaving {
		t.Time = r.Now()
	}
	if o.Screen {
		r.out.Clear()
	}
	if t == nil {
		if o.Sort != "" || o.Top != 0 || o.Percent {
			return fmt.Errorf("top, sort and percent are for what has rows, got %s", v.Type())
		}
		_, err := r.out.Lines().Write([]byte(value.Quoted(v) + "\n"))
		return err
	}
	return r.out.Table(t, render.Options{Top: o.Top, Sort: o.Sort, Percent: o.Percent, Room: o.Room})
}

func (r runtime) Columns(names, formats []string) (func([]format.Arg) error, error) {
	c, err := render.NewColumns(names, formats)
	if err != nil {
		return nil, err
	}
	return func(row []format.Arg) error {
		for i := range row {
			if v, ok := row[i].Value.(starlark.Value); ok {
				row[i].Value = results.Plain(v)
			}
		}
		return r.out.Row(c, row)
	}, nil
}
