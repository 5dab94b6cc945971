package builtins

import (
	"cmp"
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// probe() with where=, start=, keep= (`maxKeep`), kernel=; enable(), disable(), detach(), dump(), stats() of a probe;
// limits(), record(), and the document of FAULT.

var probeFamily = []Entry{
	{
		Name: "probe", Family: "probes",
		Signature: "probe(points, handler=None, *, where=None, kernel=None, start=None, name=None, keep=None)",
		Doc: `Declares a probe: points, and the functions that look at what happens there. points is a string, an
event, a span, first(…) or a list of them. where is a predicate that runs in the kernel. kernel is a function that
runs in the kernel, whole; what it returns extends the event. handler runs in the kernel where all of it can run
there, and else in user space, with the parts of e that it uses. start is a handler for the start of a span.

Gives a probe with enable(), disable(), detach(), items() and stats(), for callbacks. items() gives the calls and
other spans that are open now, each as (key, record), as s.items() of span() does. For a call key is the thread. The
record has e.probe, time (when the call began), and what handlers take from e.start, by their names. For functions it
also has depth.

stats() gives hits, sent, lost, missed and time. hits is how often the kernel ran the probe, also for what where=
passed over: twice for a call of a ufunc: probe, at its start and at its end. missed is how many events at most the
kernel did not show, because another program ran on that CPU; before Linux 5.12, which does not count them, it is
None. time is that of the runs, in ns; it is measured in scripts that call stats(). enable() of an iterator goes
through its list again.

keep = N makes the kernel keep the last N events and send none. The probe's dump() gives these to the handler (or
prints them), in the order of their times, and returns their number. No event is shown twice. A script that nowhere
calls dump() is shown the events at the end.`,
		Points: true, call: probeCall,
	},
	{
		Name: "record", Family: "probes",
		Signature: "record(name=value, …)",
		Doc: `Makes an immutable value with named fields. A record that a kernel function returns extends the
event: record(size = e.ret) is e.size in the handler.`,
		call: recordCall,
	},
	{
		Name: "limits", Family: "probes",
		Signature: "limits(string=256, stacks=8192)",
		Doc: `Sets how many bytes of a string are captured at most, and how many different stacks are kept. A string
that was cut prints with … at its end. A stack for which there was no room is counted, and the end of the run says
so.`,
		call: limitsCall,
	},
	{
		Name: "FAULT", Family: "probes",
		Signature: "FAULT",
		Doc: "The outcome of a read of memory that failed. " +
			"FAULT is true and can be compared, stored and printed.",
		value: value.FAULT,
	},
}

var _ starlark.HasAttrs = (*Probe)(nil)

// Bind says what enable and the others act on, from when the probe is loaded.
func (p *Probe) Bind(c ProbeControl) { p.control = c }

// Pos is where the probe was declared.
func (p *Probe) Pos() plan.Pos { return p.pos }

// Handler is the script's handler, nil for none.
func (p *Probe) Handler() *starlark.Function { return p.handler }

// Start is the script's handler of the start, nil for none.
func (p *Probe) Start() *starlark.Function { return p.start }

// probeCall records a probe. Nothing is compiled or attached before the top level of the script, and main(), have run.
func probeCall(e *Env, c *call) (starlark.Value, error) {
	if e.Loading() {
		return nil, errModule("probe")
	}
	if e.Declared {
		return nil, errors.New("probe() in a callback declares nothing any more: " +
			"declare it at the top level or in main(), and switch it by p.disable() and p.enable()")
	}
	var points, handler, where, kernel, start, name, keep starlark.Value
	rest := *c
	if len(c.args) > 2 {
		return nil, fmt.Errorf("probe: got %d positional arguments, want points and a handler; "+
			"the others are written by name", len(c.args))
	}
	if err := rest.unpack("points", &points, "handler?", &handler, "where?", &where, "kernel?", &kernel, "start?",
		&start, "name?", &name, "keep?", &keep); err != nil {
		return nil, err
	}
	p := &Probe{}
	p.variable, p.pos = e.CallAt(c.pos())
	var err error
	if p.points, err = e.pointsAt(points, p.pos); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	for _, f := range []struct {
		name string
		from starlark.Value
		to   **starlark.Function
	}{{"handler", handler, &p.handler}, {"where", where, &p.where}, {"kernel", kernel, &p.kernel},
		{"start", start, &p.start}} {
		if *f.to, err = toFunction(f.name, f.from, 1); err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
	}
	p.name, _ = starlark.AsString(orNone(name))
	if p.keep, err = keepCount(keep); err != nil {
		return nil, err
	}
	e.probes = append(e.probes, p)
	return p, nil
}

// maxKeep bounds keep=: with the longest strings that is some GB already.
const maxKeep = 1 << 20

// keepCount reads keep=: how many of the last events the kernel keeps for dump(), 0 for a probe that sends them.
func keepCount(v starlark.Value) (int, error) {
	if v == nil || v == starlark.None {
		return 0, nil
	}
	n, err := starlark.AsInt32(v)
	if err != nil || n < 1 || n > maxKeep {
		return 0, fmt.Errorf("probe: got keep = %s, want a number of events from 1 to %d", v, maxKeep)
	}
	return n, nil
}

func (p *Probe) String() string        { return "<probe " + p.Name() + ">" }
func (p *Probe) Type() string          { return "probe" }
func (p *Probe) Freeze()               {}
func (p *Probe) Truth() starlark.Bool  { return starlark.True }
func (p *Probe) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: probe") }
func (p *Probe) AttrNames() []string {
	return []string{"detach", "disable", "dump", "enable", "items", "stats"}
}

// Name is name=, else the points as written.
func (p *Probe) Name() string {
	if p.name != "" {
		return p.name
	}
	return pointsText(p.points)
}

// Given is name=, "" where there is none.
func (p *Probe) Given() string { return p.name }

// Called is what the script calls it: name=, else the variable that it was
// assigned to, else its points.
func (p *Probe) Called() string { return cmp.Or(p.name, p.variable, p.Name()) }

var errNotLoaded = errors.New("the probe is not loaded yet: this works in callbacks")

// Attr gives a method.
func (p *Probe) Attr(name string) (starlark.Value, error) {
	var f func() (starlark.Value, error)
	switch name {
	case "enable":
		f = func() (starlark.Value, error) { return starlark.None, p.toggle(true) }
	case "disable":
		f = func() (starlark.Value, error) { return starlark.None, p.toggle(false) }
	case "detach":
		f = p.detach
	case "dump":
		f = p.dump
	case "stats":
		f = p.stats
	case "items":
		return openMethod(p, p.items), nil
	default:
		return nil, nil
	}
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
			return nil, err
		}
		return f()
	}).BindReceiver(p), nil
}

// toggle is enable() and disable(). Before the probe is loaded it only takes note.
func (p *Probe) toggle(on bool) error {
	switch {
	case p.control == nil:
		p.Disabled = !on
		return nil
	case on:
		return p.took("", p.control.Enable())
	}
	return p.took("disabled", p.control.Disable())
}

// took notes what became of the probe, if nothing failed.
func (p *Probe) took(off string, err error) error {
	if err == nil {
		p.off = off
	}
	return err
}

// Off is "disabled" or "detached" after disable() and detach(), in a run; "" while its programs run.
func (p *Probe) Off() string { return p.off }

// detach takes the probe off for good.
func (p *Probe) detach() (starlark.Value, error) {
	if p.control == nil {
		return nil, errNotLoaded
	}
	return starlark.None, p.took("detached", p.control.Detach())
}

// dump gives the events that the kernel has kept to the handler, and their number.
func (p *Probe) dump() (starlark.Value, error) {
	switch {
	case p.keep == 0:
		return nil, errors.New("dump: this probe sends its events as they happen; keep = N keeps the last N for dump()")
	case p.control == nil:
		return nil, errNotLoaded
	}
	n, err := p.control.Dump()
	return starlark.MakeInt(n), err
}

// stats is a record of what the probe has done so far. What the kernel does not count is None in it.
func (p *Probe) stats() (starlark.Value, error) {
	if p.control == nil {
		return nil, errNotLoaded
	}
	s, err := p.control.Stats()
	if err != nil {
		return nil, err
	}
	missed := starlark.Value(starlark.None)
	if s.Missed >= 0 {
		missed = starlark.MakeInt64(s.Missed)
	}
	return value.NewRecord([]string{"hits", "sent", "lost", "missed", "time"}, []starlark.Value{
		starlark.MakeInt64(s.Hits), starlark.MakeInt64(s.Sent), starlark.MakeInt64(s.Lost), missed,
		starlark.MakeInt64(s.Time)}), nil
}

// recordCall makes a record, whose fields stand in the order in which they were given.
func recordCall(_ *Env, c *call) (starlark.Value, error) {
	if len(c.args) > 0 {
		return nil, fmt.Errorf("record: got a positional argument, want fields by name: record(pid = e.pid)")
	}
	names := make([]string, len(c.kwargs))
	vals := make([]starlark.Value, len(c.kwargs))
	for i, kv := range c.kwargs {
		names[i], vals[i] = string(kv[0].(starlark.String)), kv[1]
	}
	return value.NewRecord(names, vals), nil
}

// maxString is what wire.RefLen leaves, a multiple of 8.
const maxString = 8184

// maxStacks is that of limits(): 1 GB with the deepest stacks.
const maxStacks = 1 << 20

// limitsCall sets how long strings and how many stacks the programs of the script may keep.
func limitsCall(e *Env, c *call) (starlark.Value, error) {
	var text, stacks *int
	if err := c.unpack("string?", asked(&text), "stacks?", asked(&stacks)); err != nil {
		return nil, err
	}
	if text != nil {
		if *text < 1 || *text > maxString {
			return nil, fmt.Errorf("limits: got string = %d, want 1 to %d", *text, maxString)
		}
		e.strMax = *text
	}
	if stacks != nil {
		if *stacks < 1 || *stacks > maxStacks {
			return nil, fmt.Errorf("limits: got stacks = %d, want 1 to %d", *stacks, maxStacks)
		}
		e.stacks = *stacks
	}
	return starlark.None, nil
}

// Unpack takes the number. It is called only where the argument was given (starlark.Unpacker).
func (a askedInt) Unpack(v starlark.Value) error {
	var n int
	if err := starlark.AsInt(v, &n); err != nil {
		return err
	}
	*a.to = &n
	return nil
}
