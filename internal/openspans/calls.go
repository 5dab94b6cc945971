package openspans

import (
	"github.com/startrace/startrace/bpfgen/tree"
)

// How many calls have begun and not ended.
//
// A call that has begun and not ended is no event and no loss: when a run ends there are always threads that sleep in
// a call. So only -v tells of them, after the programs have been detached.

// Calls is how many calls of the spans of a probe in a unit are open.
func (s *Spans) Calls(u *Unit, probe int) (n uint64, err error) {
	for i := range u.those(func(span *tree.Span) bool { return span.Probe == probe && !s.off[probe] }) {
		entries, err := s.entries(u, i)
		if err != nil {
			return 0, err
		}
		if err := entries.Each(func(key, val []byte) bool {
			n += openIn(u.Spans[i], key, val)
			return true
		}); err != nil {
			return 0, err
		}
	}
	return n, nil
}
