package points

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The points software:EVENT and hardware:EVENT: how many events lie between two samples, or their rate.

// A Counter runs its program at each so many-th event that the kernel or the CPU counts.
type Counter struct {
	onePoint
	// At is what is counted, and how much of it from one event to the next.
	At tree.Counter
}

// perfEvents gives the targets of software:EVENT[:N] and hardware:EVENT[:N]. N
// is a number of events, or with hz how many samples a second there shall be.
func (s search) perfEvents(p *plan.Pattern) []*Target {
	events, err := kernel.MatchPerfEvents(p.Provider, p.Args[0])
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	var out []*Target
	for _, e := range events {
		at := tree.Counter{Group: p.Provider, Name: e.Name, Type: e.Type, Config: e.Config, Period: e.Period()}
		if len(p.Args) == 2 {
			at.Period, at.Freq = samplePeriod(p)
		}
		t := &Target{Source: &Counter{At: at}, Text: p.Long(), Name: e.Name, Pos: p.Pos}
		if len(events) > 1 {
			t.Text = strings.Join(append([]string{p.Provider, e.Name}, p.Args[1:]...), ":")
		}
		out = append(out, t)
	}
	return out
}

func (c *Counter) attach(*Target) tree.Attach { return tree.Attach{Way: c.At} }

// maxFreq is what no kernel allows.
const maxFreq = 1_000_000

// samplePeriod is N.
func samplePeriod(p *plan.Pattern) (period, freq uint64) {
	text, perSecond := strings.CutSuffix(p.Args[1], "hz")
	n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 0, 63)
	switch {
	case err != nil || n == 0:
		refusal.Wrong(p.Pos, "%s: want the number of events from one sample to the next, such as %s:%s:1000, or a "+
			"rate, such as %s:%s:99hz", p.Text, p.Provider, p.Args[0], p.Provider, p.Args[0])
	case perSecond && n > maxFreq:
		refusal.Wrong(p.Pos, "%s: the rate is from 1hz to %dhz", p.Text, maxFreq)
	case perSecond:
		return 0, n
	}
	return n, 0
}
