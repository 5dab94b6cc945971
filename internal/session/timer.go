package session

import (
	"cmp"
	"math"
	"slices"

	"go.starlark.net/starlark"
)

// A timer calls a function of the script at a time of the monotonic clock.
type timer struct {
	deadline uint64
	period   uint64 // ns; 0 for after()
	call     func()
	fn       starlark.Callable // what call calls; nil for --duration
}

// timers holds what every() and after() asked for, the earliest first. There
// are a handful, so a sorted slice serves.
type timers struct{ list []*timer }

func (t *timers) add(x *timer) {
	i, _ := slices.BinarySearchFunc(t.list, x, func(a, b *timer) int {
		if a.deadline == b.deadline {
			return -1 // behind those of the same time
		}
		return cmp.Compare(a.deadline, b.deadline)
	})
	t.list = slices.Insert(t.list, i, x)
}

// next is the earliest deadline, MaxUint64 if there is none.
func (t *timers) next() uint64 {
	if len(t.list) == 0 {
		return math.MaxUint64
	}
	return t.list[0].deadline
}

// fire calls all timers whose deadline is at most until, in their order. A
// timer that missed several periods, because a callback took long, is called
// once. stop says after each call whether the run is over.
func (t *timers) fire(until, now uint64, stop func() bool) {
	for t.next() <= until && !stop() {
		x := t.list[0]
		t.list = t.list[1:]
		if x.period > 0 {
			x.deadline += x.period
			if x.deadline < now {
				x.deadline += (now-x.deadline)/x.period*x.period + x.period
			}
			t.add(x)
		}
		x.call()
	}
}

// last calls the periodic timers once more, for the part of the interval that
// has passed at the end of a run.
func (t *timers) last() {
	for _, x := range slices.Clone(t.list) {
		if x.period > 0 {
			x.call()
		}
	}
}
