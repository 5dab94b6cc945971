package session

import (
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/loss"
)

// The lines at the end of a run: losses (`reportLosses`), timers that were not called, what came late or was left out,
// calls that have not ended.

// reportLosses says on standard error what did not get through.
func (s *session) reportLosses() {
	lines := s.lossesOfParts()
	for _, p := range s.host.Env().Full.Places() {
		lines = append(lines, loss.DescribeFull(p))
	}
	if n := s.delivery.Late(); n > 0 {
		lines = append(lines, format.Count(n, "event")+" came late, out of order: programs were preempted")
	}
	lines = append(lines, s.loaded.switchedOff()...)
	lines = append(lines, s.missedCalls()...)
	if n := s.out.LeftOut(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of the output left out: --format %s has tables of numbers only",
			format.Count(n, "line"), s.out.Format()))
	}
	if n := s.delivery.Unknown(); n > 0 {
		lines = append(lines, format.Count(n, "record")+" could not be read; this is a bug of startrace")
	}
	if !s.Quiet {
		lines = append(lines, s.loaded.containers.oldest.Lines(s.host.Env().Containers())...)
	}
	if s.Verbose {
		lines = append(lines, s.loaded.notEnded()...)
	}
	lines = append(lines, s.loaded.frames.ShortLines()...)
	for _, line := range lines {
		fmt.Fprintf(s.messages.W, "startrace: %s\n", escape.Line(line))
	}
}

// missedCalls gives a line for each timer that was not called in some intervals.
func (s *session) missedCalls() (lines []string) {
	for _, t := range s.timers.All() {
		if t.Missed == 0 {
			continue
		}
		where := ""
		if fn, ok := t.Func.(*starlark.Function); ok {
			where = " (" + fn.Position().String() + ")"
		}
		lines = append(lines, loss.MissedCalls(time.Duration(t.Period), where, t.Missed, t.Missed+t.Called))
	}
	return lines
}

// lossesOfParts are what programs and the kernel have counted.
func (s *session) lossesOfParts() (lines []string) {
	var losses []loss.Loss
	uncounted := false
	for _, p := range s.loaded.parts.All {
		of, complete, err := loss.Of(p.Plan, p.Loaded)
		losses = append(losses, of...)
		if err != nil {
			lines = append(lines, loss.Unknown(err))
		}
		uncounted = uncounted || !complete
		for _, probe := range p.Plan.Probes {
			if n := s.delivery.Left(probe.ID); n > 0 && s.cutShort && !p.Late {
				lines = append(lines, loss.Left(n, p.Plan.ProbeName(probe.ID)))
			}
		}
	}
	if uncounted && !s.Quiet {
		lines = append(lines, loss.Uncounted)
	}
	toggled := s.host.Sources().Uses("enable") || s.host.Sources().Uses("disable") || s.host.Sources().Uses("detach")
	return append(loss.Lines(losses, toggled), lines...)
}

// switchedOff gives a line for the probes that root has switched off during the run.
func (l *loaded) switchedOff() (lines []string) {
	for _, p := range l.parts.All {
		probes, why := attach.SwitchedOff(p.Loaded)
		if why != nil {
			lines = append(lines, fmt.Sprintf("%s: what happened during the run from some moment on is missing, for %v",
				format.Few(p.Names(probes), namedProbes), why))
		}
	}
	return lines
}

// namedProbes is how many probes a message names.
const namedProbes = 3

// notEnded gives a line for each probe that has calls which have begun and not
// ended. When a run ends there are always threads that sleep in a call, so that
// is no loss.
func (l *loaded) notEnded() (lines []string) {
	for _, p := range l.parts.All {
		for _, probe := range p.Plan.Probes {
			open, err := l.spans.Calls(p.Spans, probe.ID)
			if err != nil {
				lines = append(lines, fmt.Sprintf("%s: how many calls have not ended is not known: %v", probe.Name,
					err))
				continue
			}
			if n := open + p.Loaded.EndedIn(probe.ID); n > 0 {
				lines = append(lines, fmt.Sprintf("%s of %s had begun and not ended", format.Count(n, "call"),
					probe.Name))
			}
		}
	}
	return lines
}
