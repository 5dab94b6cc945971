package attach

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Entries of spans are removed when a probe is attached again.

// forgetSpans removes the entries of spans whose probe is attached again: what
// was open when it was detached has ended since, unseen, and another start may
// have come before the next end.
func (l *Loaded) forgetSpans(todo []*program) error {
	again := map[int]bool{}
	for _, p := range todo {
		again[p.Probe] = again[p.Probe] || p.detached
	}
	for i, s := range l.unit.Tree.Spans {
		m := l.maps[tree.SpanMap(i)]
		if m == nil || !again[s.Probe] {
			continue
		}
		if err := empty(m); err != nil {
			return fmt.Errorf("forget the open calls of a span (%s): %w", s.Pos, err)
		}
		if ends := l.maps[tree.EndsMap(i)]; ends != nil {
			if err := empty(ends); err != nil {
				return fmt.Errorf("forget the ends of a span (%s): %w", s.Pos, err)
			}
		}
	}
	return nil
}

// empty removes all entries of a hash. Threads that end may remove some at the
// same time, after which the kernel begins anew.
func empty(m *ebpf.Map) error {
	for range m.MaxEntries() {
		key, err := m.NextKeyBytes(nil)
		if err != nil || key == nil {
			return err
		}
		if err := m.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return err
		}
	}
	return nil
}
