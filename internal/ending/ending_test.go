package ending

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/until"
)

// quiet is a run in which nothing happens.
func quiet() Hooks {
	return Hooks{Cancel: func(string) {}, Naming: &until.Wait{}, Say: func(string) {}, Hurry: func(time.Duration) {},
		GiveUp: func(string) {}, Calling: func() (uint64, bool) { return 0, false },
		Held: func() time.Duration { return 0 }}
}

// does is the ending of a run that does something else at each look.
func does(run Hooks, look func() doing) *Ending {
	e := New(run)
	var now doing
	e.run.Calling = func() (uint64, bool) {
		now = look()
		return now.call, now.waits
	}
	e.cpu = func() time.Duration { return now.cpu }
	return e
}

// Functions that print results share the time of the end: the second one has what the first has left, and a turn in any
// case.
func TestShareOfTheEnd(t *testing.T) {
	e := New(quiet())
	e.Ask(true)
	e.Handled()
	for _, share := range []time.Duration{time.Hour, 2 * time.Hour} {
		e.begin(share, "every")
		e.Allow()
		until := e.until
		e.Allow()
		if until.IsZero() || e.until != until || time.Until(until) > share {
			t.Errorf("the end of a share of %v is in %v, then in %v", share, time.Until(until), time.Until(e.until))
		}
	}
	e.Over()
}

// Who waits for the end at a terminal hears which functions take the time: the last calls of timers, or those of
// at_exit.
func TestEndingIsSaid(t *testing.T) {
	said := make(chan string, 2)
	run := quiet()
	run.Say = func(text string) { said <- text }
	e := New(run)
	e.Ask(false)
	e.Handled()
	for _, of := range []string{"every", "at_exit"} {
		e.begin(time.Hour, of)
		e.Allow()
		if got, want := <-said, "Ending: a function of "+of+" runs; ^C ends it"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	e.Over()
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
		run := quiet()
		run.GiveUp = func(string) { gaveUp = true }
		e := does(run, func() doing {
			looked++
			return c.doing(looked)
		})
		e.Drain(time.Millisecond)
		e.Ask(true)
		time.AfterFunc(5*looks, func() { enough <- true })
		<-enough
		e.Handled()
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
		run := quiet()
		run.Cancel = func(string) { cut <- looked.Load() }
		ended := make(chan bool)
		e := does(run, func() doing {
			n := int(looked.Add(1))
			if c.ends > 0 && n >= c.ends {
				if n == c.ends {
					close(ended)
				}
				return doing{}
			}
			return doing{7, false, time.Duration(n) * c.perLook}
		})
		e.Drain(drain)
		e.Ask(true)
		select {
		case n := <-cut:
			if !c.want || c.perLook > 0 && c.perLook < least && n < 30 {
				t.Errorf("%s: ended at look %d", name, n)
			}
		case <-ended:
		}
		e.Handled()
	}
}

// What is compiled without end is given up, too: nothing is traced yet, so nothing is lost.
func TestPreparingIsGivenUp(t *testing.T) {
	gaveUp := make(chan string, 1)
	run := quiet()
	run.GiveUp = func(what string) { gaveUp <- what }
	e := New(run)
	e.Drain(time.Millisecond)
	err := e.Prepare(func() error {
		e.Ask(true)
		if what := <-gaveUp; what != "startrace: interrupted before all probes were attached" {
			t.Error(what)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A look that is not the last is followed by another one, after the same interval.
func TestLookOn(t *testing.T) {
	e := New(quiet())
	var waits []time.Duration
	var next func()
	in := func(d time.Duration, do func()) { waits, next = append(waits, d), do }
	left := 3
	e.lookOn(in, time.Minute, func(doing) (last bool) {
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
