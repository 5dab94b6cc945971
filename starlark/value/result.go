package value

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// What a script reads of an aggregation: an int, a mean, stats, a histogram.

// Result is what a script reads of an aggregation: an int, a float for a
// mean and in a unit, a record for stats, a histogram. Times are divided by the
// unit here; those of hist and lhist were divided before bucketing. Where nothing
// was added, count and total are 0 and mean, lowest and highest None.
func Result(c *plan.Container, s *State) starlark.Value {
	switch c.Kind {
	case plan.Count:
		return starlark.MakeInt64(s.Count)
	case plan.Total:
		return inUnits(c, Number{Bits: uint64(s.Sum)})
	case plan.Mean:
		return mean(c, s)
	case plan.Lowest:
		return ifSet(c, s, s.Lowest)
	case plan.Highest:
		return ifSet(c, s, s.Highest)
	case plan.Stats:
		s := *s
		s.Set = s.Set && s.Count != 0 // of no values, or of values with weight 0, there are no extremes
		return NewRecord(statsNames, []starlark.Value{
			starlark.MakeInt64(s.Count), mean(c, &s), inUnits(c, Number{Bits: uint64(s.Sum)}), ifSet(c, &s, s.Lowest),
			ifSet(c, &s, s.Highest)})
	case plan.Hist, plan.LHist, plan.Quantiles:
		return newHistogram(c, s)
	}
	panic("value: no result of a " + c.Kind.String())
}

// statsNames are the fields of the value of stats().
var statsNames = []string{"count", "mean", "total", "lowest", "highest"}

// inUnits is exact, as a mean is: nothing is lowest 0 of which the mean is 0.9.
func inUnits(c *plan.Container, v Number) starlark.Value {
	switch unit := float64(c.Unit); {
	case c.Unit <= 1 && v.High:
		return starlark.MakeUint64(v.Bits)
	case c.Unit <= 1:
		return starlark.MakeInt64(int64(v.Bits))
	case v.High:
		return starlark.Float(float64(v.Bits) / unit)
	default:
		return starlark.Float(float64(int64(v.Bits)) / unit)
	}
}

func ifSet(c *plan.Container, s *State, v Number) starlark.Value {
	if !s.Set {
		return starlark.None
	}
	return inUnits(c, v)
}

func mean(c *plan.Container, s *State) starlark.Value {
	if s.Count == 0 {
		return starlark.None
	}
	return starlark.Float(float64(s.Sum) / float64(s.Count) / float64(max(1, c.Unit)))
}
