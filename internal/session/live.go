package session

import (
	"os"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/loading"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/starlark/script"
)

// Live, the run whose script is being written, as at the prompt.

// A Live session is one whose script is written while it runs, as at the
// prompt: it starts without probes, and gets and loses some between two turns
// of its loop. Its methods are for one goroutine, but for those that say
// otherwise.
type Live struct {
	// s is the run.
	s *session
	// common is what the parts of all chunks share.
	common loading.Common
	// target is the processes that count for all units. It is set by Begin.
	target plan.Target
	// gone are the probes that were replaced or taken away so far, by number.
	gone map[int]bool
	// failed is set once an error has been reported.
	failed bool
	// change is the replacement of probes that goes on. It is nil while none does.
	change *change
}

// NewLive makes a session. Its output is opened by Open. stopsLoading reports
// whether somebody wants no more of what is being loaded.
func NewLive(o Options, stopsLoading func() bool) *Live {
	l := &Live{s: newSession(o), gone: map[int]bool{}, common: sharing()}
	l.common.Types.Now = true
	l.s.dialogue = &dialogue{stopsLoading: stopsLoading}
	l.s.loader.Common = l.common
	l.s.loader.Ready = func(p *parts.Part) error { return l.change.replace(p) }
	l.s.loaded.controls.counted = true
	return l
}

// Open checks the settings and opens the output.
func (l *Live) Open() error { return l.s.apply() }

// Begin starts the clock. The command of -c waits by then.
func (l *Live) Begin() (err error) {
	if l.target, err = l.s.target.OfPlan(); err != nil {
		return err
	}
	l.s.mayGrow(l.common, l.gone)
	l.s.begin()
	close(l.s.declared)
	return nil
}

// Finish ends the session with what went wrong in its loop. Where strict is
// set, an error that was reported makes the exit code that of a failure.
func (l *Live) Finish(err error, strict bool) (exit int, ended error) {
	if l.failed && strict {
		l.s.code = max(l.s.code, Failed)
	}
	return l.s.finish(err)
}

// Close gives back what the session holds.
func (l *Live) Close() { l.s.close() }

// Host runs the script.
func (l *Live) Host() *script.Host { return l.s.host }

// Guarded calls f. A panic in it is an error, which ends nothing.
func (l *Live) Guarded(f func() error) (err error) {
	var exit int // the session goes on
	l.s.dialogue.taking = true
	defer func() {
		l.s.delivery.LeaveHandler()
		l.s.dialogue.taking, l.s.announced = false, nil
	}()
	defer Guard(&l.s.Options, &exit, &err)
	return f()
}

// Turn delivers what has been recorded, and calls timers.
func (l *Live) Turn() error {
	if err := l.s.turn(stream.Now()); err != nil {
		return err
	}
	l.s.out.Flush()
	return nil
}

// Settled reports whether all that was recorded until the last turn has been delivered.
func (l *Live) Settled() bool { return l.s.delivery.Settled() }

// Wait sleeps until something is to be done: by the time, or by Wake.
func (l *Live) Wait() error { return l.s.bell.Wait(l.s.untilTimer()) }

// Wake ends a Wait; any goroutine may call it.
func (l *Live) Wake() { l.s.bell.Ring() }

// WakeIn ends a Wait after a time, and gives the moment by stream.Now.
func (l *Live) WakeIn(d time.Duration) (moment uint64) {
	moment = stream.Now() + uint64(d)
	l.s.timers.Add(&timers.Timer{Deadline: moment, Call: func(uint64) {}})
	return moment
}

// Over reports whether the session is to end.
func (l *Live) Over() bool { return l.s.halted() || l.s.timeUp || l.s.interrupted.Load() }

// End asks for the end in order, and reports whether that was asked for
// before; any goroutine may call it.
func (l *Live) End() (again bool) {
	again = l.s.interrupted.Swap(true)
	l.s.cancel("interrupted")
	l.s.bell.Ring()
	return again
}

// Abort ends the process at once; any goroutine may call it.
func (l *Live) Abort() { l.s.abort() }

// Signals are those that were sent to the process.
func (l *Live) Signals() <-chan os.Signal { return l.s.Signals }

// InCallback reports whether a function of the script is being called by an
// event.
func (l *Live) InCallback() bool { return l.s.delivery.Busy() }

// AsScript says that nothing more will be written: what was not looked at is
// printed in the end, as for a script.
func (l *Live) AsScript() { l.s.dialogue.asScript = true }

// Messagef tells the user something that is not a result.
func (l *Live) Messagef(msg string, args ...any) { l.s.messages.Sayf(msg, args...) }

// Report prints an error.
func (l *Live) Report(err error) {
	l.failed = true
	l.s.out.Flush()
	text := mistake.Shorten(strings.TrimRight(mistake.Tidy(err).Error(), "\n"))
	_, _ = l.s.messages.W.Write(escape.Append(nil, text+"\n", escape.Screen)) // nobody hears that it cannot be told
}

// Print prints a text as it is.
func (l *Live) Print(text string) {
	_, _ = l.s.out.Write([]byte(text)) // which only collects
}

// Show prints a value as show() does, with no empty line before it.
func (l *Live) Show(v starlark.Value) error {
	l.s.out.Apart()
	return runtime{l.s}.Show(v, builtins.ShowOptions{})
}

// Flush writes what has been printed. While eager is set all is written at
// once.
func (l *Live) Flush(eager bool) {
	l.s.out.Eager(eager)
	l.s.out.Flush()
}

// List prints what a pattern of points finds.
func (l *Live) List(pattern string) error {
	_, err := l.s.machine.List(l.s.out, pattern, pattern != "", l.s.messages)
	return err
}

// PointWords are the points that could follow what is typed of one; shown are
// what a pattern matches.
func (l *Live) PointWords(typed string) (words, shown []string) {
	return l.s.machine.PointWords(typed)
}

// FieldWords are the fields of an event of one of the points, or of the part
// of it that a path leads to.
func (l *Live) FieldWords(points, path []string) []string {
	return l.s.machine.FieldWords(points, path)
}
