package render

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/test/golden"
)

// slowprocs is the histogram of S1's article, the style to match.
func slowprocs() *Table {
	row := func(comm string, pid int64, four, eight uint64) Row {
		h := &Hist{Buckets: []Bucket{{Lo: 2, Hi: 4}, {Lo: 4, Hi: 8, Count: four}, {Lo: 8, Hi: 16, Count: eight},
			{Lo: 16, Hi: 32}}}
		return Row{Key: []Value{comm, pid}, Values: []Value{h}}
	}
	return &Table{Name: "slowprocs", Kind: "hist", Keyed: true, Columns: []Column{{Kind: "hist"}},
		Rows: []Row{row("dd", 41351, 428, 17), row("grep", 41356, 249, 5), row("cat", 41350, 315, 18)}}
}

func counts() *Table {
	return &Table{Name: "n", Kind: "count", Keyed: true, Columns: []Column{{Kind: "count"}}, Rows: []Row{
		{Key: []Value{"sleep"}, Values: []Value{int64(45)}},
		{Key: []Value{"evil\x1b[2J\n"}, Values: []Value{int64(7)}},
		{Key: []Value{"häuser"}, Values: []Value{int64(1200)}},
		{Key: []Value{"awk"}, Values: []Value{int64(7)}},
	}}
}

func files() *Table {
	row := func(pid int64, file string, reads int64, us float64) Row {
		return Row{Key: []Value{pid, file}, Values: []Value{reads, us}}
	}
	return &Table{Name: "files", Kind: "group", By: []string{"pid", "file"}, Keyed: true,
		Columns: []Column{{Name: "reads", Kind: "count"}, {Name: "time", Kind: "total", Unit: "us"}},
		Rows:    []Row{row(41, "passwd", 3, 12.5), row(9, "group, old", 120, 0.25), row(1000, "\"x\"", 17, 4000)}}
}

func mixed() []*Table {
	return []*Table{
		{Name: "bytes", Kind: "total", Columns: []Column{{Unit: "ms"}}, Rows: []Row{{Values: []Value{int64(1234)}}}},
		{Name: "lat", Kind: "stats", Columns: []Column{{Kind: "stats"}}, Rows: []Row{{Values: []Value{
			&Stats{Count: 3, Total: int64(16), Mean: 16.0 / 3, Lowest: int64(-2), Highest: int64(9)}}}}},
		{Name: "lat2", Kind: "stats", Keyed: true, Columns: []Column{{Kind: "stats", Unit: "us"}}, Rows: []Row{
			{Key: []Value{"a", true}, Values: []Value{&Stats{Count: 30, Total: int64(16), Mean: 0.533, Lowest: int64(0),
				Highest: int64(9)}}},
			{Key: []Value{"b", nil}, Values: []Value{&Stats{Count: 1, Total: uint64(1 << 63), Mean: 1e18,
				Lowest: Fault{}, Highest: int64(9)}}}}},
		{Name: "q", Kind: "quantiles", By: []string{"comm"}, Keyed: true, Columns: []Column{{Kind: "quantiles"}},
			Rows: []Row{
				{Key: []Value{"a"}, Values: []Value{Quantiles{{Q: 0.5, Value: int64(10)}, {Q: 0.99, Value: int64(400)},
					{Q: 0.999, Value: int64(401)}}}}}},
		{Name: "big", Kind: "hist", Columns: []Column{{Kind: "hist", Unit: "us"}},
			Rows: []Row{{Values: []Value{&Hist{Buckets: []Bucket{
				{Hi: 0, Below: true, Count: 2}, {Lo: 0, Hi: 1, Count: 1}, {Lo: 1, Hi: 2}, {Lo: 512, Hi: 1024, Count: 9},
				{Lo: 1024, Hi: 2048, Count: 100000000},
				{Lo: 1 << 20, Hi: 1 << 21, Count: 3}, {Lo: 1 << 62, Above: true, Count: 1}}}}}}},
		{Name: "sub", Kind: "hist", Columns: []Column{{Kind: "hist"}},
			Rows: []Row{{Values: []Value{&Hist{Buckets: []Bucket{
				{Lo: 896, Hi: 1024, Count: 1}, {Lo: 1024, Hi: 1280, Count: 2}}}}}}},
		{Name: "lin", Kind: "lhist", Columns: []Column{{Kind: "lhist"}},
			Rows: []Row{{Values: []Value{&Hist{Buckets: []Bucket{
				{Hi: 0, Below: true}, {Lo: 0, Hi: 10, Count: 1}, {Lo: 10, Hi: 20, Count: 4},
				{Lo: 20, Above: true, Count: 2}}}}}}},
		{Name: "samples", Kind: "count", Keyed: true, Columns: []Column{{Kind: "count"}}, Rows: []Row{
			{Key: []Value{"cat", Stack{Frames: []*Frame{
				{"vfs_read", "vfs_read+0x1", "vfs_read+0x1 [nf_tables]", "vfs_read+0x1 [nf_tables]"},
				{"ksys_read", "ksys_read", "ksys_read", "ksys_read"}, {"a;b", "a;b", "a;b", "a;b"}},
				Short: "cut at 3 frames"}},
				Values: []Value{int64(12)}},
			{Key: []Value{"dog", Stack{Frames: []*Frame{{"read", "read", "read", "read"}}, User: true, Unfinished: true,
				Short: "not followed further: taken by frame pointers"}}, Values: []Value{int64(3)}}}},
		{Name: "t", Kind: "table", Keyed: true, Columns: []Column{{Kind: "table"}}, Rows: []Row{
			{Key: []Value{Tuple{int64(1), "x"}}, Values: []Value{Object{{"a", int64(1)}, {"b", "y"}}}}}},
		{Name: "both", Kind: "group", Keyed: true, Columns: []Column{{Name: "n", Kind: "count"},
			{Name: "size", Kind: "hist"}}, Rows: []Row{
			{Key: []Value{"cat"}, Values: []Value{int64(2), &Hist{Buckets: []Bucket{{Lo: 1, Hi: 2, Count: 2}}}}}}},
		{Name: "empty", Kind: "count", Keyed: true, Columns: []Column{{Kind: "count"}}},
	}
}

func TestGolden(t *testing.T) {
	for _, f := range []Format{Text, JSON, CSV, Folded} {
		p := &Printer{Format: f}
		var out []byte
		add := func(t0 *Table, o Options) {
			var err error
			if out, err = p.AppendTable(out, t0, o); err != nil {
				t.Fatal(err)
			}
		}
		add(counts(), Options{})
		add(slowprocs(), Options{})
		add(files(), Options{})
		add(files(), Options{Top: 2, Sort: "reads", Percent: true})
		add(files(), Options{Top: 2, Sort: "-reads"})
		add(files(), Options{Sort: "file"})
		add(files(), Options{Sort: "-pid", Top: 1})
		add(counts(), Options{Top: 1, Percent: true})
		for _, m := range mixed() {
			add(m, Options{})
		}
		golden.Equal(t, "testdata/tables."+f.String(), string(out))
		checkSyntax(t, f, out)
	}
}

// checkSyntax reads the output back with the parsers of the standard library.
func checkSyntax(t *testing.T, f Format, out []byte) {
	t.Helper()
	switch f {
	case JSON:
		for line := range strings.Lines(string(out)) {
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Errorf("%v: %s", err, line)
			}
		}
	case CSV:
		r := csv.NewReader(strings.NewReader(string(out)))
		r.FieldsPerRecord = -1
		if _, err := r.ReadAll(); err != nil {
			t.Error(err)
		}
	case Text:
		if strings.ContainsAny(string(out), "\x1b\r") {
			t.Error("control characters in text")
		}
	}
}

// > What is no number is shown as `nan` everywhere, in JSON as the string `"nan"`.
//
// A struct of an event has an end that is seen, because the names in it can be those of other arguments.
func TestEvent(t *testing.T) {
	e := &Event{Time: 12_000_345_678, CPU: 1, Comm: "cat\x07", PID: int64(41), Probe: "tracepoint:a:b",
		Args: Object{{"filename", "/etc/\n"}, {"flags", int64(0)}, {"bad", Fault{}},
			{"at", Object{{"a", int64(1)}, {"b", Tuple{Object{{"c", math.NaN()}}, math.Inf(1)}}}}, {"z", math.NaN()},
			{"d", 123456.789}, {"small", Object{{"f", 0.00012345678}}}}}
	for f, want := range map[Format]string{
		Text: `12.000345   1 cat\x07          41      tracepoint:a:b filename=/etc/\n flags=0 bad=<fault> ` +
			"at=(a=1, b=((c=nan), +inf)) z=nan d=123456.789 small=(f=0.00012345678)\n",
		JSON: `{"type":"event","time":12000345678,"cpu":1,"comm":"cat\u0007","pid":41,"probe":"tracepoint:a:b",` +
			`"args":{"filename":"/etc/\n","flags":0,"bad":{"fault":true},` +
			`"at":{"a":1,"b":[{"c":"nan"},"+inf"]},"z":"nan","d":123456.789,"small":{"f":0.00012345678}}}` + "\n",
		CSV: "name,time,cpu,comm,pid,args\ntracepoint:a:b,12000345678,1,cat\\x07,41,\"filename=/etc/\\n " +
			"flags=0 bad=<fault> at=(a=1, b=((c=nan), +inf)) z=nan d=123456.789 " +
			"small=(f=0.00012345678)\"\n",
		Folded: "",
	} {
		got, err := (&Printer{Format: f}).AppendEvent(nil, e)
		if err != nil || string(got) != want {
			t.Errorf("%v:\n got %q, %v\nwant %q", f, got, err, want)
		}
	}
}

func TestColumns(t *testing.T) {
	args := []format.Arg{format.IntArg(7), format.StrArg("a\nb"), {Kind: format.Fault}}
	for f, want := range map[Format]string{
		Text: "PID     COMM       RET\n7       a\\nb     <fault>\n7       a\\nb     <fault>\n",
		JSON: strings.Repeat(`{"pid":7,"comm":"a\nb","ret":{"fault":true}}`+"\n", 2),
		CSV:  "pid,comm,ret\n7,a\\x0ab,<fault>\n7,a\\x0ab,<fault>\n",
	} {
		c, err := NewColumns([]string{"pid", "comm", "ret"}, []string{"%-7d", "%-8s", "%5d"})
		if err != nil {
			t.Fatal(err)
		}
		p, out := &Printer{Format: f}, []byte(nil)
		for range 2 {
			if out, err = p.AppendRow(out, c, args); err != nil {
				t.Fatal(err)
			}
		}
		if string(out) != want {
			t.Errorf("%v:\n got %q\nwant %q", f, out, want)
		}
	}
	if _, err := NewColumns([]string{"a"}, []string{"%d %d"}); err == nil {
		t.Error("a column with two verbs was taken")
	}
}

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ns", 999: "999 ns", 1500: "1.50 us", 12345678: "12.35 ms", -2 * time.Second: "-2 s",
		3 * time.Minute: "180 s",
	} {
		if got := string(appendDuration(nil, d)); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.50 KiB", 1 << 30: "1 GiB",
		-1 << 63: "-8 EiB"} {
		if got := string(appendBytes(nil, n)); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
