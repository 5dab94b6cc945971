package timers

import (
	"math"
	"sync/atomic"
	"time"
)

// How long a timer waits for events that were recorded before its time (`Patience`).

// Patience is how long a timer waits for events that were recorded before its deadline, of the time in which the run
// has a CPU. They are there in half of that, the interval in which rings are drained, unless the functions of the
// script are slower than the events.
const Patience = 10 * time.Millisecond

// step is the time between two looks at whether the run has a CPU.
const step = time.Millisecond

// patience says whether the earliest timer can wait no longer. It counts steps of time, and not the time: of the time
// in which the run was stopped, or got no CPU, nothing has been read yet, and no function of the script was slow. So a
// stop is one step, wherever it comes:
//
//	deadline · · · · stop ················ cont · · · · · · called, if nobody has read what was recorded before
//	         1 2 3 4                       5    6 7 8 9 10
type patience struct {
	// steps is how many there were since the deadline, and seen is the time at the last of them. They are counted on a
	// goroutine of their own.
	steps, seen atomic.Uint64
	// alarm counts them. It is nil before the first timer is waited for.
	alarm *alarm
	// deadline is that of the earliest timer, for which the alarm is set.
	deadline uint64
	// from is the number of steps at which waiting began: with the deadline, and anew when the rings are first read
	// after it.
	from uint64
	// read is set once the rings have been read since the deadline.
	read bool
	// first and last are the times of events that were given out since waiting began. They are 0 where there was none.
	first, last uint64
}

// waitFor begins to wait for a deadline.
func (p *patience) waitFor(deadline uint64) {
	p.steps.Store(0)
	p.deadline, p.read = deadline, false
	p.begin()
}

// begin begins to wait anew.
func (p *patience) begin() { p.from, p.first, p.last = p.steps.Load(), 0, 0 }

// event notes that an event of a time is given out.
func (p *patience) event(at uint64) {
	if p.first == 0 {
		p.first = at
	}
	p.last = at
}

// count is a step, at a time.
func (p *patience) count(now uint64) {
	p.seen.Store(now)
	p.steps.Add(1)
}

// spent reports whether the earliest timer has waited for Patience while it was not coming nearer: of a backlog, as a
// stop leaves one, the events come faster than they were recorded. It costs a load while it has not waited, so that it
// can be asked between two events.
func (p *patience) spent() bool {
	waited := p.steps.Load() - p.from
	return waited >= uint64(Patience/step) && p.last-p.first < 2*waited*uint64(step)
}

// Read says that all was read from the rings that was recorded before a time.
func (t *List) Read(begin uint64) {
	if t.read || begin < t.deadline {
		return
	}
	t.read = true
	t.begin()
}

// FireOverdue calls the timers that have waited for Patience.
func (t *List) FireOverdue(stop func() bool) {
	if !t.spent() {
		return
	}
	now := t.seen.Load() // and not the present time: the run may have been stopped since
	for t.Next() <= now-uint64(Patience) && !stop() {
		t.callFirst(now, now)
	}
	t.setAlarm()
}

// setAlarm sees to it that the steps behind the earliest deadline are counted.
func (t *List) setAlarm() {
	next := t.Next()
	if next == t.deadline && t.alarm != nil {
		return
	}
	if t.alarm != nil {
		t.alarm.stopped.Store(true)
	}
	t.waitFor(next)
	if t.began.IsZero() || next == math.MaxUint64 {
		return
	}
	now := t.now()
	t.alarm = &alarm{}
	t.alarm.after(time.Duration(max(next, now)-now), func() { t.count(t.now()) })
}

// An alarm counts the steps behind one deadline.
type alarm struct{ stopped atomic.Bool }

// after calls count after a time, and then after each step.
func (a *alarm) after(d time.Duration, count func()) {
	time.AfterFunc(d, func() {
		if !a.stopped.Load() {
			count()
			a.after(step, count)
		}
	})
}
