package session

import (
	"math"
	"time"

	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/starlark/value"
)

// What is done at the end of a run, and in which order: rest of the events, intervals, at_exit, containers that nobody
// read.

// end finishes a run in order: no more events, deliver what is left, the last
// part of each interval, at_exit, the aggregations that nobody read. After
// exit() nothing more is delivered, but the rest is done.
func (s *session) end() error {
	s.ending.Ask(false)
	s.loaded.settle()
	err := s.deliverRest()
	s.cutShort = s.ending.Handled() || s.hurried.Load()
	if s.Twins != nil {
		err = s.compareTwins()
	}
	s.ending.BeginTimers()
	s.resume()
	s.timers.Last(s.resume)
	s.ending.BeginExits()
	s.resume()
	if !s.asked() && !s.host.Sources().Uses("dump") { // what was kept, where the script never asks for it
		if dumpErr := s.delivery.DumpAll(); err == nil {
			err = dumpErr
		}
	}
	s.leaving = true
	for _, fn := range s.calls.AtExit {
		s.resume()
		s.calls.Call(fn, s.calls.OfExits)
	}
	s.resume()
	s.ending.Over()
	s.budget.Rest()
	if printErr := s.printUnread(); err == nil {
		err = printErr
	}
	s.out.Flush()
	return err
}

// compareTwins compares the containers of both sides.
func (s *session) compareTwins() error {
	defer s.Twins.Compare()
	for _, p := range s.loaded.parts.All {
		losses, _, err := p.Loaded.Losses()
		if err != nil {
			return err
		}
		s.Twins.Losses = append(s.Twins.Losses, losses...)
	}
	return nil
}

// resume lets callbacks run again once the one that was in the way has ended: a second signal ends that one, or the
// time, and not those behind it.
func (s *session) resume() {
	cut := s.ending.Allow()
	s.budget.Renew()
	if cut || s.hurried.Load() || s.budget.Over() {
		s.host.Resume()
	}
}

// deliverRest drains until the programs that were running have ended: one that
// is still writing its record holds up those behind it. What there is no time
// for is counted.
func (s *session) deliverRest() error {
	for tries := restTries; tries > 0 && !s.halted(); {
		settled, err := s.delivery.TakeSome(stream.Now())
		if err != nil {
			return err
		}
		s.delivery.Flush(settled)
		switch {
		case s.loaded.parts.Behind():
		case s.loaded.parts.Empty():
			tries = 0
		default:
			tries--
			if err := s.bell.Wait(restPause); err != nil {
				return err
			}
		}
	}
	s.delivery.Flush(math.MaxUint64)
	return s.delivery.LeaveRest()
}

// A program soon hands over the record that it has reserved, unless it was
// preempted: then the wait ends without it.
const (
	restTries = 20
	restPause = time.Millisecond
)

// asked reports whether what is wanted has been asked for: at the prompt, unless
// the command ran when nothing could be asked any more.
func (s *session) asked() bool { return s.dialogue != nil && !s.dialogue.asScript }

// printUnread prints the aggregations with a name that the script did not
// read; tables and cells are state, not results.
func (s *session) printUnread() error {
	if s.asked() {
		return nil
	}
	for _, c := range s.host.Env().Containers() {
		agg, ok := c.(*value.Agg)
		if !ok || c.WasRead() || c.Decl().Name == "" {
			continue
		}
		snapshot, err := agg.Peek()
		if err != nil {
			return err
		}
		table, err := s.results.Snapshot(snapshot)
		if err != nil {
			return err
		}
		if err := s.out.Table(table, render.Options{}); err != nil {
			return err
		}
	}
	return nil
}
