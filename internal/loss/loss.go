// Package loss says in words what did not get through, where, and what can be
// done about it.
package loss

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// The words of losses and their usual remedy, a row of `texts` for each kind (ring full, entries in use, skipped by the
// kernel), and their numbers.

// A text says in words what a kind of loss is and what to change. The first %s
// is the number with the noun, the second the probe or the container it concerns.
type text struct {
	noun   string
	format string
	cure   string
	// of says what the second %s names.
	of subject
}

type subject uint8

const (
	ofProbe subject = iota
	ofContainer
)

var texts = map[bpfgen.SiteKind]text{
	attach.LossMissed: {"event",
		"%s of %s not seen: the kernel skips a program while another runs on the same CPU",
		"aggregations then count too little by at most that; --exact misses no system call, and " +
			"rawtracepoint: and fentry: see what comes in interrupts", ofProbe},
	attach.LossChildren: {"new process",
		"up to %s not followed%.0s: the kernel skips a program while another runs on the same CPU",
		"nothing of what they do is seen", ofProbe},
	attach.LossUnseen: {"call",
		"up to %s of %s not seen: the kernel remembers a bounded number of open calls (before 6.14), or was in " +
			"another probe, and counts those of all processes",
		"of one function fentry: and fexit: see all", ofProbe},
	bpfgen.SiteFull: {"update", "%s of %s lost: all its entries are in use", "", ofContainer},
	bpfgen.SiteNoMem: {"update",
		"%s of %s lost: the kernel had no memory for a new entry, or another program removed it at once", "",
		ofContainer},
	bpfgen.SiteRing: {"event", "%s of %s lost: the ring buffer was full",
		"select with where=, aggregate with kernel=, or do less for each event", ofProbe},
	bpfgen.SiteKeep:    {"event", "%s of %s lost: interrupted others that were being kept", "", ofProbe},
	bpfgen.SiteScratch: {"event", "%s of %s lost: interrupted others that held all scratch memory", "", ofProbe},
	bpfgen.SiteBelow: {"event",
		"%s of %s not seen: they are of locks of startrace's own tables, which other probes had",
		"", ofProbe},
	bpfgen.SiteError: {"event", "%s of %s ended early", "", ofProbe},
	bpfgen.SiteOrphanEnd: {"end", "%s of %s had no start",
		"calls that began before the tracing, that seccomp denied, or whose start was lost", ofProbe},
	bpfgen.SiteOpenStart: {"call", "%s of %s never ended: another one began before, of the same thread or key", "",
		ofProbe},
	left: {"call", "%s of %s did not return: left by longjmp, an exception or exec, or the return was not seen", "",
		ofProbe},
	bpfgen.SiteSpanFull: {"call", "%s of %s lost: too many were open at once", "select with where=", ofProbe},
	bpfgen.SiteSpanDeep: {"call", "%s of %s lost: further in than 64 others",
		"the kernel sees no more returns on one stack; uprobe: sees all the starts", ofProbe},
	bpfgen.SiteReturnDeep: {"return", "%s of %s not seen: further in than 64 others whose returns are probed",
		"the kernel sees no more returns on one stack; uprobe: sees all the starts", ofProbe},
	bpfgen.SiteTimeout:  {"call", "%s of %s took longer than timeout=", "", ofProbe},
	bpfgen.SiteSpanRace: {"pair", "%s of %s lost: an end came together with another start of its key", "", ofProbe},
	bpfgen.SiteStackFull: {"stack", "%s of %s lost: the table of stacks is full",
		"keep more with limits(stacks = N), select with where=, or take fewer frames: e.stack(8)", ofProbe},
	bpfgen.SiteStackClash: {"stack", "%s of %s lost: another one has the same id", "", ofProbe},
	bpfgen.SiteContention: {"value", "%s of %s may be missing in the extremes: too many CPUs wrote at once", "",
		ofContainer},
}

// left is the kind of a loss of calls of functions that did not return, which
// programs count as starts that found an open one.
const left = bpfgen.SiteKind(253)

// A Loss is one of a part of the run.
type Loss struct {
	attach.Loss
	// Taken is how many ends without a start are taken for those of starts that had no room.
	Taken uint64
	plan  *plan.Plan
}

// Of gives the losses of what is loaded, each thing once for each probe.
// complete says that the kernel counts the events that it drops itself.
func Of(p *plan.Plan, loaded *attach.Loaded) (losses []Loss, complete bool, err error) {
	counted, complete, err := loaded.Losses()
	for _, l := range counted {
		losses = append(losses, Loss{Loss: l, plan: p})
	}
	return joined(countedOnce(losses)), complete, err
}

// joined adds up the losses of one kind at one place of a probe: each point of a list counts its own calls.
func joined(losses []Loss) (out []Loss) {
	for _, l := range losses {
		i := slices.IndexFunc(out, func(o Loss) bool {
			return o.Kind == l.Kind && o.Probe == l.Probe && o.Site != nil && l.Site != nil &&
				o.Site.Pos == l.Site.Pos && o.Site.What == l.Site.What && o.Site.Container == l.Site.Container &&
				o.span() == l.span()
		})
		if i < 0 {
			out = append(out, l)
			continue
		}
		out[i].Count, out[i].Taken = out[i].Count+l.Count, out[i].Taken+l.Taken
	}
	return out
}

// countedOnce takes the ends that had no start because there was no room for it
// off the ends without a start, and tells calls of functions (nested) from other
// starts. Nobody knows which ends those are: as many as there were such starts
// are taken for theirs.
func countedOnce(losses []Loss) (out []Loss) {
	type call struct {
		probe int
		span  *tree.Span
	}
	orphans := map[call]uint64{}
	for _, l := range losses {
		if l.Kind == bpfgen.SiteOrphanEnd {
			orphans[call{l.Probe, spanOf(l.Loss)}] += l.Count
		}
	}
	taken := map[call]uint64{}
	for i := range losses {
		if l := &losses[i]; l.Kind == bpfgen.SiteSpanFull {
			of := call{l.Probe, spanOf(l.Loss)}
			l.Taken = min(l.Count, orphans[of])
			orphans[of] -= l.Taken
			taken[of] += l.Taken
		}
	}
	for _, l := range losses {
		span := spanOf(l.Loss)
		switch {
		case l.Kind == bpfgen.SiteOrphanEnd:
			of := call{l.Probe, span}
			n := min(l.Count, taken[of])
			taken[of] -= n
			if l.Count -= n; l.Count == 0 {
				continue
			}
		case l.Kind == bpfgen.SiteOpenStart && span != nil && span.Nested:
			l.Kind = left
		}
		out = append(out, l)
	}
	return out
}

// spanOf is the span of which starts or ends were lost; nil: none.
func spanOf(l attach.Loss) *tree.Span {
	if l.Site == nil {
		return nil
	}
	return l.Site.Span
}

// describe gives the line for one loss: what, where, and what to do.
func describe(l Loss, more string) string {
	p := l.plan
	text, ok := texts[l.Kind]
	if !ok {
		text.noun, text.format = "loss", "%s of an unknown kind at %s"
	}
	var b strings.Builder
	fmt.Fprintf(&b, text.format, numberOf(l, text.noun), nameOf(p, l.Loss, text.of))
	if l.Site != nil {
		if l.Site.What != "" && l.Kind == bpfgen.SiteError {
			b.WriteString(": " + l.Site.What)
		}
		if l.Site.Pos.IsValid() {
			b.WriteString(" (" + l.Site.Pos.String() + ")")
		}
	}
	b.WriteString(more)
	if l.Taken > 0 {
		fmt.Fprintf(&b, ", and %s without a start %s taken for theirs", format.Count(l.Taken, "end"), areOf(l.Taken))
	}
	b.WriteString(ofOthers(l))
	if cure := cureOf(p, l.Loss, text); cure != "" {
		b.WriteString("; " + cure)
	}
	return b.String()
}

// numberOf is the number of a loss with its noun. Of what the kernel has skipped it is a bound, but where calls were
// counted beside the programs, and the probe wants all of them.
func numberOf(l Loss, noun string) string {
	switch n := format.Count(l.Count, noun); {
	case l.Kind != attach.LossMissed:
		return n
	case l.Made == 0:
		return "up to " + n
	case l.Exact && l.wantsAll():
		return fmt.Sprintf("%d of the %s", l.Count, format.Count(l.Made, "call"))
	default:
		return fmt.Sprintf("up to %d of the %s", l.Count, format.Count(l.Made, "call"))
	}
}

// ofOthers says of which other events the number of a loss can be.
func ofOthers(l Loss) string {
	switch traced := l.plan.Target; {
	case l.AnyCall:
		return ", and counts that at system calls of whatever name and process"
	case l.Kind == attach.LossMissed && l.Made == 0 && (traced.PID > 0 || traced.Passing()):
		return ", and counts that in all processes"
	}
	return ""
}

// wantsAll reports whether each event of the probe's points is one of the probe.
func (l Loss) wantsAll() bool {
	p := l.probe()
	return p != nil && p.Where == nil && !slices.ContainsFunc(p.Points, func(p plan.Point) bool {
		_, plain := p.(*plan.Pattern)
		return !plain
	})
}

// DescribeFull is Describe for what user code could not add to a container.
func DescribeFull(p value.FullPlace) string {
	text := texts[bpfgen.SiteFull]
	out := fmt.Sprintf(text.format, format.Count(p.Count, text.noun), p.Container.Title())
	if p.Pos.IsValid() {
		out += " (" + p.Pos.String() + ")"
	}
	return out + "; " + fullCure(p.Container)
}

func areOf(n uint64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func nameOf(p *plan.Plan, l attach.Loss, of subject) string {
	if c := containerOf(p, l); of == ofContainer && c != nil {
		return c.Title()
	}
	return p.ProbeName(l.Probe)
}

// Unknown says that some losses could not be read.
func Unknown(err error) string { return fmt.Sprintf("some losses are not known: %v", err) }

// Uncounted says that the kernel does not tell all.
const Uncounted = "this kernel does not count the events that it drops itself, as while another program runs on the " +
	"same CPU (5.12 and later do)"

// Left says how many events of a probe had been recorded and were not handled.
func Left(n uint64, probe string) string {
	return fmt.Sprintf("%s of %s lost: the run ended before they were handled; give the end longer (--drain), "+
		"or select with where=, aggregate with kernel=, or do less for each event", format.Count(n, "event"), probe)
}

// MissedCalls says how often a function was not called that every() calls, and where it is.
func MissedCalls(period time.Duration, where string, missed, all uint64) string {
	return fmt.Sprintf("every(%q)%s missed %d of %s: functions of the script took longer, or startrace got no CPU; "+
		"the time that has passed is what its function gets: every(%[1]q, lambda passed: …)", period, where, missed,
		format.Count(all, "call"))
}
