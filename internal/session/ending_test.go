package session

import (
	"bytes"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/internal/until"
	"github.com/startrace/startrace/test/tried"
)

// What there is no time for at the end is counted: each record is handled, or left, and none is both.
func TestLeftIsCounted(t *testing.T) {
	r := newFakeRun(func(r *fakeRun) error {
		if len(r.log) == 2 {
			r.ending.spent.Store(true)
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
	if n := r.delivery.left(0); n != 3 || !r.cutShort {
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
		"--duration": func(s *session, _ chan os.Signal) { s.ending.after(time.Nanosecond) },
		"command":    func(s *session, _ chan os.Signal) { s.target.Ended() },
	}
	for cause, ask := range causes {
		var out, messages bytes.Buffer
		o := Options{Stdout: &out, Stderr: &messages}
		o.Code = []string{forever, "at_exit(lambda: print('counted'))"}
		signals := make(chan os.Signal)
		o.Signals, o.Drain = signals, time.Millisecond
		s := declared(t, o)
		endless := s.calls.atExit[0]
		s.calls.atExit = s.calls.atExit[1:]
		s.timers.Add(&timers.Timer{Call: func() {
			ask(s, signals)
			s.calls.call(endless, s.calls.ofTimers)
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
	o.Drain, o.Duration = time.Millisecond, time.Nanosecond
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
	s.watch(o.Signals, func() { s.ending.cancel("interrupted") })
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
	r.timers.Add(&timers.Timer{Deadline: now + 1, Call: func() { fired = true }})
	for i := range uint64(events) {
		r.send(0, i) // recorded before the deadline
	}
	handled := 0
	r.delivery.merger.Flush(now, func(rec []byte) bool {
		handled++
		return r.delivery.deliver(rec) && !fired
	})
	if !fired || handled == events {
		t.Errorf("the timer was called: %v, after %d of %d events", fired, handled, events)
	}
	tried.Many(t, "%d timer", 1)
}

// What every() calls gets the time that has passed, from the beginning of the tracing on.
//
// > If fn has a parameter, it gets the time in ns that has passed since the call before, which is longer than the
// > interval if calls were missed.
func TestPassed(t *testing.T) {
	var out, messages bytes.Buffer
	o := Options{Stdout: &out, Stderr: &messages}
	o.Code = []string{"whole = cell(0)", "every('1ms', lambda passed: whole.set(whole.get() + passed))",
		"after('30ms', lambda: exit())", "begin = now()",
		"at_exit(lambda: print(25 * MSEC < whole.get() and whole.get() < now() - begin))"}
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

// Functions that print results share the time of the end: the second one has what the first has left, and a turn in any
// case.
func TestShareOfTheEnd(t *testing.T) {
	r := newFakeRun(nil)
	e := r.ending
	e.ask(true)
	e.handled()
	for _, share := range []time.Duration{time.Hour, 2 * time.Hour} {
		e.begin(share, "every")
		e.allow()
		until := e.until
		e.allow()
		if until.IsZero() || e.until != until || time.Until(until) > share {
			t.Errorf("the end of a share of %v is in %v, then in %v", share, time.Until(until), time.Until(e.until))
		}
	}
	e.over()
}

// Who waits for the end at a terminal hears which functions take the time: the last calls of timers, or those of
// at_exit.
func TestEndingIsSaid(t *testing.T) {
	said := make(chan string, 2)
	r := newFakeRun(nil)
	r.ending.say = func(text string) { said <- text }
	r.ending.ask(false)
	r.ending.handled()
	for _, of := range []string{"every", "at_exit"} {
		r.ending.begin(time.Hour, of)
		r.ending.allow()
		if got, want := <-said, "Ending: a function of "+of+" runs; ^C ends it"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	r.ending.over()
}

// What goes on after it was told to end is given up only where it is one call of the script that takes the CPU all the
// time: a process that other ones keep from running ends late, with its results.
func TestGivenUp(t *testing.T) {
	busy := func(look int) time.Duration { return time.Duration(look) * unheard }
	for name, c := range map[string]struct {
		doing func(look int) doing
		want  bool
	}{
		"a builtin that does not end":      {func(n int) doing { return doing{7, false, busy(n)} }, true},
		"no CPU was to be had":             {func(int) doing { return doing{7, false, time.Minute} }, false},
		"one call after another":           {func(n int) doing { return doing{uint64(n), false, busy(n)} }, false},
		"no call, but an end that is long": {func(n int) doing { return doing{0, false, busy(n)} }, false},
	} {
		var looked int
		var gaveUp bool
		enough := make(chan bool)
		e := &ending{drain: time.Millisecond, cancel: func(string) {}, hurry: func(time.Duration) {},
			held: func() time.Duration { return 0 },
			say:  func(string) {}, giveUp: func(string) { gaveUp = true }}
		e.doing = func() doing {
			looked++
			return c.doing(looked)
		}
		e.ask(true)
		time.AfterFunc(5*looks, func() { enough <- true })
		<-enough
		e.handled()
		if gaveUp != c.want {
			t.Errorf("%s: given up %v after %d looks", name, gaveUp, looked)
		}
	}
}

// A callback that other processes keep from running is not taken for one that does not end: it is ended once it has had
// the CPU for most of its time, or when nothing comes of it for very long.
func TestSlowIsNotEndless(t *testing.T) {
	const drain, least = 12 * time.Millisecond, 9 * time.Millisecond
	for name, c := range map[string]struct {
		perLook time.Duration // of the CPU
		ends    int           // at which look; 0: never
		want    bool
	}{
		"it has the CPU":         {least, 0, true},
		"it has a part of it":    {least / 40, 30, false},
		"it has a part, endless": {least / 40, 0, true},
		"it has none":            {0, 0, true},
	} {
		var looked atomic.Int64
		cut := make(chan int64, 1)
		e := &ending{drain: drain, hurry: func(time.Duration) {}, say: func(string) {}, giveUp: func(string) {},
			naming: &until.Wait{}, held: func() time.Duration { return 0 },
			cancel: func(string) { cut <- looked.Load() }}
		ended := make(chan bool)
		e.doing = func() doing {
			n := int(looked.Add(1))
			if c.ends > 0 && n >= c.ends {
				if n == c.ends {
					close(ended)
				}
				return doing{}
			}
			return doing{7, false, time.Duration(n) * c.perLook}
		}
		e.ask(true)
		select {
		case n := <-cut:
			if !c.want || c.perLook > 0 && c.perLook < least && n < 30 {
				t.Errorf("%s: ended at look %d", name, n)
			}
		case <-ended:
		}
		e.handled()
	}
}

// What is compiled without end is given up, too: nothing is traced yet, so nothing is lost.
func TestPreparingIsGivenUp(t *testing.T) {
	gaveUp := make(chan string, 1)
	e := &ending{drain: time.Millisecond, cancel: func(string) {}, hurry: func(time.Duration) {}, say: func(string) {},
		held: func() time.Duration { return 0 }, doing: func() doing { return doing{} },
		giveUp: func(what string) { gaveUp <- what }}
	e.preparing.Store(true)
	e.ask(true)
	if what := <-gaveUp; what != "startrace: interrupted before all probes were attached" {
		t.Error(what)
	}
}

// A look that is not the last is followed by another one, after the same interval.
func TestLookOn(t *testing.T) {
	r := newFakeRun(nil)
	var waits []time.Duration
	var next func()
	in := func(d time.Duration, do func()) { waits, next = append(waits, d), do }
	left := 3
	r.ending.lookOn(in, time.Minute, func(doing) (last bool) {
		left--
		return left == 0
	})
	for next != nil {
		look := next
		next = nil
		look()
	}
	if left != 0 || len(waits) != 3 || waits[0] != time.Minute || waits[2] != time.Minute {
		t.Errorf("%d looks are left, waited %v", left, waits)
	}
}
