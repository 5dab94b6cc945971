// Package eventline prints the events of probes that have no handler, a line
// each.
package eventline

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// The line of an event of a probe without a handler.

// A Line prints the records of a probe that has no handler: time, cpu,
// comm, pid, probe, args. It is prepared once for a record.
type Line struct {
	// out is the line under construction. It is used again for each event.
	out render.Event
	// comm, pid and probe are the numbers of these fields, -1 where the record
	// has none; fields are the others.
	comm, pid, probe int
	fields           []int
	names            []string // of fields
	// kernel has the tracepoints' own formats.
	kernel *Kernel
	// own are the formats of tracepoints by the names of probes, as far as they were met. They are for events as the
	// kernel has them, not as a kernel half returned them.
	own map[string]*ownFormat
	// plain: the other fields are all the event's arguments, so that the kernel's own format may stand for them.
	plain bool
}

// New prepares the line of the records of a probe.
func New(probe string, rec *wire.Record, k *Kernel) *Line {
	l := &Line{kernel: k, comm: -1, pid: -1, probe: -1, own: map[string]*ownFormat{}, plain: true}
	l.out.Probe = probe
	for i, f := range rec.Fields {
		switch f.Name {
		case "comm":
			l.comm = i
		case "pid":
			l.pid = i
		case "probe":
			l.probe = i
		default: // also a time or cpu that a kernel half gives: the event's own are in the header of every record
			l.fields = append(l.fields, i)
			l.names = append(l.names, strings.TrimPrefix(strings.TrimPrefix(f.Name, "args."), "vars."))
			l.plain = l.plain && strings.HasPrefix(f.Name, "args")
		}
	}
	return l
}

// Print prints the line of an event.
func (l *Line) Print(to *output.Output, e *value.Event) (err error) {
	l.out.Time, l.out.CPU = e.Time(), e.CPU()
	field := func(i int) render.Value {
		if i < 0 {
			return nil
		}
		var v starlark.Value
		if v, err = e.Field(i); err != nil {
			return nil
		}
		return results.Plain(v)
	}
	l.out.Comm, l.out.PID = field(l.comm), field(l.pid)
	if name, ok := field(l.probe).(string); ok {
		l.out.Probe = name
	}
	l.out.Args = l.out.Args[:0]
	for i, n := range l.fields {
		v := field(n)
		if args, ok := v.(render.Object); ok && (l.names[i] == "args" || l.names[i] == "vars") { // all of them
			l.out.Args = append(l.out.Args, args...)
			continue
		}
		l.out.Args = append(l.out.Args, render.Field{Name: l.names[i], Value: v})
	}
	if err != nil {
		return err
	}
	if l.out.Text = ""; to.Format() == render.Text {
		l.out.Text = l.ownText()
	}
	return to.Event(&l.out)
}

// ownText is what the kernel would print of the event's arguments, if it says how; else "".
func (l *Line) ownText() string {
	if !l.plain {
		return ""
	}
	own, known := l.own[l.out.Probe]
	if !known {
		own = l.kernel.ownFormat(l.out.Probe)
		l.own[l.out.Probe] = own
	}
	if own == nil {
		return ""
	}
	return own.text(l.out.Args, l.kernel.Symbol)
}
