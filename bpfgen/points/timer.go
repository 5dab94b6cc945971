package points

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/duration"
	"github.com/startrace/startrace/internal/plan"
)

// The points profile: and interval:, how their rates and periods are read, and the message about a wrong one.

// A Timer runs its program by the clock.
type Timer struct {
	onePoint
	tree.Clock
}

// timer gives the target of profile:99hz, interval:1s, interval:ms:100.
func timer(_ search, p *plan.Pattern) []*Target {
	return []*Target{{Source: readTimer(p, kindOf(p).EveryCPU), Text: p.Long(), Name: p.Provider, Pos: p.Pos}}
}

func readTimer(p *plan.Pattern, everyCPU bool) *Timer {
	form := strings.Join(p.Args, ":")
	if len(p.Args) == 2 {
		form = p.Args[1] + p.Args[0]
	}
	if n, ok := strings.CutSuffix(form, "hz"); ok {
		hz, err := strconv.ParseUint(n, 10, 32)
		if err != nil || hz == 0 || hz > 1_000_000 {
			refusal.Wrong(p.Pos, "%s: the rate is a whole number of hz from 1 to 1000000, such as profile:99hz", p.Text)
		}
		return &Timer{Clock: tree.Clock{EveryCPU: everyCPU, Freq: hz}}
	}
	d, err := duration.Parse(form)
	if err == nil && d == 0 {
		refusal.Wrong(p.Pos, "%s: the time from one event to the next is 1ns or more, such as interval:100ms", p.Text)
	}
	if err != nil || d < 0 {
		refusal.Wrong(p.Pos, "%s: want a rate or a duration: profile:99hz, interval:1s, interval:100ms", p.Text)
	}
	return &Timer{Clock: tree.Clock{EveryCPU: everyCPU, Period: uint64(d)}}
}

func (c *Timer) attach(*Target) tree.Attach { return tree.Attach{Way: c.Clock} }

// Nobodys: a beat comes in whatever process runs; a sample is of that process.
func (c *Timer) Nobodys() bool { return !c.EveryCPU }
