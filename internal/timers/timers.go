// Package timers has what is to be called at times of the monotonic clock.
package timers

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"go.starlark.net/starlark"
)

// Patience is how long a timer waits for events that were recorded before its
// deadline. They are there in half of that, the interval in which rings are drained,
// unless the functions of the script are slower than the events.
const Patience = 10 * time.Millisecond

// fineGrained is the interval below which a timer is not expected to be called each
// time: the run wakes up no oftener than it drains its rings.
const fineGrained = 2 * Patience

// A Timer calls a function of the script at a time of the monotonic clock.
type Timer struct {
	Deadline uint64 // ns; until Begin from the beginning of the run
	Period   uint64 // ns; 0 for after()
	// Call is what is done at the deadline.
	Call func()
	Func starlark.Callable // what Call calls; nil for --duration

	// Cut: the call before was told to end, so that there is no use in one more at the end of the run.
	Cut bool

	Called uint64 // how often so far
	Missed uint64 // how often it was not, because others took too long or the run got no CPU
}

// A List holds what every() and after() asked for, the earliest first. There
// are a handful, so a sorted slice serves.
type List struct {
	list []*Timer

	// began is the moment of Begin and at the time then; from there on deadlines are
	// those of the clock.
	began   time.Time
	at      uint64
	overdue atomic.Bool
	alarm   *time.Timer // sets overdue, on a goroutine of its own; nil before Begin
	alarmed uint64      // the deadline for which the alarm is set
}

// All are the timers, the earliest first.
func (t *List) All() []*Timer { return t.list }

// Clear forgets all timers.
func (t *List) Clear() { t.list = nil }

// Begin makes the deadlines, which counted from the beginning of the run, those
// of the clock.
func (t *List) Begin(now uint64) {
	for _, x := range t.list {
		x.Deadline += now
	}
	t.began, t.at = time.Now(), now
	t.setAlarm()
}

// now is the time, of the clock of Begin: what time.Since measures by is it, too.
func (t *List) now() uint64 { return t.at + uint64(time.Since(t.began)) }

// Add adds a timer, behind those of the same deadline.
func (t *List) Add(x *Timer) {
	i, _ := slices.BinarySearchFunc(t.list, x, func(a, b *Timer) int {
		if a.Deadline == b.Deadline {
			return -1 // behind those of the same time
		}
		return cmp.Compare(a.Deadline, b.Deadline)
	})
	t.list = slices.Insert(t.list, i, x)
	t.setAlarm()
}

// Next is the earliest deadline, MaxUint64 if there is none.
func (t *List) Next() uint64 {
	if len(t.list) == 0 {
		return math.MaxUint64
	}
	return t.list[0].Deadline
}

// FireOverdue calls the timers that have waited for Patience. It costs a load while
// there is none, so that it can be called between two events.
func (t *List) FireOverdue(stop func() bool) {
	if !t.overdue.Load() {
		return
	}
	t.overdue.Store(false)
	now := t.now()
	t.Fire(now-uint64(Patience), now, stop)
}

// FireBefore calls the timers that were due before an event of a time. One that is behind by intervals is called once,
// at the last of its deadlines: events that were recorded before that come first, as the time that has passed for its
// function has them. So it is where the run got no CPU for a while.
func (t *List) FireBefore(at uint64, stop func() bool) {
	if t.Next() > at {
		return
	}
	t.catchUp(t.now())
	t.Fire(at, at, stop)
}

// catchUp leaves out the deadlines behind which there is another one that has come, too.
func (t *List) catchUp(now uint64) {
	for _, x := range slices.Clone(t.list) {
		if x.Period == 0 || now < x.Deadline+x.Period {
			continue
		}
		t.list = slices.Delete(t.list, slices.Index(t.list, x), slices.Index(t.list, x)+1)
		x.leaveOut((now - x.Deadline) / x.Period)
		t.Add(x)
	}
}

// setAlarm sees to it that the earliest timer is overdue in time.
func (t *List) setAlarm() {
	next := t.Next()
	if t.began.IsZero() || next == t.alarmed {
		return
	}
	if t.alarm != nil {
		t.alarm.Stop()
	}
	t.overdue.Store(false)
	if t.alarmed = next; next == math.MaxUint64 {
		return
	}
	now := t.now()
	due := max(next, now) + uint64(Patience)
	t.alarm = time.AfterFunc(time.Duration(due-now), func() {
		if t.now() > due+uint64(Patience) { // the run got no CPU, and what was recorded meanwhile is not read yet
			time.Sleep(Patience)
		}
		t.overdue.Store(true)
	})
}

// Fire calls all timers whose deadline is at most until, in their order. A
// timer that missed several periods, because a callback took long, is called
// once. stop says after each call whether the run is over.
func (t *List) Fire(until, now uint64, stop func() bool) {
	for t.Next() <= until && !stop() {
		x := t.list[0]
		t.list = t.list[1:]
		if x.Period > 0 {
			x.next(now)
			t.Add(x)
		}
		x.Called++
		x.Call()
	}
	t.setAlarm()
}

// next sets the deadline behind the one that has come.
func (x *Timer) next(now uint64) {
	if x.Deadline += x.Period; x.Deadline >= now {
		return
	}
	x.leaveOut((now-x.Deadline)/x.Period + 1)
}

// leaveOut goes on to a later deadline.
func (x *Timer) leaveOut(missed uint64) {
	x.Deadline += missed * x.Period
	if x.Period >= uint64(fineGrained) {
		x.Missed += missed
	}
}

// Last calls the periodic timers once more, for the part of the interval that
// has passed at the end of a run, but for those that did not end by themselves; before
// is called before each.
func (t *List) Last(before func()) {
	for _, x := range slices.Clone(t.list) {
		if x.Period > 0 && !x.Cut {
			before()
			x.Call()
		}
	}
}
