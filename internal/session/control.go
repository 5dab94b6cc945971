package session

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/delivery"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/starlark/script"
)

// enable(), disable(), detach(), stats() and dump() of a probe in the kernel.

// controls are what a script does with its probes in the kernel, in all their
// parts: from the loading of the first to the end of the run.
type controls struct {
	// host runs the script.
	host *script.Host
	// parts are those that are loaded.
	parts *parts.Parts
	// spans gives what spans are open.
	spans *openspans.Spans
	// delivery shows the events that were kept, for dump().
	delivery *delivery.Delivery
	// machine says why the kernel does not count runs.
	machine *machine.Machine
	// counted makes the kernel count the runs of programs of all parts. The prompt sets it; else they are counted where
	// the script uses stats().
	counted bool
	// uncounted is why the kernel does not count runs. It is nil where it does, and where nobody has asked.
	uncounted error
}

// bind makes the probes of a part be controlled.
func (c *controls) bind(p *parts.Part) error {
	probes := c.host.Env().Probes()
	for _, probe := range p.Plan.Probes {
		probes[probe.ID].Bind(&control{c, probe.ID})
	}
	if c.counted || c.host.Sources().Uses("stats") {
		c.uncounted = p.Loaded.CountRuns()
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
	for p := range c.of.parts.Of(c.probe) {
		if err := p.Loaded.AttachProbe(c.probe); err != nil {
			return c.of.machine.WithCause(err)
		}
	}
	c.of.spans.Disable(c.probe, false)
	return nil
}

// Disable detaches it for a while.
func (c *control) Disable() error {
	for p := range c.of.parts.Of(c.probe) {
		if err := p.Loaded.DetachProbe(c.probe); err != nil {
			return err
		}
	}
	c.of.spans.Disable(c.probe, true)
	return nil
}

// Detach detaches it for good.
func (c *control) Detach() error { return c.Disable() }

// Open gives the open entries of all spans of the probe.
func (c *control) Open() ([]starlark.Value, error) { return c.of.spans.OfProbe(c.probe) }

// Dump gives the events that the kernel has kept to the probe's user half.
func (c *control) Dump() (int, error) { return c.of.delivery.Dump(c.probe) }

// Stats is what the probe has done.
func (c *control) Stats() (st builtins.Stats, err error) {
	if c.of.uncounted != nil {
		return st, c.of.uncounted
	}
	st.Sent = c.of.delivery.Sent(c.probe)
	if st.Lost, st.Missed, err = c.of.parts.Lost(c.probe); err != nil {
		return st, err
	}
	for p := range c.of.parts.Of(c.probe) {
		runs, ns, err := p.Loaded.Runs(c.probe)
		if err != nil {
			return st, err
		}
		st.Hits, st.Time = st.Hits+int64(runs), st.Time+int64(ns)
	}
	return st, nil
}
