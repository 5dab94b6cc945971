package session

import (
	"bytes"
	"encoding/binary"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// A delivery brings what programs send to the user halves of their probes, in
// the order of time and with the timers between, as long as programs run.
type delivery struct {
	// parts are those whose rings are read.
	parts *parts
	// frames takes the news of processes with stacks.
	frames *stacks.Names
	// lines has what the lines of probes without a handler need.
	lines *eventline.Kernel
	// calls runs user halves, and counts what they raise.
	calls *calls
	// out is where lines go.
	out *output.Output
	// timers are called between the events, by their times.
	timers *timers.List
	// halted reports whether no function of the script is to be called any more.
	halted func() bool

	// room is how many bytes of a ring are taken at a time.
	room int
	// merger orders the records of all CPUs by their times. It holds those that may still get an earlier one.
	merger stream.Merger
	// flushing is set while the merger gives out records.
	flushing bool
	// held are the records that an iterator has sent while flushing was set. They go to the merger afterwards.
	held []heldRecord
	// strays is how many records came that nothing in the units describes.
	strays uint64

	// routes say where records go. The index is the number that a record has in the session (part.first).
	routes []route
	// dumping has the probes whose kept events are being shown.
	dumping map[int]bool
	// event is the one event object of the session. It points to the record that is being delivered.
	event *value.Event
	// inEvent is set while a handler runs, or a line is printed.
	inEvent bool
}

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
	failures *failures
	// sent is how many of these records were delivered so far.
	sent int64
	// left is how many of them were not delivered when the run ended.
	left uint64
}

// bind prepares where the records of a part go.
func (d *delivery) bind(p *part) error {
	p.first = len(d.routes)
	d.routes = append(d.routes, make([]route, len(p.unit.Tree.Records))...)
	counts := map[int]*failures{}
	for i, rec := range p.unit.Tree.Records {
		r := &d.routes[p.first+i]
		r.record = rec
		name := p.plan.ProbeName(rec.Probe)
		if counts[rec.Probe] == nil {
			counts[rec.Probe] = d.calls.count("handler of " + name)
		}
		r.failures = counts[rec.Probe]
		half := p.result.Halves[rec.Probe]
		if rec.Start {
			half = p.result.StartHalves[rec.Probe]
		}
		if half == nil {
			r.line = eventline.New(name, rec, d.lines)
			continue
		}
		fn, err := d.calls.host.Specialise(half, d.event)
		if err != nil {
			return err
		}
		r.fn, r.args = fn, starlark.Tuple{d.event}
	}
	return nil
}

// sent is how many records of a probe were delivered.
func (d *delivery) sent(probe int) (n int64) {
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
func (d *delivery) deliver(rec []byte) bool {
	if t := binary.NativeEndian.Uint64(rec[wire.HeaderTime:]); d.timers.Next() <= t {
		d.timers.Fire(t, t, d.halted)
	}
	d.timers.FireOverdue(d.halted)
	if d.halted() {
		d.leave(rec)
		return false
	}
	if r := d.route(rec); r != nil {
		d.hand(r, rec)
	}
	return !d.halted()
}

// route is where a record goes; nil, and counted, where it is none of the unit's.
func (d *delivery) route(rec []byte) *route {
	n := binary.NativeEndian.Uint32(rec[wire.HeaderNumber:])
	if int64(n) >= int64(len(d.routes)) || len(rec) < d.routes[n].record.FixedSize {
		d.strays++
		return nil
	}
	return &d.routes[n]
}

// hand gives a record to the user half of its probe, or prints it.
func (d *delivery) hand(r *route, rec []byte) {
	r.sent++
	d.event.Set(r.record, rec)
	d.inEvent = true
	if r.fn != nil {
		if err := d.calls.guarded(r.fn, r.args...); err != nil {
			d.calls.failed(r.failures, "", err)
		}
	} else if err := r.line.Print(d.out, d.event); err != nil {
		d.calls.failed(r.failures, "", err)
	}
	d.inEvent = false
	d.out.Full()
}

// drain takes all records from the rings into the merger, however many.
func (d *delivery) drain() error {
	for _, p := range d.parts.list {
		if p.reader == nil {
			continue
		}
		if err := p.drain(d.take); err != nil {
			return err
		}
	}
	return d.frames.Processes.See()
}

// take puts a record among those to be given out.
func (d *delivery) take(p *part, rec []byte) {
	switch {
	case stacks.OfProcess(rec):
		d.frames.Note(p.stacks, rec)
	case !d.merger.Push(p.renumber(rec)):
		d.strays++
	}
}

// drainList takes what an iterator of a part has sent so far, so that the ring has
// room for the rest of the list. A callback can have started it, in the middle of
// giving out records: then these wait.
func (d *delivery) drainList(p *part) error {
	if !d.flushing || p.reader == nil {
		return d.drain()
	}
	return p.drain(func(p *part, rec []byte) { d.held = append(d.held, heldRecord{p, bytes.Clone(rec)}) })
}

// A heldRecord is a record of a part that waits until others have been given out.
type heldRecord struct {
	part *part
	rec  []byte
}

// flush gives out the records up to a time, in the order of their times.
func (d *delivery) flush(until uint64) {
	d.flushing = true
	d.merger.Flush(until, d.deliver)
	d.flushing = false
	for _, rec := range d.held {
		d.take(rec.part, rec.rec)
	}
	d.held = nil
}
