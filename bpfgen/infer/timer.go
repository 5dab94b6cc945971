package infer

import (
	"strconv"
	"strings"
	"time"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// A timer runs its program by the clock.
type timer struct {
	onePoint
	tree.Clock
}

// profile gives the target of profile:99hz, profile:hz:99.
func profile(_ finder, p *plan.Pattern) []*target {
	return []*target{{source: readTimer(p, true), text: p.Text, name: "profile", pos: p.Pos}}
}

// interval gives the target of interval:1s, interval:ms:100.
func interval(_ finder, p *plan.Pattern) []*target {
	return []*target{{source: readTimer(p, false), text: p.Text, name: "interval", pos: p.Pos}}
}

func readTimer(p *plan.Pattern, everyCPU bool) *timer {
	form := strings.Join(p.Args, ":")
	if len(p.Args) == 2 {
		form = p.Args[1] + p.Args[0]
	}
	if n, ok := strings.CutSuffix(form, "hz"); ok {
		hz, err := strconv.ParseUint(n, 10, 32)
		if err != nil || hz == 0 || hz > 1_000_000 {
			wrong(p.Pos, "%s: the rate is a whole number of hz from 1 to 1000000, such as profile:99hz", p.Text)
		}
		return &timer{Clock: tree.Clock{EveryCPU: everyCPU, Freq: hz}}
	}
	d, err := time.ParseDuration(form)
	if err != nil || d <= 0 {
		wrong(p.Pos, "%s: want a rate or a duration: profile:99hz, interval:1s, interval:100ms", p.Text)
	}
	return &timer{Clock: tree.Clock{EveryCPU: everyCPU, Period: uint64(d)}}
}

func (c *timer) attach(*target) tree.Attach { return tree.Attach{Way: c.Clock} }

func (c *timer) event(t *target, b *body) *event {
	return &event{b: b, point: t.text, profile: true, regs: true, clock: !c.EveryCPU}
}

// nobodys: a beat comes in whatever process runs; a sample is of that process.
func (c *timer) nobodys() bool { return !c.EveryCPU }
