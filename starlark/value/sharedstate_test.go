package value

import (
	"testing"

	"github.com/startrace/startrace/internal/plan"
)

// What is added to a state, or taken from it, is seen in none that shares its buckets.
func TestSharedBuckets(t *testing.T) {
	c := &plan.Container{Kind: plan.Hist}
	var first, merged State
	first.add(c, Number{Bits: 4}, 1)
	clone := first.clone()
	merged.Merge(&first)
	if &merged.Buckets[0] != &first.Buckets[0] || &clone.Buckets[0] != &first.Buckets[0] {
		t.Error("the buckets are copied before anything has changed")
	}
	sum := func(s *State) (n uint64) {
		for _, b := range s.Buckets {
			n += b
		}
		return n
	}
	first.add(c, Number{Bits: 4}, 2)
	merged.Merge(&first)
	clone.subtract(&merged)
	if sum(&first) != 3 || sum(&merged) != 4 || int64(sum(&clone)) != -3 {
		t.Errorf("%d, %d and %d, want 3, 4 and -3", sum(&first), sum(&merged), int64(sum(&clone)))
	}
}
