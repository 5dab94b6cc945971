package layout

import (
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Where the words of an aggregation lie in its map value: count, sum, extremes, buckets.

// quantilesSub is the precision of quantiles(): buckets are at most 1/8 wide.
const quantilesSub = 3

// ClaimSlots is the number of words of an extreme where it must be claimed.
const ClaimSlots = 8

// Signs says what the numbers are that are added to an aggregation, as far as it matters for their order.
type Signs struct {
	Signed   bool // some can be below 0
	Unsigned bool // some can be more than 63 bits hold
}

// Agg is the value layout of an aggregation or group, nil for other kinds.
func Agg(c *plan.Container) *wire.Agg { return AggSlots(c, 1, nil) }

// AggSlots is Agg for extremes of that many words, 1, or ClaimSlots on
// kernels before 5.12. signs are those of the members of a group by name, of another aggregation at "".
func AggSlots(c *plan.Container, slots int, signs map[string]Signs) *wire.Agg {
	p := &aggPlacer{slots: slots, signs: signs}
	a := p.place(c, "")
	if a != nil {
		a.Size = p.off
		a.Banks = 1
		if a.HasExtremes() {
			a.Banks = 2
		}
	}
	return a
}

type aggPlacer struct {
	off, slots int
	signs      map[string]Signs
}

func (p *aggPlacer) words(n int) int {
	at := p.off
	p.off += 8 * n
	return at
}

func (p *aggPlacer) place(c *plan.Container, name string) *wire.Agg {
	a := &wire.Agg{Count: -1, Sum: -1, Extremes: wire.NoExtremes, Slots: p.slots}
	start := p.off
	switch c.Kind {
	case plan.Count:
		a.Kind, a.Count = wire.AggCount, p.words(1)
	case plan.Total:
		a.Kind, a.Sum = wire.AggTotal, p.words(1)
	case plan.Mean:
		a.Kind, a.Count, a.Sum = wire.AggMean, p.words(1), p.words(1)
	case plan.Lowest:
		a.Kind = wire.AggLowest
		p.extremes(a, name, true, false)
	case plan.Highest:
		a.Kind = wire.AggHighest
		p.extremes(a, name, false, true)
	case plan.Stats:
		a.Kind, a.Count, a.Sum = wire.AggStats, p.words(1), p.words(1)
		p.extremes(a, name, true, true)
	case plan.Hist, plan.LHist, plan.Quantiles:
		a.Kind, a.Buckets = wire.AggHist, p.buckets(c)
	case plan.Group:
		a.Kind = wire.AggGroup
		for _, m := range c.Members {
			a.Members = append(a.Members, wire.AggMember{Name: m.Name, Agg: p.place(m.Agg, m.Name)})
		}
	case plan.Table, plan.Cell:
		return nil
	default:
		panic("layout: no place for a " + c.Kind.String())
	}
	a.Size = p.off - start
	return a
}

// extremes places those of the numbers that are added, of values with a sign where nothing says what they are.
func (p *aggPlacer) extremes(a *wire.Agg, name string, lowest, highest bool) {
	signs := p.signs[name]
	place := func() wire.Extremes {
		e := wire.NoExtremes
		if a.Count < 0 || signs.Signed && signs.Unsigned {
			e.Set = p.words(1)
		}
		if lowest {
			e.Lowest = p.extreme()
		}
		if highest {
			e.Highest = p.extreme()
		}
		return e
	}
	if signs.Signed || !signs.Unsigned {
		a.Extremes = place()
	}
	if signs.Unsigned {
		e := place()
		a.Unsigned = &e
	}
}

func (p *aggPlacer) extreme() int {
	if p.slots > 1 {
		return p.words(2 * p.slots)
	}
	return p.words(1)
}

func (p *aggPlacer) buckets(c *plan.Container) *wire.Buckets {
	b := &wire.Buckets{Unit: max(1, c.Unit), Sub: c.Sub, Lo: c.Lo, Hi: c.Hi, Step: c.Step}
	switch c.Kind {
	case plan.LHist:
		b.Linear = true
		b.Step = max(1, b.Step)
		b.N = int(wire.LinearBuckets(b.Lo, b.Hi, b.Step))
	case plan.Quantiles:
		b.Unit, b.Sub = 1, quantilesSub // the unit is for reading: a unit's part would be lost
		b.N = wire.LogBuckets(b.Sub)
	default:
		b.N = wire.LogBuckets(b.Sub)
	}
	b.Off = p.words(b.N)
	return b
}
