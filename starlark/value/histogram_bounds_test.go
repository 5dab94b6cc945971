package value

import (
	"testing"

	"github.com/startrace/startrace/internal/wire"
)

// The values of 2^62 and more, of which programs of the kernel add up to 2^64-1, lie in buckets with true bounds.
func TestBoundsOfLargeValues(t *testing.T) {
	h := &Histogram{shape: &wire.Buckets{N: wire.LogBuckets(0), Unit: 1}, counts: make([]uint64, wire.LogBuckets(0))}
	h.counts[64], h.counts[65] = 3, 1
	const want = `[record(lo = 4611686018427387904, hi = 9223372036854775808, count = 3), record(lo = 9223372036854775808, hi = None, count = 1)]`
	list := h.list().String()
	if list != want {
		t.Errorf("got %s, want %s", list, want)
	}
	if q, _ := h.Quantile(1); q != 1<<63 {
		t.Errorf("the largest is %g", q)
	}
}
