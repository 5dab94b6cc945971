package session

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/loss"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/starlark/value"
)

// end finishes a run in order: no more events, deliver what is left, the last
// part of each interval, at_exit, the aggregations that nobody read. After
// exit() nothing more is delivered, but the rest is done.
func (s *session) end() error {
	for _, p := range s.parts {
		p.loaded.Disable()
	}
	for _, b := range s.backends {
		b.Settle()
	}
	s.spans.Settle()
	err := s.deliverRest()
	if s.Twins != nil {
		s.Twins.Losses, _, err = s.loaded.Losses()
		s.Twins.Compare()
	}
	s.resume()
	s.timers.Last()
	if dumpErr := s.dumpUnasked(); err == nil {
		err = dumpErr
	}
	s.leaving = true
	for _, fn := range s.atExit {
		s.resume()
		s.callback(fn, s.exitErrors)
	}
	s.resume()
	if printErr := s.printUnread(); err == nil {
		err = printErr
	}
	s.out.Flush()
	return err
}

// resume lets callbacks run again once the one that was in the way has ended: a second signal ends that one, and not
// those behind it.
func (s *session) resume() {
	if s.hurried.Load() {
		s.host.Resume()
	}
}

// deliverRest drains until the programs that were running have ended: one that
// is still writing its record holds up those behind it.
func (s *session) deliverRest() error {
	for range restTries {
		if err := s.drain(); err != nil {
			return err
		}
		if s.empty() {
			break
		}
		if err := s.wait(restPause); err != nil {
			return err
		}
	}
	s.flush(math.MaxUint64)
	return nil
}

// empty reports whether no program has sent anything that was not read.
func (s *session) empty() bool {
	for _, p := range s.parts {
		if p.reader != nil && !p.reader.Empty() {
			return false
		}
	}
	return true
}

// A program soon hands over the record that it has reserved, unless it was
// preempted: then the wait ends without it.
const (
	restTries = 20
	restPause = time.Millisecond
)

// asked reports whether what is wanted has been asked for: at the prompt, unless
// the command ran when nothing could be asked any more.
func (s *session) asked() bool { return s.live != nil && !s.live.asScript }

// printUnread prints the aggregations with a name that the script did not
// read; tables and cells are state, not results.
func (s *session) printUnread() error {
	if s.asked() {
		return nil
	}
	for _, c := range s.env.Containers() {
		agg, ok := c.(*value.Agg)
		if !ok || c.WasRead() || c.Decl().Name == "" {
			continue
		}
		snapshot, err := agg.Peek()
		if err != nil {
			return err
		}
		if err := s.out.Table(s.results.Snapshot(snapshot), render.Options{}); err != nil {
			return err
		}
	}
	return nil
}

// notEnded gives a line for each probe that has calls which have begun and not ended.
func (s *session) notEnded() (lines []string) {
	for _, p := range s.parts {
		for _, probe := range p.plan.Probes {
			open, err := s.spans.Calls(p.spans, probe.ID)
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

// reportLosses says on standard error what did not get through.
func (s *session) reportLosses() {
	var lines []string
	var losses []loss.Loss
	for _, p := range s.parts {
		of, complete, err := loss.Of(p.plan, p.loaded)
		losses = append(losses, of...)
		if err != nil {
			lines = append(lines, loss.Unknown(err))
		}
		if !complete && s.Verbose {
			lines = append(lines, "this kernel does not count events that it drops itself (5.12 and later do)")
		}
	}
	toggled := s.host.Uses("enable") || s.host.Uses("disable") || s.host.Uses("detach")
	lines = append(loss.Lines(losses, toggled), lines...)
	for _, p := range s.env.Full.Places() {
		lines = append(lines, loss.DescribeFull(p))
	}
	if n := s.merger.Late(); n > 0 {
		lines = append(lines, format.Count(n, "event")+" came late, out of order: programs were preempted")
	}
	if s.strays > 0 {
		lines = append(lines, format.Count(s.strays, "record")+" could not be read; this is a bug of startrace")
	}
	if !s.Quiet {
		lines = append(lines, s.oldest.Lines(s.env.Containers())...)
	}
	if s.Verbose {
		lines = append(lines, s.notEnded()...)
	}
	lines = append(lines, s.frames.ShortLines()...)
	if len(lines) > 0 {
		fmt.Fprintf(s.messages.W, "startrace: %s\n", strings.Join(lines, "\nstartrace: "))
	}
}

// lostOf sums the losses of one probe, and the runs that the kernel skipped: -1
// if it does not count these.
func (s *session) lostOf(probe int) (lost, missed int64, err error) {
	counted := true
	for p := range s.partsOf(probe) {
		losses, complete, err := loss.Of(p.plan, p.loaded)
		if err != nil {
			return 0, 0, err
		}
		counted = counted && complete
		for _, l := range losses {
			switch {
			case l.Probe != probe:
			case l.Kind == attach.LossMissed:
				missed += int64(l.Count)
			default:
				lost += int64(l.Count)
			}
		}
	}
	if !counted {
		missed = -1
	}
	return lost, missed, nil
}
