package infer

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A counter runs its program at each so many-th event that the kernel or the CPU counts.
type counter struct {
	onePoint
	at tree.Counter
}

// perfEvents gives the targets of software:EVENT[:N] and hardware:EVENT[:N]. N
// is a number of events, or with hz how many samples a second there shall be.
func (u finder) perfEvents(p *plan.Pattern) []*target {
	events, err := kernel.MatchPerfEvents(p.Provider, p.Args[0])
	if err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	var out []*target
	for _, e := range events {
		at := tree.Counter{Group: p.Provider, Name: e.Name, Type: e.Type, Config: e.Config, Period: e.Period()}
		if len(p.Args) == 2 {
			at.Period, at.Freq = samplePeriod(p)
		}
		t := &target{source: &counter{at: at}, text: p.Text, name: e.Name, pos: p.Pos}
		if len(events) > 1 {
			t.text = strings.Join(append([]string{p.Provider, e.Name}, p.Args[1:]...), ":")
		}
		out = append(out, t)
	}
	return out
}

func (c *counter) attach(*target) tree.Attach { return tree.Attach{Way: c.at} }

func (c *counter) event(t *target, b *body) *event { return sample(t, b) }

// sample is e where a perf event hit: with the registers, and the address that the event is about.
func sample(t *target, b *body) *event {
	return &event{b: b, point: t.text, profile: true, regs: true, addr: perfAddress(b)}
}

// maxFreq is what no kernel allows.
const maxFreq = 1_000_000

// samplePeriod is N.
func samplePeriod(p *plan.Pattern) (period, freq uint64) {
	text, perSecond := strings.CutSuffix(p.Args[1], "hz")
	n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 0, 63)
	switch {
	case err != nil || n == 0:
		wrong(p.Pos, "%s: want the number of events from one sample to the next, such as %s:%s:1000, or a rate, "+
			"such as %s:%s:99hz", p.Text, p.Provider, p.Args[0], p.Provider, p.Args[0])
	case perSecond && n > maxFreq:
		wrong(p.Pos, "%s: the rate is from 1hz to %dhz", p.Text, maxFreq)
	case perSecond:
		return 0, n
	}
	return n, 0
}

// perfAddress is e.addr: the address that the event is about, such as that of
// a page fault. It follows the registers and the period in struct
// bpf_perf_event_data (include/uapi/linux/bpf_perf_event.h; from 4.17).
func perfAddress(b *body) func(plan.Pos) val {
	return func(pos plan.Pos) val {
		return exprVal(load(ctxPlace(b, kernel.RegisterOffsets("").UserSize+8, pos), types.U64, pos))
	}
}
