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
		r := runtime{&session{clock: &wallClock{offsets: []clockOffset{{0, offset}}, next: math.MaxInt64}}}
		boot := r.Wall(0)
		for _, at := range []int64{math.MaxInt64, math.MaxInt64 - 1, 1, -1, math.MinInt64 + 1, math.MinInt64} {
			if d := r.Wall(at).Sub(boot); int64(d) != at {
				t.Errorf("offset %d: %d ns after %s are %s, which is %d ns", offset, at, boot, r.Wall(at), d)
			}
		}
	}
}

// The clock of the day may be set while a run lasts: moments before that keep the time that they had. What differs by
// less than the reading of clocks does stays.
func TestWallClockIsFollowed(t *testing.T) {
	w := &wallClock{offsets: []clockOffset{{0, 1000 * int64(time.Second)}}, next: 1 << 60}
	for _, set := range []struct{ at, offset int64 }{{20, 5}, {30, 2000}, {40, 1000}} {
		w.follow(set.offset*int64(time.Second), set.at, set.at)
		w.next = 1 << 60
	}
	for at, want := range map[int64]int64{5: 1000, 19: 1000, 20: 5, 29: 5, 30: 2000, 39: 2000, 40: 1000, 99: 1000} {
		if got := w.at(at); !got.Equal(time.Unix(want, at)) {
			t.Errorf("at %d: %v, want %d s later", at, got, want)
		}
	}
	w.follow(1000*int64(time.Second)+clockNoise/2, 50, 50)
	if got := w.at(60); !got.Equal(time.Unix(1000, 60)) || w.next != 50+askAgain {
		t.Errorf("noise gives %v, asked again at %d", got, w.next)
	}
	for i := range int64(2 * mostOffsets) {
		w.follow(i*int64(time.Second), 100+i, 100+i)
	}
	if len(w.offsets) > mostOffsets {
		t.Errorf("%d offsets are remembered", len(w.offsets))
	}
	w.next = 0 // long ago
	now := int64(stream.Now())
	if got := w.at(now); time.Since(got).Abs() > time.Minute {
		t.Errorf("now is %v", got)
	}
}
