package wire

import (
	"math"
	"math/bits"
)

// The words of an aggregation, buckets of histograms, extremes.

// AggKind is the kind of an aggregation.
type AggKind uint8

// The kinds of aggregations.
const (
	AggCount AggKind = iota
	AggTotal
	AggMean
	AggLowest
	AggHighest
	AggStats
	AggHist
	AggGroup
)

// An Agg is the map value of an aggregation: 64-bit words, all zero at first.
// An offset is -1 where the kind has no such word.
type Agg struct {
	// Kind says which of the other fields count.
	Kind AggKind
	// Count is a u64: how often (weights included).
	Count int
	// Sum is a s64.
	Sum int
	// Extremes are those of values with a sign, Unsigned those of values of 64 bits without one, which would need a
	// 65th to be compared with them: readers do that. nil: no such value is added.
	Extremes
	Unsigned *Extremes
	// Slots is the number of words of an extreme: 1, or more where the kernel
	// has no compare-and-exchange (before 5.12). Then a word is claimed by an
	// atomic add to the word that follows it, so an extreme takes 2*Slots
	// words: value, claim, value, claim …
	Slots int
	// Buckets describes a histogram, nil for others.
	Buckets *Buckets
	// Members of a group.
	Members []AggMember
	// Size of all of it, a multiple of 8.
	Size int
	// Banks is 2 where a map value is all of this twice, one behind the other:
	// programs add to the one that the container's epoch names (odd: the second),
	// and user space reads and empties the other. Extremes need it, of which a
	// part cannot be had as a difference. Otherwise 1.
	Banks int
}

// HasExtremes reports whether a part of the updates cannot be had as the difference of two readings.
func (a *Agg) HasExtremes() bool {
	for _, m := range a.Members {
		if m.Agg.HasExtremes() {
			return true
		}
	}
	return a.Lowest >= 0 || a.Highest >= 0 || a.Unsigned != nil
}

// Extremes are the places of the least and the greatest of some values.
type Extremes struct {
	// Lowest and Highest are Slots words each, encoded so that zero is "none
	// yet" and the greatest unsigned word wins: see EncodeLowest.
	Lowest, Highest int
	// Set is a word that is not 0 once a value was added; -1 where Count says it.
	Set int
}

// ExtremesOf are the places for a value of a type of 64 bits without a sign, or of another; unsigned says how they are
// encoded. What fits into either goes where there is one.
func (a *Agg) ExtremesOf(word bool) (e Extremes, unsigned bool) {
	if a.Unsigned != nil && (word || a.Extremes == NoExtremes) {
		return *a.Unsigned, true
	}
	return a.Extremes, false
}

// NoExtremes are those of a kind that has none.
var NoExtremes = Extremes{Lowest: -1, Highest: -1, Set: -1}

// ValueSize is the size of a map value.
func (a *Agg) ValueSize() int { return a.Size * max(1, a.Banks) }

// An AggMember is a member of a group; the offsets in its Agg count from the
// start of the group's value.
type AggMember struct {
	// Name is the member's in the script.
	Name string
	Agg  *Agg
}

// Member finds the member of that name; "" is a itself.
func (a *Agg) Member(name string) *Agg {
	if name == "" {
		return a
	}
	for _, m := range a.Members {
		if m.Name == name {
			return m.Agg
		}
	}
	return nil
}

// The encodings of extremes map the order of int64 to that of words so that
// 0 is the least: an element that was just inserted needs no mark. The words
// of the least value (EncodeHighest) and of the greatest (EncodeLowest) are
// 0 too, which is why Set exists. Of values without a sign the greatest is kept as
// it is, and the least by its complement.

// EncodeHighest gives the word of v for an extreme that keeps the greatest.
func EncodeHighest(v int64) uint64 { return uint64(v) ^ 1<<63 }

// EncodeLowest gives the word of v for an extreme that keeps the least.
func EncodeLowest(v int64) uint64 { return uint64(v) ^ (1<<63 - 1) }

// DecodeHighest undoes EncodeHighest.
func DecodeHighest(w uint64) int64 { return int64(w ^ 1<<63) }

// DecodeLowest undoes EncodeLowest.
func DecodeLowest(w uint64) int64 { return int64(w ^ (1<<63 - 1)) }

// Buckets is a histogram: N u64 counters from Off. A value is divided by
// Unit (rounding down) before it is sorted in.
//
// Linear: bucket 0 is below Lo, then Step wide ones up to Hi, the last is
// Hi and above. Otherwise by powers of two: bucket 0 is negative values; the
// others, counted from 1, hold v itself below 2^(Sub+1), above that 2^Sub
// buckets for each power of two. With Sub 0 that is: bucket 1 is zero, bucket
// 2+i is [2^i, 2^(i+1)).
type Buckets struct {
	Off, N int
	Unit   int64
	Linear bool
	Sub    int
	Lo, Hi int64
	Step   int64
}

// LogBuckets is the number of buckets of a histogram by powers of two, with
// values up to 2^64-1.
func LogBuckets(sub int) int { return 1 + (65-sub)<<sub }

// LinearBuckets is the number of buckets between lo and hi, which is greater, and
// of those below and above. What lies between may take all of 64 bits.
func LinearBuckets(lo, hi, step int64) uint64 {
	return 3 + (uint64(hi)-uint64(lo)-1)/uint64(step)
}

// IndexUnsigned gives the bucket of v.
func (b *Buckets) IndexUnsigned(v uint64) int {
	v /= uint64(max(1, b.Unit))
	switch {
	case !b.Linear:
		return 1 + b.log(v)
	case v > math.MaxInt64 || int64(v) >= b.Hi:
		return b.N - 1
	case int64(v) < b.Lo:
		return 0
	}
	return 1 + int((v-uint64(b.Lo))/uint64(b.Step))
}

// Index gives the bucket of v.
func (b *Buckets) Index(v int64) int {
	v = floorDiv(v, b.Unit)
	if b.Linear {
		switch {
		case v < b.Lo:
			return 0
		case v >= b.Hi:
			return b.N - 1
		}
		return 1 + int(uint64(v-b.Lo)/uint64(b.Step))
	}
	if v < 0 {
		return 0
	}
	return 1 + b.log(uint64(v))
}

// log is the index of v among the buckets of values that are not negative.
func (b *Buckets) log(v uint64) int {
	shift := max(0, bits.Len64(v)-1-b.Sub)
	return shift<<b.Sub + int(v>>shift)
}

// Bounds gives the range of bucket i in units: lo ≤ v < hi. The first and
// the last bucket are open: there ok of that side is false. Those of powers of
// two are unsigned numbers.
func (b *Buckets) Bounds(i int) (lo, hi int64, hasLo, hasHi bool) {
	if b.Linear {
		return b.edge(i - 1), b.edge(i), i > 0, i < b.N-1
	}
	if i == 0 {
		return 0, 0, false, true
	}
	l, h := b.logLow(i-1), b.logLow(i)
	return int64(l), int64(h), true, h > l
}

// edge is where the linear bucket i ends: Lo for the one below it.
func (b *Buckets) edge(i int) int64 {
	switch {
	case i < 0:
		return 0
	case i >= b.N-2:
		return b.Hi
	}
	return int64(uint64(b.Lo) + uint64(i)*uint64(b.Step))
}

// logLow is the least value of bucket i among the ones that are not negative.
func (b *Buckets) logLow(i int) uint64 {
	if i < 2<<b.Sub {
		return uint64(i)
	}
	shift := i>>b.Sub - 1
	return uint64(i-shift<<b.Sub) << shift
}

func floorDiv(a, b int64) int64 {
	if b <= 1 {
		return a
	}
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
