package session

import (
	"math"
	"time"

	"github.com/startrace/startrace/internal/stream"
)

// The loop of a run: events, timers, when it is over, how long it sleeps.

// loop delivers events and calls timers until something ends the run.
func (s *session) loop() error {
	for !s.over() {
		begin := stream.Now()
		if err := s.turn(begin); err != nil {
			return err
		}
		if s.over() {
			break
		}
		s.out.Flush()
		if err := s.bell.Wait(s.untilTimer()); err != nil {
			return err
		}
	}
	return nil
}

// turn reads what the programs have sent, as much as there is room for, and
// delivers what is settled: what no record can be missing of (see
// stream.Merger). Timers wait for the same time, so that they come after
// everything that was recorded before their deadline, but not for long
// (timers.Patience).
func (s *session) turn(begin uint64) error {
	s.growth.Grow() // before handlers, which can take long: calls in a file that was replaced are missed meanwhile
	settled, err := s.delivery.TakeSome(begin)
	if err != nil {
		return err
	}
	s.timers.Read(begin)
	s.budget.Holds(uint64(s.delivery.Size() + s.loaded.frames.Size()))
	s.loader.SayTrouble()
	s.delivery.Flush(settled)
	s.cpus.Follow()
	s.cgroup.Follow()
	stop := func() bool { return s.halted() || s.timeUp }
	s.timers.Fire(settled, begin, stop)
	s.timers.FireOverdue(stop)
	return nil
}

// halted reports whether no callback is to be called any more, though records
// may be left.
func (s *session) halted() bool {
	return s.exited || s.hurried.Load() || s.ending.Spent() || s.budget.Over() ||
		s.out.Err() != nil
}

// over reports whether the run ends: exit() was called, nobody reads the
// output, a signal came, the command, the process of -p or the time is over, or there
// is nothing left that could happen.
func (s *session) over() bool {
	return s.halted() || s.timeUp || s.interrupted.Load() || s.targetEnded() || s.idle()
}

// targetEnded reports whether what the run concerns has ended.
func (s *session) targetEnded() bool {
	_, ended := s.target.CommandEnded()
	return ended || s.target.ProcessEnded()
}

// idle reports whether nothing can happen: no probe, or only lists that have
// been gone through, no timer, no command.
func (s *session) idle() bool {
	return s.loaded.parts.OnlyLists(s.growth.Hears()) && !s.target.Started() && s.timers.Next() == math.MaxUint64
}

// maxWait bounds the sleep where no timer is set; wake ends it early. Then it is asked whether
// anybody still reads the output.
const maxWait = time.Second

// untilTimer is how long the run may sleep.
func (s *session) untilTimer() time.Duration {
	if s.loaded.parts.Behind() {
		return 0
	}
	next, now := s.timers.Next(), stream.Now()
	if next < math.MaxUint64 && s.bell.Reader() != nil {
		next += uint64(stream.DrainInterval) // then what was recorded before is settled
	}
	switch {
	case next <= now:
		return time.Millisecond
	case next-now > uint64(maxWait):
		return maxWait
	}
	return time.Duration(next - now)
}
