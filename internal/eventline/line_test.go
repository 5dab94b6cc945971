package eventline_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// recordOf is a record of ints of 8 bytes and of strings, by the names of its fields, and the bytes of one event.
func recordOf(fields ...any) (*wire.Record, []byte) {
	rec := &wire.Record{}
	order := binary.NativeEndian
	buf := make([]byte, wire.HeaderSize, 256)
	order.PutUint32(buf[wire.HeaderCPU:], 3)
	rec.FixedSize = wire.HeaderSize + 8*len(fields)/2
	var texts []byte
	for i := 0; i < len(fields); i += 2 {
		at := wire.Type{Kind: wire.Int, Off: len(buf), Size: 8, Signed: true, TagOff: -1}
		switch v := fields[i+1].(type) {
		case nil:
			at = wire.Type{Kind: wire.None, Off: len(buf), Size: 8, TagOff: -1}
			buf = order.AppendUint64(buf, 0)
		case int:
			buf = order.AppendUint64(buf, uint64(v))
		case string:
			at = wire.Type{Kind: wire.Str, Off: len(buf), Size: 16, TagOff: -1}
			buf = order.AppendUint16(buf, uint16(rec.FixedSize+len(texts)))
			buf = append(order.AppendUint16(buf, uint16(len(v))), 0, 0, 0, 0)
			texts = append(texts, v...)
		}
		rec.Fields = append(rec.Fields, wire.Field{Name: fields[i].(string), Type: at})
	}
	return rec, append(buf, texts...)
}

// kernelOf is a kernel whose tracepoints of two groups print their arguments in their own way; asked counts the
// questions.
func kernelOf(asked *int) *eventline.Kernel {
	return &eventline.Kernel{
		Tracepoint: func(group, name string) (*kernel.Tracepoint, error) {
			*asked++
			if group != "sched" && group != "syscalls" {
				return nil, errors.New("there is no such tracepoint")
			}
			return &kernel.Tracepoint{Group: group, Name: name, Fields: []kernel.TracepointField{
				{Name: "prio", Size: 4, Signed: true}, {Name: "why", Size: 16, IsString: true}},
				PrintFmt: `"prio=%d (%s)", REC->prio, REC->why`}, nil
		},
		Constant: func(string) (int64, bool) { return 0, false },
	}
}

// line is what is printed of an event, without its time.
func line(t *testing.T, probe, format string, k *eventline.Kernel, fields ...any) string {
	t.Helper()
	rec, buf := recordOf(fields...)
	l := eventline.New(probe, rec, k)
	return printed(t, l, format, rec, buf)
}

func printed(t *testing.T, l *eventline.Line, format string, rec *wire.Record, buf []byte) string {
	t.Helper()
	var out bytes.Buffer
	to := output.New(&out)
	if err := to.SetFormat(format); err != nil {
		t.Fatal(err)
	}
	e := value.NewEvent(&value.Decoder{})
	e.Set(rec, buf)
	if err := l.Print(to, e); err != nil {
		t.Fatal(err)
	}
	to.Flush()
	return out.String()
}

// A tracepoint's line ends as the kernel itself prints its arguments, where the format is text, all of the arguments
// are there and nothing else is. In any other case the fields follow by their names.
func TestLine(t *testing.T) {
	all := []any{"comm", "sh", "pid", 7, "args.prio", -2, "args.why", "late"}
	const sched, who = "tracepoint:sched:sched_x", "0.000000 3 sh 7 "
	for name, test := range map[string]struct {
		probe, format string
		fields        []any
		want          string
	}{
		"the kernel's own format": {sched, "text", all, who + sched + " prio=-2 (late)"},
		"JSON": {sched, "json", all, `{"type":"event","time":0,"cpu":3,"comm":"sh","pid":7,"probe":"` + sched +
			`","args":{"prio":-2,"why":"late"}}`},
		"a system call": {"tracepoint:syscalls:sys_enter_x", "text", all,
			who + "tracepoint:syscalls:sys_enter_x prio=-2 why=late"},
		"no such tracepoint":       {"tracepoint:other:x", "text", all, who + "tracepoint:other:x prio=-2 why=late"},
		"no tracepoint":            {"kprobe:f", "text", all, who + "kprobe:f prio=-2 why=late"},
		"a field beside arguments": {sched, "text", append(all, "uid", 5), who + sched + " prio=-2 why=late uid=5"},
		"an argument is missing":   {sched, "text", all[:6], who + sched + " prio=-2"},
		"a null pointer": {sched, "text", []any{"comm", "sh", "pid", 7, "args.prio", nil, "args.why", "late"},
			who + sched + " prio=0 (late)"},
		"no process": {sched, "text", all[4:], "0.000000 3 None None " + sched + " prio=-2 (late)"},
		"the point is a field": {sched, "text", append(all, "probe", "tracepoint:other:y"),
			who + "tracepoint:other:y prio=-2 why=late"},
		"a time and a cpu of a kernel half": {"kprobe:f", "text", []any{"comm", "sh", "pid", 7, "time", 11, "cpu", 12},
			who + "kprobe:f time=11 cpu=12"},
		"these in JSON": {"kprobe:f", "json", []any{"comm", "sh", "pid", 7, "time", 11, "cpu", 12},
			`{"type":"event","time":0,"cpu":3,"comm":"sh","pid":7,"probe":"kprobe:f","args":{"time":11,"cpu":12}}`},
		"these in CSV": {"kprobe:f", "csv", []any{"comm", "sh", "pid", 7, "time", 11, "cpu", 12},
			"name,time,cpu,comm,pid,args kprobe:f,0,3,sh,7,time=11 cpu=12"},
	} {
		asked := 0
		got := strings.Join(strings.Fields(line(t, test.probe, test.format, kernelOf(&asked), test.fields...)), " ")
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, test.want)
		}
	}
}

// The kernel is asked for a format once for each point that a record tells of, and the lines of points do not mix.
func TestFormatsOfPoints(t *testing.T) {
	asked := 0
	var l *eventline.Line
	for i := range 6 {
		point := []string{"tracepoint:sched:sched_x", "tracepoint:other:y"}[i%2]
		rec, buf := recordOf("args.prio", i, "args.why", "late", "probe", point)
		if l == nil {
			l = eventline.New("", rec, kernelOf(&asked))
		}
		own := strings.HasSuffix(strings.TrimSpace(printed(t, l, "text", rec, buf)), "(late)")
		if own != (i%2 == 0) {
			t.Errorf("%s: the kernel's own format %v", point, own)
		}
	}
	if asked != 2 {
		t.Errorf("the kernel was asked %d times for the formats of 2 points", asked)
	}
}

// All arguments at once are shown as if they were fields of their own.
func TestAllArguments(t *testing.T) {
	rec := &wire.Record{FixedSize: wire.HeaderSize + 16, Fields: []wire.Field{{Name: "args", Type: wire.Type{
		Kind: wire.Record_, TagOff: -1, Names: []string{"a", "b"}, Elems: []wire.Type{
			{Kind: wire.Int, Off: wire.HeaderSize, Size: 8, TagOff: -1},
			{Kind: wire.Int, Off: wire.HeaderSize + 8, Size: 8, TagOff: -1}}}}}}
	_, buf := recordOf("a", 1, "b", 2)
	asked := 0
	l := eventline.New("kprobe:f", rec, kernelOf(&asked))
	if got := printed(t, l, "json", rec, buf); !strings.Contains(got, `"args":{"a":1,"b":2}`) {
		t.Errorf("got %s", got)
	}
}
