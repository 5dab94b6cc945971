package attach

import (
	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The programs of a span are attached one after another, ends first, and those of perf tracepoints are taken off in any
// order. What finds no start or no end meanwhile, in threads that go on all the time, is no loss: of these kinds only
// what is counted while all are attached is one.

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
	probes := map[int]bool{}
	for _, p := range programs {
		probes[p.Probe] = true
	}
	for i, s := range l.unit.Tree.Spans {
		if !probes[s.Probe] || s.Nested || s.Key.Kind != types.Bot {
			continue
		}
		for _, name := range []string{tree.SpanMap(i), tree.EndsMap(i)} {
			if m := l.maps[name]; m != nil {
				if err := empty(m); err != nil {
					return err
				}
			}
		}
	}
	l.pairingSites(programs, func(i int, p *pairing) {
		if p.on && !p.off {
			return
		}
		*p = pairing{before: l.sites.count(i) - (p.at - p.before), on: true}
	})
	return nil
}

// pairsUntil counts pairs no longer, as programs will be taken off.
func (l *Loaded) pairsUntil(programs []*program) {
	l.pairingSites(programs, func(i int, p *pairing) {
		if p.on && !p.off {
			p.at, p.off = l.sites.count(i), true
		}
	})
}
