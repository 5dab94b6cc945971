package session

import (
	"encoding/binary"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/wire"
)

// A route says where the records of one number go.
type route struct {
	record *wire.Record
	// fn is the user half, called with args; nil where a line is printed.
	fn       starlark.Callable
	args     starlark.Tuple
	line     *eventline.Line
	failures *failures
	sent     int64
}

// deliver gives one record to its probe, after the timers that were due
// before it. It reports whether the run goes on.
func (s *session) deliver(rec []byte) bool {
	if t := binary.NativeEndian.Uint64(rec[wire.HeaderTime:]); s.timers.Next() <= t {
		s.timers.Fire(t, t, s.halted)
	}
	if s.halted() {
		return false
	}
	if r := s.route(rec); r != nil {
		s.hand(r, rec)
	}
	return !s.halted()
}

// route is where a record goes; nil, and counted, where it is none of the unit's.
func (s *session) route(rec []byte) *route {
	n := binary.NativeEndian.Uint32(rec[wire.HeaderNumber:])
	if int64(n) >= int64(len(s.routes)) || len(rec) < s.routes[n].record.FixedSize {
		s.strays++
		return nil
	}
	return &s.routes[n]
}

// hand gives a record to the user half of its probe, or prints it.
func (s *session) hand(r *route, rec []byte) {
	r.sent++
	s.event.Set(r.record, rec)
	s.inEvent = true
	if r.fn != nil {
		if err := s.guarded(r.fn, r.args...); err != nil {
			s.failed(r.failures, err)
		}
	} else if err := r.line.Print(s.out, s.event); err != nil {
		s.failed(r.failures, err)
	}
	s.inEvent = false
	s.out.Full()
}

// drain takes all records from the ring into the merger.
func (s *session) drain() error {
	for _, p := range s.parts {
		if p.reader == nil {
			continue
		}
		if err := s.drainPart(p, s.take); err != nil {
			return err
		}
	}
	return s.frames.Processes.See()
}

// take puts a record among those to be given out.
func (s *session) take(p *part, rec []byte) {
	switch {
	case stacks.OfProcess(rec):
		s.frames.Note(p.stacks, rec)
	case !s.merger.Push(p.renumber(rec)):
		s.strays++
	}
}
