package stream

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"
)

// A Stream gives the records of a ring buffer in the order of time.
//
//	for !done {
//		more, err := s.Poll(f)
//		…
//		if !more {
//			err = s.Wait(stream.DrainInterval)
//		}
//	}
//	err := s.Finish(f)
type Stream struct {
	reader *Reader
	merger Merger
	push   func([]byte)
	bad    int // length of a record that was refused, -1 for none
	// now and before are when the running round of drains and the round
	// before it began; now is 0 between rounds.
	now, before uint64
}

// chunk is how many records are taken from the ring at once: it bounds the
// memory that copies of them take.
const chunk = 8192

// New makes a Stream of the ring buffer m, which must stay open until Close.
func New(m *ebpf.Map) (*Stream, error) {
	r, err := NewReader(m)
	if err != nil {
		return nil, err
	}
	return newStream(r), nil
}

func newStream(r *Reader) *Stream {
	s := &Stream{reader: r, bad: -1}
	s.push = func(rec []byte) {
		if !s.merger.Push(rec) {
			s.bad = len(rec)
		}
	}
	return s
}

// Poll takes a bounded number of records from the ring and calls f with those
// whose place is certain, until f returns false. more says that the ring has
// more: call Poll again without Wait. After an error nothing more can be read.
//
// An event reaches f after one to two times the interval between calls.
func (s *Stream) Poll(f func(rec []byte) bool) (more bool, err error) {
	if s.now == 0 {
		s.now = Now()
	}
	n, err := s.drain()
	until := s.before
	if more = n == chunk && err == nil; more {
		// The next chunk may have records from before the last of this one.
		until = min(until, s.merger.newest-min(s.merger.newest, uint64(DrainInterval)))
	} else {
		s.now, s.before = 0, s.now
	}
	s.merger.Flush(until, f)
	return more, err
}

// drain takes one chunk.
func (s *Stream) drain() (int, error) {
	n, err := s.reader.Drain(chunk, s.push)
	if err == nil && s.bad >= 0 {
		err = fmt.Errorf("record of %d bytes in the ring buffer is not an event", s.bad)
	}
	return n, err
}

// Finish delivers all that the ring and the Stream hold, in order, when no
// program sends any more. A record that was never completed stays.
func (s *Stream) Finish(f func(rec []byte) bool) error {
	stopped := false
	deliver := func(rec []byte) bool {
		stopped = !f(rec)
		return !stopped
	}
	for {
		more, err := s.Poll(deliver)
		if stopped {
			return err
		}
		if !more {
			s.merger.Flush(^uint64(0), deliver)
			return err
		}
	}
}

// Late is the number of records that came too late to be put in order; they
// were delivered nevertheless.
func (s *Stream) Late() uint64 { return s.merger.Late() }

// Wait is Reader.Wait.
func (s *Stream) Wait(timeout time.Duration) error { return s.reader.Wait(timeout) }

// Wake is Reader.Wake; any goroutine may call it.
func (s *Stream) Wake() error { return s.reader.Wake() }

// Close lets go of the ring.
func (s *Stream) Close() error { return s.reader.Close() }
