package value

import (
	"math"
	"slices"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// What an aggregation has gathered under a key: how a value is added, merged, read from words of the map, and how fine
// quantiles() are (`quantilesSub`).

// A State is what an aggregation has gathered under one key. Which fields
// count depends on the kind.
type State struct {
	Count   int64  // count, mean, stats; hist: the sum of the buckets
	Sum     int64  // total, mean, stats
	Lowest  Number // lowest, stats; if Set
	Highest Number // highest, stats; if Set
	Set     bool   // whether a value was added
	// Buckets are the counts of a histogram's buckets, by their numbers (wire.Buckets).
	Buckets []uint64
	// shared: Buckets are those of another State, too, and are copied before they change. A snapshot of many histograms
	// takes no more than one of counts.
	shared bool
}

// A Number is an int of 64 bits, its Bits: with a sign, or without one where it is High, which means that 63 bits do
// not suffice for it.
type Number struct {
	Bits uint64
	High bool
}

func unsignedNumber(v uint64) Number { return Number{v, v > math.MaxInt64} }

func (n Number) less(m Number) bool {
	if n.High != m.High {
		return m.High
	}
	return int64(n.Bits) < int64(m.Bits)
}

// numberOf is an int as aggregations take it; ok is false of one that does not fit in 64 bits.
func numberOf(i starlark.Int) (n Number, ok bool) {
	if v, ok := i.Int64(); ok {
		return Number{Bits: uint64(v)}, true
	}
	v, ok := i.Uint64()
	return unsignedNumber(v), ok
}

// quantilesSub is the precision of quantiles(), that of bpfgen/layout: a
// bucket is at most 1/8 wide.
const quantilesSub = 3

// bucketsOf gives the buckets of a histogram, nil for other kinds. They are
// the same as those that kernel halves use: see the test against
// bpfgen/layout.
func bucketsOf(c *plan.Container) *wire.Buckets {
	b := &wire.Buckets{Unit: max(1, c.Unit), Sub: c.Sub, Lo: c.Lo, Hi: c.Hi, Step: c.Step}
	switch c.Kind {
	case plan.Hist:
	case plan.Quantiles:
		b.Unit, b.Sub = 1, quantilesSub
	case plan.LHist:
		b.Linear, b.Step = true, max(1, c.Step)
		b.N = int(wire.LinearBuckets(b.Lo, b.Hi, b.Step))
		return b
	default:
		return nil
	}
	b.N = wire.LogBuckets(b.Sub)
	return b
}

// add puts v into s with a weight.
func (s *State) add(c *plan.Container, v Number, weight int64) {
	if c.Kind == plan.Count {
		s.Count += int64(v.Bits) * weight
		s.Set = true
		return
	}
	if b := bucketsOf(c); b != nil {
		s.own(b.N)
		i := b.Index(int64(v.Bits))
		if v.High {
			i = b.IndexUnsigned(v.Bits)
		}
		s.Buckets[i] += uint64(weight)
	}
	if weight != 0 { // one of weight 0 is no value
		s.extremes(v, v)
	}
	s.Count += weight
	s.Sum += int64(v.Bits) * weight
}

func (s *State) extremes(lo, hi Number) {
	if !s.Set || lo.less(s.Lowest) {
		s.Lowest = lo
	}
	if !s.Set || s.Highest.less(hi) {
		s.Highest = hi
	}
	s.Set = true
}

// Merge adds what o has gathered.
func (s *State) Merge(o *State) {
	s.Count += o.Count
	s.Sum += o.Sum
	if o.Set {
		s.extremes(o.Lowest, o.Highest)
	}
	switch {
	case o.Buckets == nil:
	case s.Buckets == nil:
		s.Buckets, s.shared, o.shared = o.Buckets, true, true
	default:
		s.own(len(o.Buckets))
		for i, n := range o.Buckets {
			s.Buckets[i] += n
		}
	}
}

// own makes n buckets that s shares with no other State.
func (s *State) own(n int) {
	if s.Buckets == nil {
		s.Buckets = make([]uint64, n)
	}
	if s.shared {
		s.Buckets, s.shared = slices.Clone(s.Buckets), false
	}
}

// subtract takes away what an earlier reading of s had. Extremes cannot be
// subtracted and stay.
func (s *State) subtract(o *State) {
	s.Count -= o.Count
	s.Sum -= o.Sum
	if o.Buckets != nil {
		s.own(len(o.Buckets))
	}
	for i, n := range o.Buckets {
		s.Buckets[i] -= n
	}
}

// empty reports whether nothing was added, as far as can be seen: a total of
// zero is empty.
func (s *State) empty(kind plan.ContainerKind) bool {
	switch kind {
	case plan.Total:
		return s.Sum == 0
	case plan.Lowest, plan.Highest:
		return !s.Set
	}
	return s.Count == 0
}

// clone copies s. Neither sees what is added to the other.
func (s *State) clone() State {
	s.shared = s.Buckets != nil
	return *s
}

// readState decodes the words of an aggregation.
func readState(a *wire.Agg, val []byte) State {
	var s State
	if a.Count >= 0 {
		s.Count = int64(order.Uint64(val[a.Count:]))
		s.Set = s.Count != 0
	}
	if a.Sum >= 0 {
		s.Sum = int64(order.Uint64(val[a.Sum:]))
	}
	if a.Extremes != wire.NoExtremes || a.Unsigned != nil {
		readExtremes(&s, a, val)
	}
	if b := a.Buckets; b != nil {
		s.Buckets = make([]uint64, b.N)
		for i := range s.Buckets {
			s.Buckets[i] = order.Uint64(val[b.Off+8*i:])
			s.Count += int64(s.Buckets[i])
		}
		s.Set = s.Count != 0
	}
	return s
}

// readExtremes decodes those of values with a sign and of others; s is set if a count says so.
func readExtremes(s *State, a *wire.Agg, val []byte) {
	all := State{}
	of := func(e wire.Extremes, lowest, highest func(uint64) Number) {
		if e.Set >= 0 && order.Uint64(val[e.Set:]) == 0 || e.Set < 0 && !s.Set {
			return
		}
		var lo, hi Number
		if e.Lowest >= 0 {
			lo = lowest(greatestWord(a, val[e.Lowest:]))
		}
		if e.Highest >= 0 {
			hi = highest(greatestWord(a, val[e.Highest:]))
		}
		all.extremes(lo, hi)
	}
	if a.Extremes != wire.NoExtremes {
		of(a.Extremes, func(w uint64) Number { return Number{Bits: uint64(wire.DecodeLowest(w))} },
			func(w uint64) Number { return Number{Bits: uint64(wire.DecodeHighest(w))} })
	}
	if a.Unsigned != nil {
		of(*a.Unsigned, func(w uint64) Number { return unsignedNumber(^w) }, unsignedNumber)
	}
	s.Lowest, s.Highest, s.Set = all.Lowest, all.Highest, all.Set
}

// greatestWord gives the winner of an extreme's slots; with several each word
// is followed by its claim.
func greatestWord(a *wire.Agg, val []byte) uint64 {
	var best uint64
	for i := range max(1, a.Slots) {
		best = max(best, order.Uint64(val[16*i:]))
	}
	return best
}
