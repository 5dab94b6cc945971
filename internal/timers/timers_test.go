package timers

import (
	"strings"
	"testing"
	"time"
)

func TestTimers(t *testing.T) {
	var log []string
	var ts List
	add := func(name string, deadline, period uint64) {
		ts.Add(&Timer{Deadline: deadline, Period: period, Call: func(uint64) { log = append(log, name) }})
	}
	never := func() bool { return false }
	add("b", 20, 0)
	add("a", 10, 10)
	add("c", 20, 0)
	ts.Fire(9, 9, never)
	ts.Fire(20, 20, never) // a at 10; then b and c, which were there before a's second
	ts.Fire(70, 75, never) // a missed four times: once
	if ts.Next() != 80 {
		t.Errorf("next at %d, want 80", ts.Next())
	}
	add("d", 100, 0)
	ts.Last(func() {})
	if got := strings.Join(log, ""); got != "abcaaa" {
		t.Errorf("calls %s", got)
	}
}

func TestTimerStop(t *testing.T) {
	n := 0
	var ts List
	for range 3 {
		ts.Add(&Timer{Deadline: 1, Call: func(uint64) { n++ }})
	}
	ts.Fire(5, 5, func() bool { return n == 2 })
	if n != 2 {
		t.Errorf("%d calls after the end", n)
	}
}

// Calls that were missed are counted, but for intervals that are shorter than the run looks at its clock.
func TestMissed(t *testing.T) {
	const ms = 1e6
	for _, tt := range []struct {
		period         uint64
		fires          []uint64 // when
		called, missed uint64
	}{
		{100 * ms, []uint64{100 * ms, 200 * ms, 300 * ms}, 3, 0},
		{100 * ms, []uint64{100 * ms, 450 * ms, 500 * ms}, 3, 2},
		{100 * ms, []uint64{399 * ms, 400 * ms}, 2, 2},
		{ms, []uint64{10 * ms, 20 * ms}, 2, 0},
	} {
		var ts List
		x := &Timer{Deadline: tt.period, Period: tt.period, Call: func(uint64) {}}
		ts.Add(x)
		for _, now := range tt.fires {
			ts.Fire(now, now, func() bool { return false })
		}
		if x.Called != tt.called || x.Missed != tt.missed {
			t.Errorf("every %d, fired at %d: called %d, missed %d", tt.period, tt.fires, x.Called, x.Missed)
		}
	}
}

// A timer that is behind by intervals, as the run got no CPU, is called once: behind the events of all of them but the
// last, and before those that come later.
func TestFireBefore(t *testing.T) {
	const ms = uint64(time.Millisecond)
	var log []string
	var ts List
	behind := 220 * ms
	x := &Timer{Deadline: -behind, Period: 20 * ms, Call: func(uint64) { log = append(log, "call") }}
	ts.Add(x)
	ts.Add(&Timer{Deadline: -behind, Call: func(uint64) { log = append(log, "once") }})
	now := 1000 * ms
	ts.Begin(now)
	never := func() bool { return false }
	for at := now - behind; at < now-20*ms; at += 20 * ms {
		ts.FireBefore(at, never)
		log = append(log, "event")
	}
	ts.FireBefore(ts.now()+ms, never)
	if got, want := strings.Join(log, " "), "once"+strings.Repeat(" event", 10)+" call"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if x.Missed < 11 || ts.Next() <= now {
		t.Errorf("missed %d, the next at %d", x.Missed, ts.Next())
	}
}
