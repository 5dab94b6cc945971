// Package ending bounds the end of a run: how long what was recorded is still handled, how long a callback may go on,
// and how long the functions that print results may take together.
//
// A run of `startrace --duration 1s slow.star` whose handler is slower than its events ends like this, with the drain
// of a second:
//
//	1.0 s  Ask(true): the end is wanted, from outside
//	1.8 s  Spent is true: no more events are handled
//	2.0 s  the handler that still runs is cancelled, if it has had the CPU
//	2.0 s  Handled: what was left is counted; the functions of every() run once more, Allow before each
//	2.1 s  those of at_exit run, in five seconds together
//	2.1 s  Over: results are printed
package ending

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/until"
)

// How long the end of a run may take (--drain, `defaultDrain`), after what a callback is ended, and the messages of
// that.

// defaultDrain is how long the end of a run may take, if --drain says nothing else.
const defaultDrain = time.Second

// Hooks are what is asked of the run that ends. Its functions may be called from any goroutine.
type Hooks struct {
	// Cancel ends the callback that runs, and what it waits for.
	Cancel func(reason string)
	// Naming is how long results wait for the names of addresses.
	Naming *until.Wait
	// Say tells something to who waits at a terminal.
	Say func(text string)
	// Hurry bounds how long a result waits for who reads it.
	Hurry func(time.Duration)
	// GiveUp ends the process, because what runs cannot be ended. It says what that is.
	GiveUp func(what string)
	// Calling tells which call of a function of the script runs now, 0 for none, and whether it waits for a command.
	Calling func() (call uint64, waits bool)
	// Held tells how long the run has waited for who reads its output so far.
	Held func() time.Duration
}

// An Ending bounds the end of a run: from when somebody has asked for the end, what was recorded is handled for a
// while, and a callback that does not end is ended. Then results are printed, which may take longer. It is there for
// the whole run.
type Ending struct {
	// run is the run that ends.
	run Hooks
	// cpu tells what the process has taken of all CPUs up to now.
	cpu func() time.Duration
	// drain is how long the handling of events may take at the end (--drain). It does not change once the script's
	// settings are known.
	drain time.Duration

	// spent is set once the time for events is over, until Handled.
	spent atomic.Bool
	// preparing is set while the probes of a script that has run are compiled and attached.
	preparing atomic.Bool

	// mu guards what follows, also while a clock does its work.
	mu sync.Mutex
	// asked is set once the end is wanted.
	asked bool
	// forced is set once it is wanted from outside, by a signal or the clock. What the script does is then no reason to
	// go on.
	forced bool
	// results is set once no more events are handled. From then on functions run that print results.
	results bool
	// cut is set once the callback that runs was told to end. Allow resets it for the next one.
	cut bool
	// share is the time that the functions which run now have together.
	share time.Duration
	// of says which these are: "every" for the last calls of timers, or "at_exit".
	of string
	// until is when share is used up. It is zero as long as none of these functions has been bounded (boundResults).
	until time.Time
	// clocks are the timers of what is still to be done. stopClocks empties them.
	clocks []*time.Timer
}

// New gives the ending of a run, in which nobody has asked for the end.
func New(run Hooks) *Ending { return &Ending{run: run, cpu: cpuTime, drain: defaultDrain} }

// Drain sets how long the handling of events may take at the end. It is called before anybody asks for the end.
func (e *Ending) Drain(d time.Duration) { e.drain = d }

// Spent reports whether the time for events is over, until Handled. Any goroutine may call it.
func (e *Ending) Spent() bool { return e.spent.Load() }

// Prepare calls f, which compiles and attaches probes. Where the end is wanted meanwhile, and f does not hear of it,
// the run is given up.
func (e *Ending) Prepare(f func() error) error {
	e.preparing.Store(true)
	defer e.preparing.Store(false)
	return f()
}

// resultsFor is how many times longer the functions that print results may take, together: what cuts them off costs the
// results. turn is what each of them has, whatever those before it took.
const (
	resultsFor = 5
	turn       = 100 * time.Millisecond
)

// waits are how long something takes before it is told why.
const (
	eventsWait  = 300 * time.Millisecond
	resultsWait = 2 * time.Second
)

// After asks for the end after a time, if it is not over by then.
func (e *Ending) After(d time.Duration) { time.AfterFunc(d, func() { e.Ask(true) }) }

// Ask says that the end is wanted, and by forced that it is from outside: by a signal
// or by the clock. Any goroutine may call it.
func (e *Ending) Ask(forced bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked && (e.forced || !forced) {
		return
	}
	e.asked, e.forced = true, e.forced || forced
	if forced {
		e.run.Hurry(e.drain)
	}
	if e.results {
		e.boundResults()
	} else {
		e.boundEvents()
	}
}

// boundEvents leaves a fifth of the time to the callback that runs then, so that one
// that is merely slow comes to its end. Where nobody waits for the end, as for that of
// the command, it has the time of those that print results.
func (e *Ending) boundEvents() {
	e.in(eventsWait, func() {
		e.run.Say(fmt.Sprintf("Ending: what was recorded is still handled, for up to %v (--drain); ^C leaves it",
			e.drain))
	})
	e.inOwnTime(e.drain-e.drain/callbackPart, func() { e.spent.Store(true) })
	e.bound(e.drain)
}

// bound ends the callback that runs after a time.
func (e *Ending) bound(after time.Duration) {
	if !e.forced {
		after = resultsFor * e.drain
	}
	e.endIn(after, after)
}

// endIn ends the callback that runs after a time, as one that took too long of what it was given. One that goes on all
// the same is in a builtin function that nothing ends. A callback that waits for the names of addresses waits for half
// of the time: it shows the addresses in the other half.
func (e *Ending) endIn(after, given time.Duration) {
	e.inOwnTime(after/2, e.run.Naming.End)
	watched := min(after, max(given/callbackPart, turn))
	e.inOwnTime(after-watched, func() { e.cutBusy(watched, given) })
}

// lookOn looks at what the process does after each interval, which in measures (e.in, e.inOwnTime), up to the look that
// says that it was the last.
func (e *Ending) lookOn(in func(time.Duration, func()), every time.Duration, look func(now doing) (last bool)) {
	in(every, func() {
		if !look(e.doing()) {
			e.lookOn(in, every, look)
		}
	})
}

// cutBusy ends the callback that runs when a time from now is over, once it has had the CPU for most of that time since
// it was seen: one that has just begun, or that other processes keep from running, is no longer than others. After so
// many more looks it is ended in any case.
func (e *Ending) cutBusy(after, given time.Duration) {
	every := max(min(after/looksBefore, longestLook), shortestLook)
	seen, left := e.doing(), int(after/every)
	e.lookOn(e.inOwnTime, every, func(now doing) (last bool) {
		left--
		busy := now.waits || now.cpu-seen.cpu >= after/4*3 || left <= -looksBehind
		if left <= 0 && (e.preparing.Load() || now.call != 0 && now.call == seen.call && busy) {
			e.cutNow(given)
			return true
		}
		if now.call != seen.call {
			seen = now
		}
		return false
	})
}

const (
	// callbackPart is which part of the time is for the callback that runs at its end.
	callbackPart = 5
	// looksBefore are as many looks, at the least, before a callback may be ended, and looksBehind are those that one
	// has that gets no CPU.
	looksBefore, looksBehind = 4, 100
	// longestLook and shortestLook bound how long it is from one look to the next.
	longestLook, shortestLook = 50 * time.Millisecond, time.Millisecond
)

func (e *Ending) cutNow(given time.Duration) {
	e.cut = true
	e.run.Cancel(fmt.Sprintf("it did not end by itself within %v, at the end of the run (--drain)", given))
	if e.forced {
		e.giveUpLater()
	}
}

// doing is what the process does at a moment.
type doing struct {
	call  uint64        // which call of a function of the script, 0: none
	waits bool          // the call waits for a command
	cpu   time.Duration // that the process has taken up to then
}

// doing looks at what the process does now.
func (e *Ending) doing() doing {
	call, waits := e.run.Calling()
	return doing{call, waits, e.cpu()}
}

// unheard is how long something may go on after it was told to end, in time of the CPU where it is a call: a process
// that other ones keep from running has got nothing done. It is looked at so often.
const (
	unheard = time.Second
	looks   = unheard / 8
)

// giveUpLater gives up where one call of the script goes on and on after it was told to end, which is now: it is in a
// builtin function. Any other call hears of the end at its next step.
func (e *Ending) giveUpLater() {
	cut, since := e.doing(), time.Now()
	e.lookOn(e.in, looks, func(now doing) (last bool) {
		switch {
		case e.preparing.Load():
			if last = time.Since(since) >= unheard; last {
				e.run.GiveUp("startrace: interrupted before all probes were attached")
			}
		case now.call == 0 || now.call != cut.call:
			return true
		case now.cpu-cut.cpu >= max(e.drain, unheard):
			e.run.GiveUp("startrace: a function of the script is in a builtin that cannot be ended: the run ends " +
				"without its results")
			return true
		}
		return last
	})
}

func (e *Ending) boundResults() {
	of := e.of
	e.in(resultsWait, func() { e.run.Say("Ending: a function of " + of + " runs; ^C ends it") })
	if !e.forced {
		return
	}
	if e.until.IsZero() {
		e.until = time.Now().Add(e.share)
	}
	e.endIn(max(time.Until(e.until), turn), e.share)
}

// BeginTimers begins the time that the last calls of timers have together: a drain.
func (e *Ending) BeginTimers() { e.begin(e.drain, "every") }

// BeginExits begins the time that the functions of at_exit have together.
func (e *Ending) BeginExits() { e.begin(resultsFor*e.drain, "at_exit") }

// begin begins the time of functions that share it, and says which these are.
func (e *Ending) begin(share time.Duration, of string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.share, e.of, e.until = share, of, time.Time{}
}

// in does something after a time, unless the clocks are stopped before.
func (e *Ending) in(d time.Duration, do func()) {
	var clock *time.Timer
	clock = time.AfterFunc(d, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, c := range e.clocks {
			if c == clock {
				do()
			}
		}
	})
	e.clocks = append(e.clocks, clock)
}

// inOwnTime is in, but while nobody waits for the end the time is not counted in which who reads the output does not
// take it: a pager shows a page, and wants the next one later.
func (e *Ending) inOwnTime(d time.Duration, do func()) {
	since := e.run.Held()
	e.in(d, func() {
		if held := e.run.Held() - since; !e.forced && held >= time.Millisecond {
			e.inOwnTime(held, do)
			return
		}
		do()
	})
}

func (e *Ending) stopClocks() {
	for _, c := range e.clocks {
		c.Stop()
	}
	e.clocks = nil
}

// Handled says that no more events are handled, and reports whether their time was
// over.
func (e *Ending) Handled() (spent bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopClocks()
	e.asked, e.results, e.share, e.of = true, true, resultsFor*e.drain, "every"
	return e.spent.Swap(false)
}

// Allow begins the time of one of the functions that print results, and gives whether
// the one before was told to end.
func (e *Ending) Allow() (cut bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopClocks()
	e.run.Naming.Renew()
	e.boundResults()
	cut, e.cut = e.cut, false
	return cut
}

// IsCut reports whether the callback that ran was told to end.
func (e *Ending) IsCut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cut
}

// Over ends the last of these times. What is printed then waits for names, but not for long.
func (e *Ending) Over() (cut bool) {
	cut = e.Allow()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopClocks()
	if e.forced {
		e.in(e.drain, e.run.Naming.End)
	}
	return cut
}

// Heard waits until something that was told to end has ended. It gives false where it has not after it had the CPU for
// a second: it is in a builtin function that nothing ends.
func Heard(ended <-chan struct{}) bool {
	for since := cpuTime(); cpuTime()-since < unheard; {
		select {
		case <-ended:
			return true
		case <-time.After(looks):
		}
	}
	return false
}

// cpuTime is what the process has taken of all CPUs.
func cpuTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0 // it cannot fail for the process itself
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
