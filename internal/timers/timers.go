// Package timers has what is to be called at times of the monotonic clock.
package timers

import (
	"cmp"
	"math"
	"slices"
	"time"

	"go.starlark.net/starlark"
)

// Timers of every() and after(): when each is due, intervals that were left out.

// fineGrained is the interval below which a timer is not expected to be called each
// time: the run wakes up no oftener than it drains its rings.
const fineGrained = 2 * Patience

// A Timer calls a function of the script at a time of the monotonic clock.
type Timer struct {
	Deadline uint64 // ns; until Begin from the beginning of the run
	Period   uint64 // ns; 0 for after()
	// Call is what is done at the deadline. It is given the time by which it was decided that it is done now.
	Call func(now uint64)
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
	began time.Time
	at    uint64
	// clock is what tests have in the place of the clock. It is nil elsewhere.
	clock func() uint64
	// patience says whether the earliest timer can wait no longer.
	patience
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

// now is the time, of the clock of Begin: what time.Since measures by is it, too. It is 0 before.
func (t *List) now() uint64 {
	switch {
	case t.clock != nil:
		return t.clock()
	case t.began.IsZero():
		return 0
	}
	return t.at + uint64(time.Since(t.began))
}

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

// FireBefore calls the timers that were due before an event of a time. One that is behind by intervals is called once,
// at the last of its deadlines that can be waited for: events that were recorded before that come first, as the time
// that has passed for its function has them. So it is where the run got no CPU for a while.
func (t *List) FireBefore(at uint64, stop func() bool) {
	t.event(at)
	if t.Next() <= at {
		t.Fire(at, at, stop)
	}
}

// Fire calls all timers whose deadline is at most until, in their order. begin is a time that was read before the
// events up to until were: of one that missed several periods before it the others are left out. The clock is read
// anew before each call. If it says that the run has got no CPU for intervals since, the timer waits for their events.
// stop says after each call whether the run is over.
func (t *List) Fire(until, begin uint64, stop func() bool) {
	for t.Next() <= until && !stop() {
		now := t.now()
		if t.catchUp(now); t.Next() > until {
			break
		}
		t.callFirst(begin, now)
	}
	t.setAlarm()
}

// callFirst calls the earliest timer, of which the deadlines up to begin are left out.
func (t *List) callFirst(begin, now uint64) {
	x := t.list[0]
	t.list = t.list[1:]
	if x.Period > 0 {
		x.next(begin)
		t.Add(x)
	}
	x.Called++
	x.Call(now)
}

// catchUp leaves out the deadlines behind which there is another one that has come, too. A timer whose next deadline is
// nearer than that for which it waits is not moved there: it would be moved on each time, and not be called.
func (t *List) catchUp(now uint64) {
	for _, x := range slices.Clone(t.list) {
		until := now
		if x.Period < uint64(fineGrained) {
			until -= min(now, uint64(Patience))
		}
		if x.Period == 0 || until < x.Deadline+x.Period {
			continue
		}
		t.list = slices.Delete(t.list, slices.Index(t.list, x), slices.Index(t.list, x)+1)
		x.leaveOut((until - x.Deadline) / x.Period)
		t.Add(x)
	}
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
			x.Call(t.now())
		}
	}
}
