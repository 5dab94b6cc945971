package session

import (
	"bytes"
	"fmt"
	"math"

	"github.com/startrace/startrace/bpfgen/tree"
)

// onlyLists reports whether all programs are those of iterators: they have run
// when they are attached.
func (s *session) onlyLists() bool {
	for _, p := range s.unit.Tree.Programs {
		if p.Attach.Kind != tree.AttachIter && p.Probe >= 0 {
			return false
		}
	}
	return true
}

// drainList takes what an iterator has sent so far, so that the ring has room
// for the rest of the list. A callback can have started it, in the middle of
// giving out records: then these wait.
func (s *session) drainList() error {
	if !s.flushing || s.reader == nil {
		return s.drain()
	}
	_, err := s.reader.Drain(math.MaxInt, func(rec []byte) { s.held = append(s.held, bytes.Clone(rec)) })
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return nil
}

// flush gives out the records up to a time, in the order of their times.
func (s *session) flush(until uint64) {
	s.flushing = true
	s.merger.Flush(until, s.deliver)
	s.flushing = false
	for _, rec := range s.held {
		s.take(rec)
	}
	s.held = nil
}
