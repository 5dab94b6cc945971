package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/loss"
	"github.com/startrace/startrace/internal/plan"
)

// Attach compiles, loads and attaches the probes from number first on, in the
// place of those that they replace. What was done is said, unless quiet is set.
// If it fails all is as it was.
func (l *Live) Attach(first int, replaced []int, quiet bool) error {
	s := l.s
	l.replaced = replaced
	if len(s.env.Probes()) == first {
		l.replace()
		l.forgetReplaced(quiet, func(probe *builtins.Probe) string { return "Detached " + probe.Name() })
		s.sayAnnounced()
		return nil
	}
	previous := s.part
	s.part = &part{plan: s.host.PlanFrom(first)}
	s.plan.Target = l.target
	if s.plan.StrMax == 0 {
		s.plan.StrMax = s.StrMax
	}
	if err := s.load(); err != nil {
		l.drop(s.part)
		s.part = previous
		return errors.Join(s.machine.WithCause(err), l.putReplacedBack())
	}
	l.forgetReplaced(quiet, func(probe *builtins.Probe) string {
		return fmt.Sprintf("Replaced the probe %s of %s", probe.Called(), probe.Pos())
	})
	if !quiet {
		s.sayAttached()
	}
	s.sayAnnounced()
	return nil
}

// replace detaches the probes that others take the place of; they are loaded
// and about to be attached.
func (l *Live) replace() {
	if l == nil {
		return
	}
	for i, id := range l.replaced {
		l.replaced[i] = -1
		for part := range l.s.partsOf(id) {
			if part.loaded.Attached(id) {
				part.loaded.DetachProbe(id)
				l.replaced[i] = id
			}
		}
		l.stopped = append(l.stopped, id)
	}
}

// putReplacedBack attaches them again: the others could not be.
func (l *Live) putReplacedBack() error {
	var errs []error
	for i := range l.stopped {
		if id := l.replaced[i]; id >= 0 {
			errs = append(errs, (&probeControl{l.s, id}).Enable())
		}
	}
	l.stopped, l.replaced = nil, nil
	return errors.Join(errs...)
}

// forgetReplaced lets them go, and says so.
func (l *Live) forgetReplaced(quiet bool, say func(*builtins.Probe) string) {
	for _, id := range l.stopped {
		l.gone[id] = true
		if probe := l.s.env.Probes()[id]; !quiet {
			l.s.messages.Sayf("%s", say(probe))
		}
		for _, part := range slices.Collect(l.s.partsOf(id)) {
			if l.allGone(part) {
				l.retire(part)
			}
		}
	}
	l.stopped, l.replaced = nil, nil
}

func (l *Live) allGone(part *part) bool {
	return !slices.ContainsFunc(part.plan.Probes, func(probe *plan.Probe) bool { return !l.gone[probe.ID] })
}

// retire releases a part none of whose probes are left, once its records have
// been read. Stacks may be in containers still, and the first ring is what
// waits sleep on: such parts stay, detached. So does the first that follows
// processes, with the programs that do it: later parts know whom by its table.
func (l *Live) retire(old *part) {
	follows := old.result.Follow >= 0 && old == l.s.parts[0]
	if !follows {
		old.loaded.Disable()
	}
	l.fixed.Remove(old.result)
	if err := l.s.drain(); err != nil {
		l.Report(err)
	}
	if follows || old.stacks != nil || old.reader != nil && old.reader == l.s.outside.reader {
		return
	}
	losses, _, err := loss.Of(old.plan, old.loaded)
	for _, line := range loss.Lines(losses, true) {
		l.s.messages.Sayf("startrace: %s", line)
	}
	if err != nil {
		l.s.messages.Sayf("startrace: %s", loss.Unknown(err))
	}
	l.drop(old)
}

// drop releases a part.
func (l *Live) drop(old *part) {
	s := l.s
	if i := slices.Index(s.parts, old); i >= 0 {
		s.parts = slices.Delete(s.parts, i, i+1)
	}
	s.frames.Forget(old.stacks)
	s.spans.Forget(old.spans)
	if old.result != nil {
		l.fixed.Remove(old.result)
	}
	if old.reader != nil && old.reader != s.outside.reader {
		s.closing(old.reader)
	}
	if old.loaded != nil {
		s.closing(old.loaded)
	}
}

// Gone reports whether a probe has been replaced or detached for good.
func (l *Live) Gone(probe int) bool { return l.gone[probe] }

// Loaded reports whether a probe is in the kernel.
func (l *Live) Loaded(probe int) bool { return !l.gone[probe] && l.s.partOf(probe) != nil }

// Attached reports whether the programs of a probe run.
func (l *Live) Attached(probe int) bool { return l.s.isAttached(probe) }

// Points is how many points a probe has.
func (l *Live) Points(probe int) int { return l.s.pointsOf(probe) }

// Stats is what a probe has done.
func (l *Live) Stats(probe int) (builtins.Stats, error) { return (&probeControl{l.s, probe}).Stats() }
