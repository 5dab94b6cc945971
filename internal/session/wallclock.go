package session

import (
	"slices"
	"sync"
	"time"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/stream"
)

// The time of day of an event, also where the clock was set during the run.

// A wallClock tells the time of day of the monotonic times that events have. The two
// clocks differ by a number that changes when the time of day is set, and when the
// machine was suspended: a moment before that has the time of day that it had then.
// It is there for the whole run, and safe for concurrent use.
type wallClock struct {
	// watch tells when the time of day is set; nil: nothing does.
	watch *kernel.ClockWatch

	mu sync.Mutex // guards what is below
	// offsets are what the time of day was ahead of the monotonic clock, the latest last; never empty.
	offsets []clockOffset
	// next is the monotonic time in ns after which the offset is asked for again where nothing tells.
	next int64
}

// A clockOffset holds from a monotonic time on. Both are in ns.
type clockOffset struct{ since, offset int64 }

const (
	// askAgain is how often it is asked for, in ns.
	askAgain = int64(time.Millisecond)
	// clockNoise is how far two readings can be apart though nobody has set the clock.
	// Below it the offset stays, so that one moment has one text.
	clockNoise = int64(time.Millisecond)
	// mostOffsets is how many are remembered.
	mostOffsets = 256
)

func newWallClock() *wallClock {
	now := int64(stream.Now())
	return &wallClock{offsets: []clockOffset{{now, wallOffset()}}, next: now + askAgain}
}

// listen hears of each change when it comes, until Close. Where the kernel does not tell it, a change is noticed when
// the next time is asked for, and holds from the time before on.
func (w *wallClock) listen() {
	watch, err := kernel.WatchClock()
	if err != nil {
		return
	}
	w.watch = watch
	go func() {
		for watch.Next() == nil {
			w.mu.Lock()
			now := int64(stream.Now())
			w.follow(wallOffset(), now, now)
			w.mu.Unlock()
		}
	}()
}

// Close ends listening.
func (w *wallClock) Close() error {
	if w.watch == nil {
		return nil
	}
	return w.watch.Close()
}

// at gives the time of day of a moment, by the difference of the clocks as it was then.
// The sum can have more than 64 bits.
func (w *wallClock) at(monotonic int64) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watch == nil && monotonic > w.next {
		w.follow(wallOffset(), w.next-askAgain+1, int64(stream.Now()))
	}
	i := len(w.offsets) - 1
	for i > 0 && w.offsets[i].since > monotonic {
		i--
	}
	return time.Unix(0, monotonic).Add(time.Duration(w.offsets[i].offset))
}

// follow takes an offset that was read now. If it is a new one, it holds from since on.
func (w *wallClock) follow(offset, since, now int64) {
	if d := offset - w.offsets[len(w.offsets)-1].offset; d > clockNoise || d < -clockNoise {
		if len(w.offsets) == mostOffsets {
			w.offsets = slices.Delete(w.offsets, 0, 1)
		}
		w.offsets = append(w.offsets, clockOffset{since, offset})
	}
	w.next = now + askAgain
}

func wallOffset() int64 {
	before := stream.Now()
	wall := time.Now().UnixNano()
	return wall - int64(before+stream.Now())/2
}
