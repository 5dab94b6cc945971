// Package timers has what is to be called at times of the monotonic clock.
package timers

import (
	"cmp"
	"math"
	"slices"

	"go.starlark.net/starlark"
)

// A Timer calls a function of the script at a time of the monotonic clock.
type Timer struct {
	Deadline uint64 // ns; until Begin from the beginning of the run
	Period   uint64 // ns; 0 for after()
	// Call is what is done at the deadline.
	Call func()
	Func starlark.Callable // what Call calls; nil for --duration
}

// A List holds what every() and after() asked for, the earliest first. There
// are a handful, so a sorted slice serves.
type List struct{ list []*Timer }

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
}

// Next is the earliest deadline, MaxUint64 if there is none.
func (t *List) Next() uint64 {
	if len(t.list) == 0 {
		return math.MaxUint64
	}
	return t.list[0].Deadline
}

// Fire calls all timers whose deadline is at most until, in their order. A
// timer that missed several periods, because a callback took long, is called
// once. stop says after each call whether the run is over.
func (t *List) Fire(until, now uint64, stop func() bool) {
	for t.Next() <= until && !stop() {
		x := t.list[0]
		t.list = t.list[1:]
		if x.Period > 0 {
			x.Deadline += x.Period
			if x.Deadline < now {
				x.Deadline += (now-x.Deadline)/x.Period*x.Period + x.Period
			}
			t.Add(x)
		}
		x.Call()
	}
}

// Last calls the periodic timers once more, for the part of the interval that
// has passed at the end of a run.
func (t *List) Last() {
	for _, x := range slices.Clone(t.list) {
		if x.Period > 0 {
			x.Call()
		}
	}
}
