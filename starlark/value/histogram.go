package value

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// The value of hist(), lhist() and quantiles(): buckets, count, quantile(q), + and -.

// A Histogram is the value of hist, lhist and quantiles under one key: an
// immutable list of buckets.
type Histogram struct {
	shape    *wire.Buckets
	counts   []uint64
	unitName string
	// unit is what bounds and quantiles are divided by when they are read: 1 for hist and lhist, whose buckets are
	// of whole units.
	unit int64
}

var (
	_ starlark.HasAttrs   = (*Histogram)(nil)
	_ starlark.HasBinary  = (*Histogram)(nil)
	_ starlark.Comparable = (*Histogram)(nil)
)

func newHistogram(c *plan.Container, s *State) *Histogram {
	b := bucketsOf(c)
	counts := s.clone().Buckets
	if counts == nil {
		counts = make([]uint64, b.N)
	}
	h := &Histogram{shape: b, counts: counts, unitName: c.UnitName, unit: 1}
	if c.Kind == plan.Quantiles {
		h.unit = max(1, c.Unit)
	}
	return h
}

// A Bucket is one bar of a histogram: Lo ≤ v < Hi. The first and last may be open.
type Bucket struct {
	Lo, Hi int64
	// HasLo and HasHi: there is a lower bound, and an upper one.
	HasLo, HasHi bool
	// Unsigned says that the bounds are unsigned numbers.
	Unsigned bool
	// Divided says that the values were divided, so that those of a bucket of width 1 differ.
	Divided bool
	// Count is how many values lie between the bounds.
	Count uint64
}

// Bars gives the buckets from the first to the last that is not empty.
func (h *Histogram) Bars() []Bucket {
	first, last := -1, -1
	for i, n := range h.counts {
		if n != 0 {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return nil
	}
	out := make([]Bucket, 0, last-first+1)
	for i := first; i <= last; i++ {
		lo, hi, hasLo, hasHi := h.shape.Bounds(i)
		out = append(out, Bucket{Lo: lo, Hi: hi, HasLo: hasLo, HasHi: hasHi, Unsigned: !h.shape.Linear && i > 0,
			Divided: h.shape.Unit > 1, Count: h.counts[i]})
	}
	return out
}

// UnitName labels the bounds of Bars: "ms", "" for none.
func (h *Histogram) UnitName() string {
	if h.unit > 1 && h.unitName != "" {
		return "ns"
	}
	return h.unitName
}

// Count is the number of values.
func (h *Histogram) Count() uint64 {
	var n uint64
	for _, c := range h.counts {
		n += c
	}
	return n
}

// Quantile estimates the value, in units, below which a share q of all values lies, by
// interpolation within its bucket. It is false where there are no values, and where
// that bucket is an open one: nobody knows how far its values reach.
func (h *Histogram) Quantile(q float64) (float64, bool) {
	total := h.Count()
	if total == 0 {
		return 0, false
	}
	rank, below := q*float64(total), 0.0
	bars := h.Bars()
	for _, b := range bars {
		next := below + float64(b.Count)
		if b.Count > 0 && rank <= next {
			v, ok := b.within((rank - below) / float64(b.Count))
			return v / float64(h.unit), ok
		}
		below = next
	}
	v, ok := bars[len(bars)-1].within(1)
	return v / float64(h.unit), ok
}

// within is the point at a share of the bucket; false of an open one.
func (b Bucket) within(share float64) (float64, bool) {
	lo, hi, open := b.float(b.Lo), b.float(b.Hi), !b.HasLo || !b.HasHi
	if b.Unsigned && !b.HasHi {
		hi, open = 1<<64, false
	}
	if open || hi-lo == 1 && !b.Divided {
		return lo, !open
	}
	return lo + share*(hi-lo), true
}

func (b Bucket) float(bound int64) float64 {
	if b.Unsigned {
		return float64(uint64(bound))
	}
	return float64(bound)
}

func (h *Histogram) String() string        { return "<histogram of " + format.Count(h.Count(), "value") + ">" }
func (h *Histogram) Type() string          { return "histogram" }
func (h *Histogram) Freeze()               {}
func (h *Histogram) Truth() starlark.Bool  { return h.Count() > 0 }
func (h *Histogram) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: histogram") }
func (h *Histogram) AttrNames() []string   { return []string{"buckets", "count", "quantile"} }

// Attr has buckets, count and quantile(q).
func (h *Histogram) Attr(name string) (starlark.Value, error) {
	switch name {
	case "count":
		return starlark.MakeUint64(h.Count()), nil
	case "buckets":
		return h.list(), nil
	case "quantile":
		return method("quantile", h, func(_ *starlark.Thread, args starlark.Tuple,
			kwargs []starlark.Tuple) (starlark.Value, error) {
			return h.quantile(args, kwargs)
		}), nil
	}
	return nil, nil
}

func (h *Histogram) quantile(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var q starlark.Value
	if err := starlark.UnpackArgs("quantile", args, kwargs, "q", &q); err != nil {
		return nil, err
	}
	f, ok := starlark.AsFloat(q)
	if !ok || !(f >= 0 && f <= 1) { // NaN is no share
		return nil, fmt.Errorf("quantile: got %s, want a share from 0 to 1", q)
	}
	v, ok := h.Quantile(f)
	if !ok {
		return starlark.None, nil
	}
	return starlark.Float(v), nil
}

// list gives record(lo =, hi =, count =) for each bucket; open bounds are None.
func (h *Histogram) list() starlark.Value {
	var out []starlark.Value
	for _, b := range h.Bars() {
		out = append(out, NewRecord([]string{"lo", "hi", "count"},
			[]starlark.Value{h.bound(b, b.Lo, b.HasLo), h.bound(b, b.Hi, b.HasHi), starlark.MakeUint64(b.Count)}))
	}
	return starlark.NewList(out)
}

// bound is a bound of b in units.
func (h *Histogram) bound(b Bucket, v int64, ok bool) starlark.Value {
	switch {
	case !ok:
		return starlark.None
	case h.unit > 1:
		return starlark.Float(b.float(v) / float64(h.unit))
	case b.Unsigned:
		return starlark.MakeUint64(uint64(v))
	}
	return starlark.MakeInt64(v)
}

// Binary merges with + and subtracts with -.
func (h *Histogram) Binary(op syntax.Token, y starlark.Value, _ starlark.Side) (starlark.Value, error) {
	o, ok := y.(*Histogram)
	if !ok || op != syntax.PLUS && op != syntax.MINUS {
		return nil, nil
	}
	a, b := *h.shape, *o.shape
	a.Off, b.Off = 0, 0
	if a != b || h.unit != o.unit {
		return nil, fmt.Errorf("histogram %s histogram: their buckets differ", op)
	}
	out := &Histogram{h.shape, slices.Clone(h.counts), h.unitName, h.unit}
	for i, n := range o.counts {
		if op == syntax.PLUS {
			out.counts[i] += n
		} else if out.counts[i] -= n; n > h.counts[i] {
			return nil, fmt.Errorf("histogram - histogram: a bucket would hold fewer than 0 values")
		}
	}
	return out, nil
}

// CompareSameType compares bucket by bucket.
func (h *Histogram) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	return equality(op, slices.Equal(h.counts, y.(*Histogram).counts), "histogram", "their .quantile(0.5) or .count")
}
