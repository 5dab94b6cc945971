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

// looksEach is how many events are given out between two looks at the clock, unless they take long. A look takes some
// 40 ns.
const looksEach = 16

// longest is how long a timer waits at most where the run has had a CPU all the time: until the rings have been read,
// and for the events that were there.
const longest = 3 * Patience / 2

// stall is a time between two looks at the clock that says that the run was stopped, or got no CPU.
const stall = 20 * time.Millisecond

// patience says whether the earliest timer can wait no longer. It counts steps of time, and not the time: of the time
// in which the run was stopped, or got no CPU, nothing has been read yet, and no function of the script was slow. So a
// stop is one step, wherever it comes:
//
//	deadline · · · · stop ················ cont · · · · · · called, if nobody has read what was recorded before
//	         1 2 3 4                       5    6 7 8 9 10
//
// They are counted in two ways, of which the faster one decides. An alarm counts on a goroutine of its own, also while
// a function of the script takes long. Where programs take all CPUs, that goroutine gets one a few milliseconds late,
// each time. So the run itself looks at the clock, too, between events.
type patience struct {
	// steps is how many the alarm has counted since the deadline.
	steps atomic.Uint64
	// seen is the time at the last step, whoever counted it.
	seen atomic.Uint64
	// stalled is the time by which the backlog of the last stall has been given out, if events come at least twice as
	// fast as they were recorded: as long after its end as it was long.
	stalled atomic.Uint64
	// alarm counts them. It is nil before the first timer is waited for.
	alarm *alarm
	// deadline is that of the earliest timer, for which the alarm is set.
	deadline uint64
	// own is the time since the deadline of which the run itself knows that it has waited, in ns. Of that between two
	// looks at the clock it has a step at most.
	own uint64
	// from is how long the timer had waited when waiting began, in ns: with the deadline, and anew when the rings are
	// first read after it.
	from uint64
	// read is set once the rings have been read since the deadline.
	read bool
	// first and last are the times of events that were given out since waiting began. They are 0 where there was none.
	first, last uint64
	// looked is the time of the last look of the run at the clock.
	looked uint64
	// each is how many events come between two looks, and until how many before the next one.
	each, until int
}

// waitFor begins to wait for a deadline.
func (p *patience) waitFor(deadline uint64) {
	p.steps.Store(0)
	p.own = 0
	p.deadline, p.read = deadline, false
	p.begin()
}

// begin begins to wait anew.
func (p *patience) begin() { p.from, p.first, p.last = p.waited(), 0, 0 }

// event notes that an event of a time is given out.
func (p *patience) event(at uint64) {
	if p.first == 0 {
		p.first = at
	}
	p.last = at
}

// count is a step of the alarm for a deadline, at a time.
func (p *patience) count(now, deadline uint64) {
	p.noteStall(max(p.seen.Swap(now), deadline), now)
	p.steps.Add(1)
}

// look counts the time since the look of the run before as waited for, a step at most, if the deadline has come.
func (p *patience) look(now uint64) {
	since := now - p.looked
	p.noteStall(p.looked, now)
	p.looked = now
	if p.each++; since > uint64(step/2) {
		p.each /= 2
	}
	p.each = min(p.each, looksEach)
	p.until = p.each
	if now < p.deadline {
		return
	}
	p.own += min(since, now-p.deadline, uint64(step))
	p.seen.Store(now)
}

// noteStall notes that nobody has looked at the clock between two times, if that is long.
func (p *patience) noteStall(before, now uint64) {
	if now-before >= uint64(stall) {
		p.stalled.Store(now + (now - before))
	}
}

// waited is how long the earliest timer has waited, in ns.
func (p *patience) waited() uint64 { return max(p.steps.Load()*uint64(step), p.own) }

// spent reports whether the earliest timer can wait no longer. It costs a load while it has not waited, so that it can
// be asked between two events.
//
// It has waited for Patience, and was not coming nearer: of a backlog, the events come faster than they were recorded.
// Or it has waited for the longest time, and there is no backlog of a stop. Where events come faster than they can be
// handled there is a backlog all the time, and no timer waits for its end.
func (p *patience) spent() bool {
	waited := p.waited()
	if waited < uint64(Patience) {
		return false
	}
	since := waited - p.from
	return since >= uint64(Patience) && !p.comesNearer(since) ||
		waited >= uint64(longest) && p.seen.Load() >= p.stalled.Load()
}

// comesNearer reports whether the events since waiting began were recorded over more than twice the time.
func (p *patience) comesNearer(since uint64) bool { return p.last-p.first >= 2*since }

// Read says that all was read from the rings that was recorded before a time.
func (t *List) Read(begin uint64) {
	t.looked = begin // before, the run may have slept
	if t.read || begin < t.deadline {
		return
	}
	t.read = true
	t.begin()
}

// FireOverdue calls the timers that have waited for Patience.
func (t *List) FireOverdue(stop func() bool) {
	if t.until--; t.until < 0 && len(t.list) > 0 {
		t.look(t.now())
	}
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
	if next == t.deadline {
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
	t.alarm.after(time.Duration(max(next, now)-now), func() { t.count(t.now(), next) })
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
