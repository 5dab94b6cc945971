package session

import (
	"time"

	"github.com/startrace/startrace/internal/stream"
)

// A wallClock tells the time of day of the monotonic times that events have. The two
// clocks differ by a number that changes when the time of day is set, and when the
// machine was suspended. It is there for the whole run.
type wallClock struct {
	// offset is what the time of day is ahead of the monotonic clock, in ns.
	offset int64
	// next is the monotonic time in ns after which the offset is asked for again.
	next int64
}

const (
	// askAgain is how often it is asked for, in ns.
	askAgain = int64(time.Millisecond)
	// clockNoise is how far two readings can be apart though nobody has set the clock.
	// Below it the offset stays, so that one moment has one text.
	clockNoise = int64(time.Millisecond)
)

func newWallClock() *wallClock {
	return &wallClock{offset: wallOffset(), next: int64(stream.Now()) + askAgain}
}

// at gives the time of day of a moment, by the difference of the clocks as it is now.
// The sum can have more than 64 bits.
func (w *wallClock) at(monotonic int64) time.Time {
	if monotonic > w.next {
		w.follow(wallOffset(), int64(stream.Now()))
	}
	return time.Unix(0, monotonic).Add(time.Duration(w.offset))
}

// follow takes a new offset, if it is one.
func (w *wallClock) follow(offset, now int64) {
	if d := offset - w.offset; d > clockNoise || d < -clockNoise {
		w.offset = offset
	}
	w.next = now + askAgain
}

func wallOffset() int64 {
	before := stream.Now()
	wall := time.Now().UnixNano()
	return wall - int64(before+stream.Now())/2
}
