// Package loss says in words what did not get through, where, and what can be
// done about it.
package loss

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

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
		"up to %s of %s not seen: the kernel skips a program while another runs on the same CPU",
		"aggregations then count too little by at most that", ofProbe},
	attach.LossUnseen: {"call",
		"%s of %s not seen: the kernel remembers a bounded number of open calls (before 6.14), or was in another probe",
		"of one function fentry: and fexit: see all", ofProbe},
	bpfgen.SiteFull: {"update", "%s of %s lost: all its entries are in use", "", ofContainer},
	bpfgen.SiteNoMem: {"update",
		"%s of %s lost: the kernel had no memory for a new entry, or another program removed it at once", "",
		ofContainer},
	bpfgen.SiteRing: {"event", "%s of %s lost: the ring buffer was full",
		"select with where=, aggregate with kernel=, or do less for each event", ofProbe},
	bpfgen.SiteKeep:    {"event", "%s of %s lost: interrupted others that were being kept", "", ofProbe},
	bpfgen.SiteScratch: {"event", "%s of %s lost: interrupted others that held all scratch memory", "", ofProbe},
	bpfgen.SiteError:   {"event", "%s of %s ended early", "", ofProbe},
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

// Of gives the losses of what is loaded, each thing once. complete says that the
// kernel counts the events that it drops itself.
func Of(unit *tree.Unit, loaded *attach.Loaded) (losses []attach.Loss, complete bool, err error) {
	losses, complete, err = loaded.Losses()
	return countedOnce(losses, func(probe int) bool {
		return slices.ContainsFunc(unit.Spans, func(s *tree.Span) bool { return s.Probe == probe && s.Nested })
	}), complete, err
}

// countedOnce takes the ends that had no start because there was no room for it
// off the ends without a start, and tells calls of functions (nested) from other
// starts.
func countedOnce(losses []attach.Loss, nested func(probe int) bool) (out []attach.Loss) {
	full := map[int]uint64{}
	for _, l := range losses {
		if l.Kind == bpfgen.SiteSpanFull {
			full[l.Probe] += l.Count
		}
	}
	for _, l := range losses {
		switch l.Kind {
		case bpfgen.SiteOrphanEnd:
			known := min(l.Count, full[l.Probe])
			full[l.Probe] -= known
			if l.Count -= known; l.Count == 0 {
				continue
			}
		case bpfgen.SiteOpenStart:
			if nested(l.Probe) {
				l.Kind = left
			}
		}
		out = append(out, l)
	}
	return out
}

// Describe gives the line for one loss: what, where, and what to do.
func Describe(p *plan.Plan, l attach.Loss) string {
	text, ok := texts[l.Kind]
	if !ok {
		text.noun, text.format = "loss", "%s of an unknown kind at %s"
	}
	var b strings.Builder
	fmt.Fprintf(&b, text.format, format.Count(l.Count, text.noun), nameOf(p, l, text.of))
	if l.Site != nil {
		if l.Site.What != "" && l.Kind == bpfgen.SiteError {
			b.WriteString(": " + l.Site.What)
		}
		if l.Site.Pos.IsValid() {
			b.WriteString(" (" + l.Site.Pos.String() + ")")
		}
	}
	if l.AnyCall {
		b.WriteString(", and counts that at system calls of whatever name and process")
	}
	if cure := cureOf(p, l, text); cure != "" {
		b.WriteString("; " + cure)
	}
	return b.String()
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

func nameOf(p *plan.Plan, l attach.Loss, of subject) string {
	if c := containerOf(p, l); of == ofContainer && c != nil {
		return c.Title()
	}
	return p.ProbeName(l.Probe)
}

// Unknown says that some losses could not be read.
func Unknown(err error) string { return fmt.Sprintf("some losses are not known: %v", err) }
