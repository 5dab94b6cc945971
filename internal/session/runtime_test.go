package session

import (
	"math"
	"testing"
)

// TestWallGoesOn asks for the wall-clock times of the ends of what a word can be: each lies as far from the start of
// the monotonic clock as the word says, also where the sum with the wall clock has more than 64 bits.
func TestWallGoesOn(t *testing.T) {
	for _, offset := range []int64{1_700_000_000e9, -1_700_000_000e9, 0} {
		r := runtime{&session{wallOffset: offset}}
		boot := r.Wall(0)
		for _, at := range []int64{math.MaxInt64, math.MaxInt64 - 1, 1, -1, math.MinInt64 + 1, math.MinInt64} {
			if d := r.Wall(at).Sub(boot); int64(d) != at {
				t.Errorf("offset %d: %d ns after %s are %s, which is %d ns", offset, at, boot, r.Wall(at), d)
			}
		}
	}
}
