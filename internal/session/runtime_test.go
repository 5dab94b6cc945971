package session

import (
	"math"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/stream"
)

// TestWallGoesOn asks for the wall-clock times of the ends of what a word can be: each lies as far from the start of
// the monotonic clock as the word says, also where the sum with the wall clock has more than 64 bits.
func TestWallGoesOn(t *testing.T) {
	for _, offset := range []int64{1_700_000_000e9, -1_700_000_000e9, 0} {
		r := runtime{&session{clock: &wallClock{offset: offset, next: math.MaxInt64}}}
		boot := r.Wall(0)
		for _, at := range []int64{math.MaxInt64, math.MaxInt64 - 1, 1, -1, math.MinInt64 + 1, math.MinInt64} {
			if d := r.Wall(at).Sub(boot); int64(d) != at {
				t.Errorf("offset %d: %d ns after %s are %s, which is %d ns", offset, at, boot, r.Wall(at), d)
			}
		}
	}
}

// The clock of the day may be set while a run lasts. What differs by less than the reading of clocks does stays.
func TestWallClockIsFollowed(t *testing.T) {
	w := &wallClock{offset: 1000 * int64(time.Second), next: 10}
	w.follow(w.offset+clockNoise/2, 20)
	if got := w.at(5); !got.Equal(time.Unix(1000, 5)) || w.next != 20+askAgain {
		t.Errorf("noise gives %v, asked again at %d", got, w.next)
	}
	for _, set := range []int64{5, 2000, 1000} {
		w.follow(set*int64(time.Second), 20)
		if got := w.at(5); !got.Equal(time.Unix(set, 5)) {
			t.Errorf("set to %d s: %v", set, got)
		}
	}
	w.next = 0 // long ago
	now := int64(stream.Now())
	if got := w.at(now); time.Since(got).Abs() > time.Minute {
		t.Errorf("now is %v", got)
	}
}
