package session

import (
	"bytes"

	"github.com/startrace/startrace/bpfgen/tree"
)

// onlyLists reports whether all programs are those of iterators: they have run
// when they are attached.
func (s *session) onlyLists() bool {
	if s.growth != nil && s.part.result != nil && len(s.part.result.Waits) > 0 {
		return false
	}
	for _, part := range s.parts {
		for _, p := range part.unit.Tree.Programs {
			if p.Attach.Kind() != tree.AttachIter && p.Probe >= 0 {
				return false
			}
		}
	}
	return true
}

// drainList takes what an iterator has sent so far, so that the ring has room
// for the rest of the list. A callback can have started it, in the middle of
// giving out records: then these wait.
func (s *session) drainList() error {
	if !s.flushing || s.part.reader == nil {
		return s.drain()
	}
	return s.drainPart(s.part, func(p *part, rec []byte) { s.held = append(s.held, heldRecord{p, bytes.Clone(rec)}) })
}

// A heldRecord waits until others have been given out.
type heldRecord struct {
	part *part
	rec  []byte
}

// flush gives out the records up to a time, in the order of their times.
func (s *session) flush(until uint64) {
	s.flushing = true
	s.merger.Flush(until, s.deliver)
	s.flushing = false
	for _, rec := range s.held {
		s.take(rec.part, rec.rec)
	}
	s.held = nil
}
