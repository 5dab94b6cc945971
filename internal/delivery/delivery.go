// Package delivery brings the records of programs to the user halves of their probes, and prints the lines of probes
// that have none.
//
// Each turn of a run takes records from the rings of all parts (TakeSome), as many as there is room for, and then gives
// out those before which none is missing (Flush), in the order of their times and with the timers between:
//
//	ring of part 0   10:00:00.003 read   10:00:00.009 read
//	ring of part 1   10:00:00.005 write
//	every("5ms")     10:00:00.006
//	calls            read .003, write .005, the timer, read .009
package delivery

import (
	"bytes"
	"encoding/binary"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/callback"
	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

// Records brought to the handlers of their probes in the order of time (merger, routes, held records).

// Needs are what a delivery needs of the run that it is for. They do not change.
type Needs struct {
	// Parts are those whose rings are read.
	Parts *parts.Parts
	// Frames takes the news of processes with stacks.
	Frames *stacks.Names
	// Lines has what the lines of probes without a handler need.
	Lines *eventline.Kernel
	// Host makes copies of user halves that read their fields from the record.
	Host *script.Host
	// Calls runs user halves, and counts what they raise.
	Calls *callback.Calls
	// Out is where lines go.
	Out *output.Output
	// Timers are called between the events, by their times.
	Timers *timers.List
	// Halted reports whether no function of the script is to be called any more.
	Halted func() bool
	// Event is the one event object of the run. It points to the record that is being delivered.
	Event *value.Event
}

// A Delivery brings what programs send to the user halves of their probes, in the order of time and with the timers
// between, as long as programs run.
type Delivery struct {
	// run is what is needed of the run.
	run Needs
	// merger orders the records of all CPUs by their times. It holds those that may still get an earlier one.
	merger stream.Merger
	// flushing is set while the merger gives out records.
	flushing bool
	// held are the records that an iterator has sent while flushing was set. They go to the merger afterwards.
	held []heldRecord
	// strays is how many records came that nothing in the units describes.
	strays uint64

	// routes say where records go. The index is the number that a record has in the session (parts.Part.First).
	routes []route
	// dumping has the probes whose kept events are being shown.
	dumping map[int]bool
	// inEvent is set while a handler runs, or a line is printed.
	inEvent bool
}

// New makes what delivers the events of a run, of which no part is bound yet.
func New(of Needs) *Delivery { return &Delivery{run: of, dumping: map[int]bool{}} }

// InHandler reports whether a handler runs, or a line is printed.
func (d *Delivery) InHandler() bool { return d.inEvent }

// Busy reports whether a function of the script is being called by an event, or by a timer between events.
func (d *Delivery) Busy() bool { return d.inEvent || d.flushing }

// LeaveHandler says that no handler runs, after a panic has left one.
func (d *Delivery) LeaveHandler() { d.inEvent, d.flushing = false, false }

// Unknown is how many records came that nothing in the units describes.
func (d *Delivery) Unknown() uint64 { return d.strays }

// Late is how many records came after later ones had been delivered.
func (d *Delivery) Late() uint64 { return d.merger.Late() }

// Size is how many bytes records take that were read and are not delivered.
func (d *Delivery) Size() int { return d.merger.Size() }

// Time is the time of the event that is being delivered, in ns of CLOCK_MONOTONIC.
func (d *Delivery) Time() int64 { return d.run.Event.Time() }

// A route says where the records of one number go.
type route struct {
	// record is the layout of these records.
	record *wire.Record
	// fn is the user half. It is nil where a line is printed.
	fn starlark.Callable
	// args is the argument of fn: the event object of the session.
	args starlark.Tuple
	// line prints these records. It is nil where fn is called.
	line *eventline.Line
	// failures counts what fn has raised, together with the other records of the probe.
	failures *callback.Failures
	// sent is how many of these records were delivered so far.
	sent int64
	// left is how many of them were not delivered when the run ended.
	left uint64
}

// Bind prepares where the records of a part go.
func (d *Delivery) Bind(p *parts.Part) error {
	p.First = len(d.routes)
	counts := map[int]*callback.Failures{}
	for _, rec := range p.Unit.Tree.Records {
		name := p.Plan.ProbeName(rec.Probe)
		if counts[rec.Probe] == nil {
			counts[rec.Probe] = d.run.Calls.Count("handler of " + name)
		}
		var fn starlark.Callable
		if half := p.Result.HalfOf[rec.Number]; half != nil {
			var err error
			if fn, err = d.run.Host.Specialise(half, d.run.Event); err != nil {
				return err
			}
		}
		d.Add(rec, name, fn, counts[rec.Probe])
	}
	return nil
}

// Add says where the records of the next number go: to fn, or where that is nil to a line that begins with the name of
// the probe.
func (d *Delivery) Add(rec *wire.Record, name string, fn starlark.Callable, failures *callback.Failures) {
	r := route{record: rec, fn: fn, args: starlark.Tuple{d.run.Event}, failures: failures}
	if fn == nil {
		r.line = eventline.New(name, rec, d.run.Lines)
	}
	d.routes = append(d.routes, r)
}

// Sent is how many records of a probe were delivered.
func (d *Delivery) Sent(probe int) (n int64) {
	for i := range d.routes {
		if r := &d.routes[i]; r.record.Probe == probe {
			n += r.sent
		}
	}
	return n
}

// deliver gives one record to its probe, after the timers that were due
// before it, and those that cannot wait any longer. It reports whether the run
// goes on.
func (d *Delivery) deliver(rec []byte) bool {
	d.run.Timers.FireBefore(binary.NativeEndian.Uint64(rec[wire.HeaderTime:]), d.run.Halted)
	d.run.Timers.FireOverdue(d.run.Halted)
	if d.run.Halted() {
		d.leave(rec)
		return false
	}
	if r := d.route(rec); r != nil {
		_ = d.hand(r, rec) // exit() has halted the run
	}
	return !d.run.Halted()
}

// route is where a record goes; nil, and counted, where it is none of the unit's.
func (d *Delivery) route(rec []byte) *route {
	n := binary.NativeEndian.Uint32(rec[wire.HeaderNumber:])
	if int64(n) >= int64(len(d.routes)) || len(rec) < d.routes[n].record.FixedSize {
		d.strays++
		return nil
	}
	return &d.routes[n]
}

// hand gives a record to the user half of its probe, or prints it. It is an error only if the user half has called
// exit().
func (d *Delivery) hand(r *route, rec []byte) (ended error) {
	r.sent++
	d.run.Event.Set(r.record, rec)
	d.inEvent = true
	if r.fn != nil {
		if err := d.run.Calls.Guarded(r.fn, r.args...); err != nil {
			ended = callback.Exit(err)
			d.run.Calls.Failed(r.failures, "", err)
		}
	} else if err := r.line.Print(d.run.Out, d.run.Event); err != nil {
		d.run.Calls.Failed(r.failures, "", err)
	}
	d.inEvent = false
	d.run.Out.Full()
	return ended
}

// Drain takes all records from the rings into the merger, however many.
func (d *Delivery) Drain() error {
	for _, p := range d.run.Parts.All {
		if p.Reader == nil {
			continue
		}
		if err := p.Drain(d.Take); err != nil {
			return err
		}
	}
	return d.run.Frames.Processes.See()
}

// Take puts a record among those to be given out.
func (d *Delivery) Take(p *parts.Part, rec []byte) {
	switch {
	case stacks.OfProcess(rec):
		d.run.Frames.Note(p.Stacks, rec)
	case !d.merger.Push(p.Renumber(rec)):
		d.strays++
	}
}

// DrainPart takes what a part has sent so far, so that its ring has room for what is sent while an iterator runs or the
// kernel takes programs off. A callback can have begun that, in the middle of giving out records: then these wait.
func (d *Delivery) DrainPart(p *parts.Part) error {
	if !d.flushing || p.Reader == nil {
		return d.Drain()
	}
	return p.Drain(func(p *parts.Part, rec []byte) { d.held = append(d.held, heldRecord{p, bytes.Clone(rec)}) })
}

// A heldRecord is a record of a part that waits until others have been given out.
type heldRecord struct {
	part *parts.Part
	rec  []byte
}

// Flush gives out the records up to a time, in the order of their times.
func (d *Delivery) Flush(until uint64) {
	d.flushing = true
	d.merger.Flush(until, d.deliver)
	d.flushing = false
	for _, rec := range d.held {
		d.Take(rec.part, rec.rec)
	}
	d.held = nil
}
