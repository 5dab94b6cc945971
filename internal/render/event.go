package render

import (
	"math/big"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
)

// The line of an event of a probe without a handler (time, cpu, comm, pid, probe, args), in all formats.

// An Event is what a probe without a handler prints.
type Event struct {
	Time int64 // ns of CLOCK_MONOTONIC
	// CPU is the number of the CPU on which it happened.
	CPU int
	// Comm and PID are the name and the number of its process; nil where the record has them not.
	Comm Value
	PID  Value
	// Probe is the name of the point that fired.
	Probe string
	// Args are the other fields of the event.
	Args Object
	// Text is what format text shows instead of them, if not empty. It is printed as it is, so who makes it escapes
	// what would be no part of a line.
	Text string
}

// AppendEvent renders an event on one line: time, cpu, comm, pid, probe, args.
func (p *Printer) AppendEvent(dst []byte, e *Event) ([]byte, error) {
	p.started = true
	switch p.Format {
	case JSON:
		dst = appendJSON(dst, Object{{"type", "event"}, {"time", e.Time}, {"cpu", int64(e.CPU)}, {"comm", e.Comm},
			{"pid", e.PID}, {"probe", e.Probe}, {"args", e.Args}})
		return append(dst, '\n'), nil
	case CSV:
		return p.appendTableCSV(dst, &Table{Name: e.Probe, Columns: []Column{{Name: "time"}, {Name: "cpu"},
			{Name: "comm"}, {Name: "pid"}, {Name: "args"}}},
			[]Row{{Values: []Value{e.Time, int64(e.CPU), e.Comm, e.PID, e.Args}}}, Options{})
	case Folded:
		p.LeftOut++
		return dst, nil
	}
	dst, err := eventLine.Append(dst, e.args())
	if err == nil && e.Text != "" {
		dst = append(append(dst, ' '), e.Text...)
	}
	return append(dst, '\n'), err
}

// eventLine has the widths of a pid and a comm; seconds with microseconds are
// what dmesg and perf show.
var eventLine = func() *format.Format {
	f := mustParse("%s %3d %-16s %-7v %s%s")
	f.Escape = escape.OneLine // names of functions come from programs
	return f
}()

func mustParse(s string) *format.Format {
	f, err := format.Parse(s)
	if err != nil {
		panic("render: " + err.Error())
	}
	return f
}

func (e *Event) args() []format.Arg {
	text := []byte(nil)
	if e.Text == "" && len(e.Args) > 0 {
		text = appendValue(append(text, ' '), e.Args)
	}
	return []format.Arg{
		format.StrArg(string(appendTime(nil, e.Time))), format.IntArg(int64(e.CPU)),
		format.StrArg(plainText(e.Comm)), Arg(e.PID), format.StrArg(e.Probe), format.StrArg(string(text)),
	}
}

// appendTime writes a time of the monotonic clock in seconds.
func appendTime(dst []byte, ns int64) []byte {
	out, err := timeFormat.Append(dst, []format.Arg{format.IntArg(ns / 1e9), format.IntArg(ns % 1e9 / 1e3)})
	if err != nil {
		return dst // cannot be: two ints for two verbs
	}
	return out
}

var timeFormat = mustParse("%d.%06d")

// Arg gives a value as an argument of a format.
func Arg(v Value) format.Arg {
	switch v := v.(type) {
	case nil:
		return format.Arg{}
	case bool:
		if v {
			return format.Arg{Kind: format.Bool, Int: 1}
		}
		return format.Arg{Kind: format.Bool}
	case int64:
		return format.IntArg(v)
	case uint64:
		return format.Arg{Kind: format.Uint, Uint: v}
	case *big.Int:
		return format.Arg{Kind: format.Big, Big: v}
	case float64:
		return format.FloatArg(v)
	case string:
		return format.StrArg(v)
	case []byte:
		return format.Arg{Kind: format.Bytes, Str: string(v)}
	case CutBytes:
		return format.Arg{Kind: format.Bytes, Str: string(v), Marked: v.marked()}
	case Fault:
		return format.Arg{Kind: format.Fault, Str: v.Text}
	}
	return format.Arg{Kind: format.Other, Str: plainText(v), Type: "value"}
}
