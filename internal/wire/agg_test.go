package wire

import (
	"math"
	"testing"
)

// TestBuckets checks that each value lies within the bounds of its bucket.
func TestBuckets(t *testing.T) {
	var values []int64
	for i := range 63 {
		p := int64(1) << i
		values = append(values, p-1, p, p+1, -p, 3*p/2)
	}
	values = append(values, math.MaxInt64, math.MinInt64, 0)
	buckets := []*Buckets{
		{N: LogBuckets(0), Unit: 1},
		{N: LogBuckets(0), Unit: 1000},
		{N: LogBuckets(3), Unit: 1, Sub: 3},
	}
	for _, l := range [][3]int64{
		{-3, 95, 10}, {0, 1, 1}, {0, 100, 10}, {0, 100, 101}, {math.MaxInt64 - 7, math.MaxInt64, 3},
		{-math.MaxInt64, math.MaxInt64, 1 << 60}, {math.MinInt64, math.MaxInt64, 1 << 60},
		{math.MinInt64, math.MaxInt64, math.MaxInt64},
		{math.MinInt64, math.MinInt64 + 1, 1}, {math.MinInt64, 0, 1<<62 + 1},
	} {
		n := int(LinearBuckets(l[0], l[1], l[2]))
		buckets = append(buckets, &Buckets{N: n, Unit: 1, Linear: true, Lo: l[0], Hi: l[1], Step: l[2]})
		values = append(values, l[0], l[0]+1, l[1]-1, l[1])
	}
	for _, b := range buckets {
		for _, v := range values {
			i := b.Index(v)
			if i < 0 || i >= b.N {
				t.Errorf("%+v: %d in bucket %d", b, v, i)
				continue
			}
			lo, hi, hasLo, hasHi := b.Bounds(i)
			u := floorDiv(v, b.Unit)
			above, below := u >= lo, u < hi
			if !b.Linear && i > 0 { // unsigned ones
				above, below = uint64(u) >= uint64(lo), uint64(u) < uint64(hi)
			}
			if hasLo && !above || hasHi && !below {
				t.Errorf("%+v: %d (%d units) in bucket %d [%d, %d) %v %v", b, v, u, i, lo, hi, hasLo, hasHi)
			}
		}
	}
}

// TestUnsignedBuckets: what has no sign is where it has one, as far as it can.
func TestUnsignedBuckets(t *testing.T) {
	linear := &Buckets{N: int(LinearBuckets(-7, math.MaxInt64, 1<<60)), Unit: 1, Linear: true, Lo: -7,
		Hi: math.MaxInt64, Step: 1 << 60}
	for _, b := range []*Buckets{{N: LogBuckets(0), Unit: 1}, {N: LogBuckets(3), Unit: 1000, Sub: 3}, linear} {
		last := b.Index(0)
		for bit := range 64 {
			v := uint64(1) << bit
			i := b.IndexUnsigned(v)
			if i < last || i >= b.N || bit < 63 && i != b.Index(int64(v)) {
				t.Errorf("%+v: %d in bucket %d, %d before it", b, v, i, last)
			}
			last = i
		}
	}
	if linear.IndexUnsigned(1<<63) != linear.N-1 {
		t.Error("a number that no bucket reaches is not above all of them")
	}
}

func TestBucketNumbers(t *testing.T) {
	b := &Buckets{N: LogBuckets(0), Unit: 1}
	for v, want := range map[int64]int{-1: 0, 0: 1, 1: 2, 2: 3, 3: 3, 4: 4, math.MaxInt64: 64} {
		if got := b.Index(v); got != want {
			t.Errorf("Index(%d) = %d, want %d", v, got, want)
		}
	}
	if b.N != 66 {
		t.Errorf("N = %d, want 66", b.N)
	}
}

func TestExtremes(t *testing.T) {
	order := []int64{math.MinInt64, -5, -1, 0, 1, 7, math.MaxInt64}
	for i, v := range order {
		if DecodeHighest(EncodeHighest(v)) != v || DecodeLowest(EncodeLowest(v)) != v {
			t.Errorf("%d does not come back", v)
		}
		if i > 0 && EncodeHighest(v) <= EncodeHighest(order[i-1]) {
			t.Errorf("EncodeHighest(%d) is out of order", v)
		}
		if i > 0 && EncodeLowest(v) >= EncodeLowest(order[i-1]) {
			t.Errorf("EncodeLowest(%d) is out of order", v)
		}
	}
}
