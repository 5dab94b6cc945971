package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/loss"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
)

// Probes attached, replaced and removed while a Live run goes on, as at the prompt.

// A change replaces probes by others while these are attached: from then on the
// old ones are stopped, and when the others are attached they are gone.
type change struct {
	// l is the session.
	l *Live
	// replaced are the numbers of the old ones. From replace on, -1 stands for one that was not attached.
	replaced []int
	// stopped are the numbers of all old ones, from replace on. It is empty if the change fails before.
	stopped []int
	// began is when the first of those was detached whose place no other took at once. It is zero if there is none.
	began time.Time
	// open is how many calls were open when the ends of spans were detached.
	open uint64
}

// Attach compiles, loads and attaches the probes from number first on, in the
// place of those that they replace. What was done is said, unless quiet is set.
// If it fails all is as it was.
func (l *Live) Attach(first int, replaced []int, quiet bool) error {
	s := l.s
	l.change = &change{l: l, replaced: replaced}
	if len(s.host.Env().Probes()) == first {
		if err := l.change.replace(nil); err != nil {
			return errors.Join(err, l.change.undo())
		}
		l.change.forget(quiet, func(probe *builtins.Probe) string { return "Detached " + probe.Name() })
		s.sayAnnounced()
		return nil
	}
	p := &parts.Part{Plan: s.host.PlanFrom(first)}
	p.Plan.Target = l.target
	s.limitText(p.Plan)
	if err := s.loader.Load(p); err != nil {
		l.drop(p)
		return errors.Join(s.machine.WithCause(err), l.change.undo())
	}
	if began := l.change.began; !began.IsZero() {
		s.messages.Lackf("startrace: neither the old nor the new probe saw the events of %d ms",
			1+time.Since(began).Milliseconds())
	}
	if open := l.change.open; open > 0 {
		s.messages.Lackf("startrace: neither the old nor the new probe saw the end of %s", format.Count(open, "call"))
	}
	l.change.forget(quiet, func(probe *builtins.Probe) string {
		return fmt.Sprintf("Replaced the probe %s of %s", probe.Called(), probe.Pos())
	})
	if !quiet {
		s.loader.SayAttached(p)
	}
	s.sayAnnounced()
	return nil
}

// replace lets the probes of a part that is loaded take the place of others, or detaches these where it cannot. A part
// of points that came later replaces nothing.
func (c *change) replace(by *parts.Part) error {
	if c == nil {
		return nil
	}
	for i, id := range c.replaced {
		c.replaced[i] = -1
		c.stopped = append(c.stopped, id)
		for part := range c.l.s.loaded.parts.Of(id) {
			if !part.Loaded.Attached(id) {
				continue
			}
			c.replaced[i] = id
			if err := c.stop(id, part, by); err != nil {
				return err
			}
		}
	}
	return nil
}

// stop ends a probe in one of its parts.
func (c *change) stop(id int, part, by *parts.Part) error {
	if by == nil {
		return part.Loaded.DetachProbe(id)
	}
	for _, probe := range by.Plan.Probes {
		if c.l.s.host.Env().Probes()[probe.ID].Disabled {
			continue
		}
		taken, err := attach.TakeOver(by.Loaded, probe.ID, part.Loaded, id)
		if err != nil {
			return err
		}
		if taken {
			return c.end(id, part)
		}
	}
	if c.began.IsZero() {
		c.began = time.Now()
	}
	return part.Loaded.DetachProbe(id)
}

// end detaches the ends of spans of a probe whose starts another has taken over.
func (c *change) end(id int, part *parts.Part) error {
	if !part.Loaded.Attached(id) {
		return nil
	}
	if err := part.Loaded.DetachProbe(id); err != nil {
		return err
	}
	open, err := c.l.s.loaded.spans.Calls(part.Spans, id)
	c.open += open
	return err
}

// undo attaches the replaced probes again, because those in their place could not be attached.
func (c *change) undo() error {
	var errs []error
	for i := range c.stopped {
		if id := c.replaced[i]; id >= 0 {
			errs = append(errs, (&control{c.l.s.loaded.controls, id}).Enable())
		}
	}
	c.l.change = nil
	return errors.Join(errs...)
}

// forget lets the replaced probes go for good, and says so unless quiet is set.
func (c *change) forget(quiet bool, say func(*builtins.Probe) string) {
	l := c.l
	for _, id := range c.stopped {
		l.gone[id] = true
		if probe := l.s.host.Env().Probes()[id]; !quiet {
			l.s.messages.Sayf("%s", say(probe))
		}
		for _, part := range slices.Collect(l.s.loaded.parts.Of(id)) {
			if l.allGone(part) {
				l.retire(part)
			}
		}
	}
	l.change = nil
}

// allGone reports whether all probes of a part were replaced or taken away.
func (l *Live) allGone(part *parts.Part) bool {
	return !slices.ContainsFunc(part.Plan.Probes, func(probe *plan.Probe) bool { return !l.gone[probe.ID] })
}

// retire releases a part none of whose probes are left, once its records have
// been read. Stacks may be in containers still, and the first ring is what
// waits sleep on: such parts stay, detached. So does the first that follows
// processes, with the programs that do it: later parts know whom by its table.
func (l *Live) retire(old *parts.Part) {
	follows := old.Result.Follow >= 0 && old == l.s.loaded.parts.All[0]
	if !follows {
		old.Loaded.Disable()
	}
	l.common.Types.Remove(old.Result)
	if err := l.s.delivery.Drain(); err != nil {
		l.Report(err)
	}
	if follows || old.Stacks != nil || old.Reader != nil && old.Reader == l.s.bell.Reader() {
		return
	}
	losses, _, err := loss.Of(old.Plan, old.Loaded)
	for _, line := range loss.Lines(losses, true) {
		l.s.messages.Lackf("startrace: %s", line)
	}
	if err != nil {
		l.s.messages.Lackf("startrace: %s", loss.Unknown(err))
	}
	l.drop(old)
}

// drop releases a part.
func (l *Live) drop(old *parts.Part) {
	if old.Result != nil {
		l.common.Types.Remove(old.Result)
	}
	if old.Reader == l.s.bell.Reader() {
		old.Reader = nil
	}
	l.s.loaded.drop(old, l.s.closing)
}

// Gone reports whether a probe has been replaced or detached for good.
func (l *Live) Gone(probe int) bool { return l.gone[probe] }

// Loaded reports whether a probe is in the kernel.
func (l *Live) Loaded(probe int) bool { return !l.gone[probe] && l.s.loaded.parts.Have(probe) }

// Attached reports whether the programs of a probe run.
func (l *Live) Attached(probe int) bool { return l.s.loaded.parts.Attached(probe) }

// Points is how many points a probe has.
func (l *Live) Points(probe int) int { return l.s.loaded.parts.Points(probe) }

// Stats is what a probe has done.
func (l *Live) Stats(probe int) (builtins.Stats, error) {
	return (&control{l.s.loaded.controls, probe}).Stats()
}
