package session

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/test/tried"
)

// What there is no time for at the end is counted: each record is handled, or left, and none is both.
func TestLeftIsCounted(t *testing.T) {
	r := newFakeRun(func(r *fakeRun) error {
		if len(r.log) == 2 {
			r.ending.Drain(time.Millisecond)
			r.ending.Ask(true)
			for !r.ending.Spent() {
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	})
	for i := range uint64(5) {
		r.send(i+1, i)
	}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	r.want(t, "e0@1 e1@2")
	if n := r.delivery.Left(0); n != 3 || !r.cutShort {
		t.Errorf("%d left, cut short %v", n, r.cutShort)
	}
}

// After exit() nothing is handled, which is no loss.
func TestNothingIsLeftByExit(t *testing.T) {
	r := newFakeRun(func(r *fakeRun) error { runtime{r.session}.Exit(0); return nil })
	r.send(1, 1)
	r.send(2, 2)
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	r.want(t, "e1@1")
	if r.cutShort {
		t.Error("exit() cut the run short")
	}
}

const forever = "at_exit(lambda: [None for i in range(1 << 60) if i < 0])"

// A callback that does not end is ended by whatever asks for the end, and what comes after it is done.
func TestEndlessCallbackIsEnded(t *testing.T) {
	causes := map[string]func(s *session, signals chan os.Signal){
		"SIGTERM":    func(_ *session, signals chan os.Signal) { signals <- unix.SIGTERM },
		"^C":         func(_ *session, signals chan os.Signal) { signals <- unix.SIGINT },
		"--duration": func(s *session, _ chan os.Signal) { s.ending.After(time.Nanosecond) },
		"command":    func(s *session, _ chan os.Signal) { s.target.Ended() },
	}
	for cause, ask := range causes {
		var out, messages bytes.Buffer
		o := Options{Stdout: &out, Stderr: &messages}
		o.Code = []string{forever, "at_exit(lambda: print('counted'))"}
		signals := make(chan os.Signal)
		o.Signals, o.Drain = signals, time.Millisecond
		s := declared(t, o)
		endless := s.calls.AtExit[0]
		s.calls.AtExit = s.calls.AtExit[1:]
		s.timers.Add(&timers.Timer{Call: func(uint64) {
			ask(s, signals)
			s.calls.Call(endless, s.calls.OfTimers)
			s.timeUp = true
		}})
		exit, err := s.finish(s.trace(s.whole()))
		if exit != Failed || err != nil || out.String() != "counted\n" {
			t.Errorf("%s: exit %d, %v, output %q", cause, exit, err, &out)
		}
		if !strings.Contains(messages.String(), ": it did not end by itself within ") {
			t.Errorf("%s: messages %q", cause, &messages)
		}
	}
	tried.Many(t, "%d callbacks", len(causes))
}

// So is a function of at_exit, where the end was asked for from outside: those behind it run.
func TestEndlessAtExitIsEnded(t *testing.T) {
	var out, messages bytes.Buffer
	o := Options{Stdout: &out, Stderr: &messages}
	o.Code = []string{forever, "at_exit(lambda: print('counted'))", forever}
	o.Drain, o.Duration = 200*time.Millisecond, time.Nanosecond
	s := declared(t, o)
	exit, err := s.finish(s.trace(s.whole()))
	if exit != Failed || err != nil || out.String() != "counted\n" ||
		strings.Count(messages.String(), "at_exit: -e:") != 2 {
		t.Errorf("exit %d, %v, output %q, messages %q", exit, err, &out, &messages)
	}
}

// What every() calls is called once more at the end of a run, but not if it had to be ended: a function that does not
// end would take the time of the results, too.
func TestEndlessTimerIsNotCalledAgain(t *testing.T) {
	var out, messages bytes.Buffer
	o := Options{Stdout: &out, Stderr: &messages}
	o.Code = []string{"every('1ms', lambda: [None for i in range(1 << 60) if i < 0])",
		"every('1h', lambda: print('last'))", "at_exit(lambda: print('counted'))"}
	o.Drain, o.Duration = time.Millisecond, 10*time.Millisecond
	s := declared(t, o)
	exit, err := s.finish(s.trace(s.whole()))
	if exit != Failed || err != nil || out.String() != "last\ncounted\n" ||
		strings.Count(messages.String(), "timer") != 1 {
		t.Errorf("exit %d, %v, output %q, messages %q", exit, err, &out, &messages)
	}
}

// declared makes a session whose script has run.
func declared(t *testing.T, o Options) *session {
	t.Helper()
	s := newSession(o)
	t.Cleanup(s.close)
	s.watch(o.Signals, func() { s.cancel("interrupted") })
	args, err := s.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.runScript(args); err != nil {
		t.Fatal(err)
	}
	close(s.declared)
	return s
}

// Timers do not wait for handlers that are slower than their events: those here go on until the timer was called.
func TestTimersBetweenEvents(t *testing.T) {
	fired := false
	r := newFakeRun(func(*fakeRun) error {
		if !fired {
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	const events = 1 << 17
	now := stream.Now()
	r.timers.Begin(now)
	r.timers.Add(&timers.Timer{Deadline: now + 1, Call: func(uint64) { fired, r.exited = true, true }})
	for i := range uint64(events) {
		r.send(0, i) // recorded before the deadline
	}
	r.delivery.Flush(now)
	if handled := r.delivery.Sent(0); !fired || handled == events {
		t.Errorf("the timer was called: %v, after %d of %d events", fired, handled, events)
	}
	tried.Many(t, "%d timer", 1)
}

// What every() calls gets the time that has passed, from the beginning of the tracing on.
//
// > If fn has a parameter without a default, it gets the time in ns that has passed since the call before, which is
// > longer than the interval if calls were missed.
func TestPassed(t *testing.T) {
	var out, messages bytes.Buffer
	o := Options{Stdout: &out, Stderr: &messages}
	o.Code = []string{"whole = cell(0)", "every('1ms', lambda passed: whole.set(whole.get() + passed))",
		"other = []", "every('1ms', lambda x = -1: other.append(x))",
		"after('30ms', lambda: exit())", "begin = now()",
		"at_exit(lambda: print(25 * MSEC < whole.get() and whole.get() < now() - begin and max(other) == -1))"}
	s := declared(t, o)
	if exit, err := s.finish(s.trace(s.whole())); exit != Done || err != nil || out.String() != "True\n" {
		t.Errorf("exit %d, %v, output %q, messages %q", exit, err, &out, &messages)
	}
}

// How often a timer was not called is said, with its place.
func TestMissedCallsAreSaid(t *testing.T) {
	var out, messages bytes.Buffer
	o := Options{Stdout: &out, Stderr: &messages}
	o.Code = []string{"every('100ms', lambda: None)"}
	s := declared(t, o)
	timer := s.timers.All()[0]
	timer.Called, timer.Missed = 22, 38
	s.reportLosses()
	if want := `every("100ms") (-e:1:16) missed 38 of 60 calls: `; !strings.Contains(messages.String(), want) {
		t.Errorf("got %q, want %q", &messages, want)
	}
}
