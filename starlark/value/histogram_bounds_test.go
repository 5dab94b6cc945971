package value

import (
	"math"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// The values of 2^62 and more, of which programs of the kernel add up to 2^64-1, lie in buckets with true bounds.
func TestBoundsOfLargeValues(t *testing.T) {
	h := &Histogram{shape: &wire.Buckets{N: wire.LogBuckets(0), Unit: 1}, counts: make([]uint64, wire.LogBuckets(0)),
		unit: 1}
	h.counts[64], h.counts[65] = 3, 1
	const want = `[record(lo = 4611686018427387904, hi = 9223372036854775808, count = 3), ` +
		`record(lo = 9223372036854775808, hi = None, count = 1)]`
	list := h.list().String()
	if list != want {
		t.Errorf("got %s, want %s", list, want)
	}
	if q, _ := h.Quantile(1); q != 1<<64 {
		t.Errorf("the largest is %g", q)
	}
}

// Whatever the unit: an extreme and a mean are those of the values, and a quantile is off by an eighth at most, which
// is what the documents say. Of values below 0 it is None.
func TestUnitsLoseNothing(t *testing.T) {
	values := []int64{3, 900, 1900, 1950, 1990, 123_456_789, 1<<40 + 5}
	for _, unit := range []int64{1, 7, 1e3, 1e6, 1e9} {
		var s State
		q := &plan.Container{Kind: plan.Quantiles, Unit: unit}
		var buckets State
		for _, v := range values {
			s.add(&plan.Container{Kind: plan.Stats}, Number{Bits: uint64(v)}, 1)
			buckets.add(q, Number{Bits: uint64(v)}, 1)
		}
		r := Result(&plan.Container{Kind: plan.Stats, Unit: unit}, &s).(*Record)
		for name, v := range map[string]int64{"lowest": values[0], "highest": values[len(values)-1]} {
			got, _ := starlark.AsFloat(r.Get(name))
			if got != float64(v)/float64(unit) {
				t.Errorf("unit %d: %s is %g", unit, name, got)
			}
		}
		for i, v := range values {
			want := float64(v) / float64(unit)
			got, ok := newHistogram(q, &buckets).Quantile(float64(i+1) / float64(len(values)))
			if !ok || math.Abs(got-want) > want/8 {
				t.Errorf("unit %d: quantile %d is %g, want %g", unit, i, got, want)
			}
		}
	}
}

// A quantile in a bucket without a bound is none: of values below 0, and of lhist outside of its bounds.
func TestOpenBucketsHaveNoQuantile(t *testing.T) {
	for _, c := range []*plan.Container{
		{Kind: plan.Quantiles}, {Kind: plan.Hist, Unit: 1000}, {Kind: plan.Hist, Sub: 2},
		{Kind: plan.LHist, Lo: 0, Hi: 10, Step: 2},
	} {
		var s State
		s.add(c, Number{Bits: ^uint64(4999)}, 1)
		s.add(c, Number{Bits: 7}, 1)
		h := newHistogram(c, &s)
		if low, ok := h.Quantile(0.4); ok {
			t.Errorf("%s: the lower half of -5000 and 7 is %g", c.Kind, low)
		}
		if _, ok := h.Quantile(1); !ok {
			t.Errorf("%s: 7 has no quantile", c.Kind)
		}
	}
	c := &plan.Container{Kind: plan.LHist, Lo: 0, Hi: 10, Step: 2}
	var s State
	s.add(c, Number{Bits: 50}, 1)
	if v, ok := newHistogram(c, &s).Quantile(1); ok {
		t.Errorf("50 in lhist(0, 10, 2) has the quantile %g", v)
	}
}

// What is no share from 0 to 1 has no quantile: NaN, too, which is neither below 0 nor above 1.
func TestQuantileOfNoShare(t *testing.T) {
	var s State
	c := &plan.Container{Kind: plan.Quantiles}
	s.add(c, Number{Bits: 7}, 1)
	h := newHistogram(c, &s)
	nan, inf := math.NaN(), math.Inf(1)
	for _, q := range []float64{nan, -nan, inf, -inf, -0.1, 2, math.Nextafter(1, 2), -math.SmallestNonzeroFloat64} {
		if v, err := h.quantile(starlark.Tuple{starlark.Float(q)}, nil); err == nil {
			t.Errorf("quantile(%g) is %s", q, v)
		}
	}
	for _, q := range []float64{0, 0.5, 1} {
		if _, err := h.quantile(starlark.Tuple{starlark.Float(q)}, nil); err != nil {
			t.Errorf("quantile(%g): %v", q, err)
		}
	}
}
