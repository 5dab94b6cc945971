package timers

import (
	"fmt"
	"testing"
	"time"

	"github.com/startrace/startrace/test/tried"
)

const ms = uint64(time.Millisecond)

// A run is a run of a session with a clock of its own: its programs record an event each half of a millisecond, and
// each look at the clock and each thing that it does is a place where it can be stopped.
type run struct {
	timers List
	// clock is the time, and next the time of the next event.
	clock, next uint64
	// places is how many places there were, stopAt the one of the stop, and stop how long that takes.
	places, stopAt int
	stop           uint64
	// begun is when the deadline of which steps were counted came, and counted is how many.
	begun, counted uint64
	// ring and taken are the times of events in the ring, and of those that were taken from there.
	ring, taken []uint64
	// slow is what the function of an event takes.
	slow uint64
	// apart is the time between two events, if it is not half of a millisecond; late is how much later than the alarm
	// is due it gets a CPU, each time.
	apart func(at uint64) uint64
	late  uint64
	// called are the times by which calls were decided, given is the latest event before each of them.
	called, given []uint64
	latest        uint64
	// early is the event that came the most behind a call that was decided later, and by how much.
	early uint64
}

// passes lets time pass, with the steps of the alarm.
func (r *run) passes(d uint64) {
	for end := r.clock + d; r.clock < end; {
		r.clock += min(ms/4, end-r.clock)
		for ; r.next <= r.clock; r.next += r.gap() {
			r.ring = append(r.ring, r.next)
		}
		if deadline := r.timers.deadline; deadline != r.begun {
			r.begun, r.counted = deadline, 0
		}
		if each := ms + r.late; r.clock >= r.begun+r.counted*each {
			r.timers.count(r.clock, r.begun)
			r.counted = (r.clock-r.begun)/each + 1 // a stop is one step
		}
	}
}

// gap is the time between the event that comes next and the one behind it.
func (r *run) gap() uint64 {
	if r.apart == nil {
		return ms / 2
	}
	return r.apart(r.next)
}

// place is a place where the run can be stopped.
func (r *run) place() {
	if r.places++; r.places == r.stopAt {
		r.clock += r.stop - ms/4
		r.passes(ms / 4)
	}
}

// now looks at the clock.
func (r *run) now() uint64 {
	r.place()
	now := r.clock
	r.place()
	return now
}

// turn is what a session does (session.turn).
func (r *run) turn() {
	begin := r.now()
	r.taken, r.ring = append(r.taken, r.ring...), nil
	r.place()
	settled := begin - 5*ms
	r.timers.Read(begin)
	never := func() bool { return false }
	for len(r.taken) > 0 && r.taken[0] <= settled {
		at := r.taken[0]
		r.taken = r.taken[1:]
		r.place()
		r.timers.FireBefore(at, never)
		r.place()
		r.timers.FireOverdue(never)
		r.place()
		r.event(at)
	}
	r.place()
	r.timers.Fire(settled, begin, never)
	r.place()
	r.timers.FireOverdue(never)
	for range 5 {
		r.place()
		r.passes(ms)
	}
}

// event is a function of the script that gets an event.
func (r *run) event(at uint64) {
	if n := len(r.called); n > 0 && at < r.called[n-1] {
		r.early = max(r.early, r.called[n-1]-at)
	}
	r.latest = at
	r.passes(r.slow)
}

// begins begins a run with a timer.
func begins(period uint64) *run {
	r := &run{clock: 1000 * ms, next: 1000 * ms, stopAt: -1}
	r.timers.clock = func() uint64 { return r.now() }
	r.timers.Add(&Timer{Deadline: r.clock + period, Period: period, Call: func(now uint64) {
		r.called, r.given = append(r.called, now), append(r.given, r.latest)
		r.place()
	}})
	return r
}

// A stop of a run (SIGSTOP, no CPU) comes at each place there is: the timer comes behind the events of the intervals
// that have passed, but for those that are as late as events are read.
func TestStops(t *testing.T) {
	stops := 0
	for _, period := range []uint64{20 * ms, 30 * ms, 50 * ms} {
		for _, stop := range []uint64{15 * ms, 50 * ms, 150 * ms, 300 * ms} {
			found := 0
			for at := 1; ; at++ {
				stops++
				r := begins(period)
				r.stopAt, r.stop = at, stop
				if at%3 == 0 { // reading the backlog takes longer than a timer waits
					r.slow = ms / 8
				}
				for r.clock < 1010*ms+min(2*period, 60*ms)+stop {
					r.turn()
				}
				if r.early > period+7*ms && found < 3 {
					found++
					t.Errorf("every %d ms, stopped for %d ms at place %d: an event came %d us after a later call (%v)",
						period/ms, stop/ms, at, r.early/1000, r.called)
				}
				if r.places < at {
					break
				}
			}
		}
	}
	tried.Many(t, "%d stops", stops)
}

// A timer of a short interval is called as often as the rings are read, also where there are events all the time.
func TestShortIntervals(t *testing.T) {
	for _, period := range []uint64{ms, 2 * ms, 5 * ms, 9 * ms} {
		r := begins(period)
		for r.clock < 1500*ms {
			r.turn()
		}
		if n := len(r.called); n < 50 {
			t.Errorf("every %d ms: %d calls in 500 ms", period/ms, n)
		}
	}
}

// Functions that are slower than the events do not keep a timer from being called.
func TestSlowFunctions(t *testing.T) {
	for _, period := range []uint64{ms, 5 * ms, 20 * ms, 100 * ms} {
		for _, slow := range []uint64{ms, 3 * ms, 30 * ms} {
			r := begins(period)
			r.slow = slow
			for r.clock < 2000*ms {
				r.turn()
			}
			if n, want := len(r.called), int(1000*ms/(period+slow+2*uint64(Patience)))/2; n < want {
				t.Errorf("every %d ms, events of %d ms: %d calls in a second, want %d", period/ms, slow/ms, n, want)
			}
		}
	}
}

// Where events come faster than they can be handled, a timer is called in time all the same, whether the rings are full
// or the backlog shrinks just then, and also where programs take the CPU of the alarm.
func TestOverload(t *testing.T) {
	calls := 0
	for _, length := range []uint64{20 * ms, 50 * ms, 120 * ms} {
		for _, late := range []uint64{0, 4 * ms, 9 * ms} {
			r := begins(100 * ms)
			r.late, r.slow, r.apart = late, ms/8, bursts(length)
			for r.clock < 3000*ms {
				r.turn()
			}
			name := fmt.Sprintf("bursts of %d ms, an alarm that is %d ms late", length/ms, late/ms)
			if calls += len(r.called); len(r.called) < 18 {
				t.Errorf("%s: %d calls", name, len(r.called))
			}
			for _, at := range r.called {
				if over := at % (100 * ms); over > uint64(longest)+6*ms { // a step, and the sleep between two turns
					t.Errorf("%s: called %d us late", name, over/1000)
				}
			}
		}
	}
	tried.Many(t, "%d calls", calls)
}

// bursts are events that come twice as fast as they are handled, and then slower, for a time each.
func bursts(length uint64) func(at uint64) uint64 {
	return func(at uint64) uint64 {
		if at/length%2 == 0 {
			return ms / 16
		}
		return ms
	}
}
