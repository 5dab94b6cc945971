package session

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/format"
)

// A call that has begun and not ended is no event and no loss: when a run ends there are always threads that sleep in
// a call. So only -v tells of them, after the programs have been detached.

// notEnded gives a line for each probe that has such calls.
func (s *session) notEnded() (lines []string) {
	for _, p := range s.parts {
		for _, probe := range p.plan.Probes {
			open, err := s.openCalls(p, probe.ID)
			if err != nil {
				lines = append(lines, fmt.Sprintf("%s: how many calls have not ended is not known: %v", probe.Name,
					err))
				continue
			}
			if n := open + p.loaded.EndedIn(probe.ID); n > 0 {
				lines = append(lines, fmt.Sprintf("%s of %s had begun and not ended", format.Count(n, "call"),
					probe.Name))
			}
		}
	}
	return lines
}

// openCalls is how many calls of the spans of a probe are open.
func (s *session) openCalls(p *part, probe int) (n uint64, err error) {
	for part, i := range s.spansOf(func(span *tree.Span) bool { return span.Probe == probe }) {
		if part != p {
			continue
		}
		entries, err := s.openEntries(part, i)
		if err != nil {
			return 0, err
		}
		span := part.unit.Tree.Spans[i]
		if err := entries.Each(func(key, val []byte) bool {
			n += openIn(span, key, val)
			return true
		}); err != nil {
			return 0, err
		}
	}
	return n, nil
}
