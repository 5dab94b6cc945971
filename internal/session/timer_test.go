package session

import (
	"strings"
	"testing"
)

func TestTimers(t *testing.T) {
	var log []string
	var ts timers
	add := func(name string, deadline, period uint64) {
		ts.add(&timer{deadline: deadline, period: period, call: func() { log = append(log, name) }})
	}
	never := func() bool { return false }
	add("b", 20, 0)
	add("a", 10, 10)
	add("c", 20, 0)
	ts.fire(9, 9, never)
	ts.fire(20, 20, never) // a at 10; then b and c, which were there before a's second
	ts.fire(70, 75, never) // a missed four times: once
	if ts.next() != 80 {
		t.Errorf("next at %d, want 80", ts.next())
	}
	add("d", 100, 0)
	ts.last()
	if got := strings.Join(log, ""); got != "abcaaa" {
		t.Errorf("calls %s", got)
	}
}

func TestTimerStop(t *testing.T) {
	n := 0
	var ts timers
	for range 3 {
		ts.add(&timer{deadline: 1, call: func() { n++ }})
	}
	ts.fire(5, 5, func() bool { return n == 2 })
	if n != 2 {
		t.Errorf("%d calls after the end", n)
	}
}
