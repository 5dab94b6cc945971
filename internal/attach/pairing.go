package attach

import (
	"slices"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Starts and ends that are unpaired while a span is attached or detached are no loss.
//
// The programs of a span are attached one after another, the ends first. Those of perf tracepoints are taken off in any
// order. Threads go on meanwhile, so some starts have no end that is seen, and some ends no start. That is no loss: of
// the kinds of losses that are about pairs, only what is counted while all programs of the probe are attached is one.
//
// The counters in the kernel go on all the time. So of each such site the counts that do not belong to the report are
// kept here (pairing), and subtracted. With a span of two programs and a read() that blocks in another process:
//
//	time  what happens                                          counter  before  at  reported
//	   1  the end's program is attached
//	   2  the read() returns: an end without a start                  1       0   –         1
//	   3  the start's program is attached (pairsFrom)                 1       1   –         0
//	   4  an end really has no start: a loss                          2       1   –         1
//	   5  the programs begin to be taken off (pairsUntil)             2       1   2         1
//	   6  the start's is gone, and a read() begins and returns        3       1   2         1
//
// Nothing is reported before time 3, as the probe is not attached yet. A probe that is disabled and enabled again
// begins anew at 3, and keeps what it had to report.

// isPairing reports whether losses of a kind are about starts and ends that belong together.
func isPairing(kind bpfgen.SiteKind) bool {
	switch kind {
	case bpfgen.SiteOpenStart, bpfgen.SiteOrphanEnd, bpfgen.SiteSpanFull, bpfgen.SiteSpanRace:
		return true
	}
	return false
}

// siteCount is what site i has counted that is to be reported.
func (l *Loaded) siteCount(i int) uint64 {
	p := l.pairings[i]
	if p.off {
		return p.at - p.before
	}
	return l.sites.count(i) - p.before
}

// pairingSites calls f for the sites of pairs of the probes of programs.
func (l *Loaded) pairingSites(programs []*program, f func(i int, p *pairing)) {
	probes := map[int]bool{}
	for _, p := range programs {
		probes[p.Probe] = true
	}
	for i, s := range l.unit.Sites {
		if !isPairing(s.Kind) || !probes[s.Probe] {
			continue
		}
		p := l.pairings[i]
		f(i, &p)
		if l.pairings == nil {
			l.pairings = map[int]pairing{}
		}
		l.pairings[i] = p
	}
}

// pairsFrom counts pairs from now on, when programs have been attached. A start that was seen before, whose end may not
// have been, is forgotten, and the first end of a thread is once more no loss.
func (l *Loaded) pairsFrom(programs []*program) error {
	if err := emptySpans(l, programs, tree.SpanMap, tree.EndsMap); err != nil {
		return err
	}
	l.pairingSites(programs, func(i int, p *pairing) {
		if p.on && !p.off {
			return
		}
		*p = pairing{before: l.sites.count(i) - (p.at - p.before), on: true}
	})
	return nil
}

// pairsAnew counts pairs from now on, when starts have come in the place of others (TakeOver). What they have begun
// goes on. The next end of a thread, whose start another program may have seen, is no loss.
func pairsAnew(l *Loaded, programs []*program) error {
	if err := emptySpans(l, programs, tree.EndsMap); err != nil {
		return err
	}
	l.pairingSites(programs, func(i int, p *pairing) { *p = pairing{before: l.sites.count(i), on: true} })
	return nil
}

// emptySpans empties maps of the spans of the probes of programs: those that are named by the number of a span.
func emptySpans(l *Loaded, programs []*program, names ...func(int) string) error {
	for i, s := range l.unit.Tree.Spans {
		if s.Nested || s.Key.Kind != types.Bot ||
			!slices.ContainsFunc(programs, func(p *program) bool { return p.Probe == s.Probe }) {
			continue
		}
		for _, name := range names {
			if m := l.maps[name(i)]; m != nil {
				if err := empty(m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pairsUntil is called before programs are taken off. What happens to pairs after it is not counted.
func (l *Loaded) pairsUntil(programs []*program) {
	l.pairingSites(programs, func(i int, p *pairing) {
		if p.on && !p.off {
			p.at, p.off = l.sites.count(i), true
		}
	})
}
