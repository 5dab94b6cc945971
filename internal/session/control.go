package session

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/openspans"
)

// controls are what a script does with its probes in the kernel, in all their
// parts: from the loading of the first to the end of the run.
type controls struct {
	// parts are those that are loaded.
	parts *parts
	// spans gives what spans are open.
	spans *openspans.Spans
	// delivery shows the events that were kept, for dump().
	delivery *delivery
	// machine says why the kernel does not count runs.
	machine *machine.Machine
	// counted makes the kernel count the runs of programs of all parts. The prompt sets it; else they are counted where
	// the script uses stats().
	counted bool
	// uncounted is why the kernel does not count runs. It is nil where it does, and where nobody has asked.
	uncounted error
}

// bind makes the probes of a part be controlled.
func (c *controls) bind(p *part) error {
	probes := c.delivery.calls.host.Env().Probes()
	for _, probe := range p.plan.Probes {
		probes[probe.ID].Bind(&control{c, probe.ID})
	}
	if c.counted || c.delivery.calls.host.Sources().Uses("stats") {
		c.uncounted = p.loaded.CountRuns()
	}
	return nil
}

// A control is a probe of the script in the kernel.
type control struct {
	of    *controls
	probe int
}

var _ builtins.ProbeControl = (*control)(nil)

// Enable attaches the probe.
func (c *control) Enable() error {
	for p := range c.of.parts.of(c.probe) {
		if err := p.loaded.AttachProbe(c.probe); err != nil {
			return c.of.machine.WithCause(err)
		}
	}
	return nil
}

// Disable detaches it for a while.
func (c *control) Disable() error {
	for p := range c.of.parts.of(c.probe) {
		p.loaded.DetachProbe(c.probe)
	}
	return nil
}

// Detach detaches it for good.
func (c *control) Detach() error { return c.Disable() }

// Open gives the open entries of all spans of the probe.
func (c *control) Open() ([]starlark.Value, error) { return c.of.spans.OfProbe(c.probe) }

// Dump gives the events that the kernel has kept to the probe's user half.
func (c *control) Dump() (int, error) { return c.of.delivery.dump(c.probe) }

// Stats is what the probe has done.
func (c *control) Stats() (st builtins.Stats, err error) {
	if c.of.uncounted != nil {
		return st, c.of.uncounted
	}
	st.Sent = c.of.delivery.sent(c.probe)
	if st.Lost, st.Missed, err = c.of.parts.lost(c.probe); err != nil {
		return st, err
	}
	for p := range c.of.parts.of(c.probe) {
		runs, ns, err := p.loaded.Runs(c.probe)
		if err != nil {
			return st, err
		}
		st.Hits, st.Time = st.Hits+int64(runs), st.Time+int64(ns)
	}
	return st, nil
}
