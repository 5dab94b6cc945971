package value

import (
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// A State is what an aggregation has gathered under one key. Which fields
// count depends on the kind.
type State struct {
	Count   int64 // count, mean, stats; hist: the sum of the buckets
	Sum     int64 // total, mean, stats
	Lowest  int64 // lowest, stats; if Set
	Highest int64 // highest, stats; if Set
	Set     bool  // whether a value was added
	Buckets []uint64
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
func (s *State) add(c *plan.Container, v, weight int64) {
	if c.Kind == plan.Count {
		s.Count += v * weight
		s.Set = true
		return
	}
	if b := bucketsOf(c); b != nil {
		if s.Buckets == nil {
			s.Buckets = make([]uint64, b.N)
		}
		s.Buckets[b.Index(v)] += uint64(weight)
	}
	if weight != 0 { // one of weight 0 is no value
		s.extremes(v, v)
	}
	s.Count += weight
	s.Sum += v * weight
}

func (s *State) extremes(lo, hi int64) {
	if !s.Set || lo < s.Lowest {
		s.Lowest = lo
	}
	if !s.Set || hi > s.Highest {
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
	if s.Buckets == nil && o.Buckets != nil {
		s.Buckets = make([]uint64, len(o.Buckets))
	}
	for i, n := range o.Buckets {
		s.Buckets[i] += n
	}
}

// subtract takes away what an earlier reading of s had. Extremes cannot be
// subtracted and stay.
func (s *State) subtract(o *State) {
	s.Count -= o.Count
	s.Sum -= o.Sum
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

// clone copies s with its buckets.
func (s *State) clone() State {
	c := *s
	c.Buckets = append([]uint64(nil), s.Buckets...)
	return c
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
	if a.Set >= 0 {
		s.Set = order.Uint64(val[a.Set:]) != 0
	}
	if a.Lowest >= 0 {
		s.Lowest = wire.DecodeLowest(greatestWord(a, val[a.Lowest:]))
	}
	if a.Highest >= 0 {
		s.Highest = wire.DecodeHighest(greatestWord(a, val[a.Highest:]))
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

// greatestWord gives the winner of an extreme's slots; with several each word
// is followed by its claim.
func greatestWord(a *wire.Agg, val []byte) uint64 {
	var best uint64
	for i := range max(1, a.Slots) {
		best = max(best, order.Uint64(val[16*i:]))
	}
	return best
}
