package value

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

func signed(off, size, tag int) wire.Type {
	return wire.Type{Kind: wire.Int, Off: off, Size: size, Signed: true, TagOff: tag,
		MayNone: tag >= 0, MayFault: tag >= 0}
}

// TestFixed encodes values and decodes them again.
func TestFixed(t *testing.T) {
	str := leaf(wire.Str, 0, 8)
	absent := str
	absent.MayNone, absent.MayFault = true, true
	tests := []struct {
		t    wire.Type
		in   string // an expression
		want string // "" for the value itself
	}{
		{signed(0, 4, -1), "-5", ""},
		{signed(0, 1, -1), "-128", ""},
		{signed(0, 1, -1), "128", "error: got 128, want a signed 8-bit int"},
		{leaf(wire.Int, 0, 2), "65535", ""},
		{leaf(wire.Int, 0, 8), "(1 << 64) - 1", "18446744073709551615"},
		{leaf(wire.Int, 0, 8), "-1", "error: got -1, want an unsigned 64-bit int"},
		{leaf(wire.Int, 0, 8), "True", "error: got bool, want an unsigned 64-bit int"},
		{leaf(wire.Bool, 0, 1), "True", ""},
		{leaf(wire.Bool, 0, 1), "1", "error: got int, want bool"},
		{leaf(wire.Pointer, 0, 8), "None", ""},
		{leaf(wire.Pointer, 0, 8), "4096", ""},
		{str, `"abcdefg"`, ""},
		{str, `"abcdefgh"`,
			"error: got a string of 8 bytes, want at most 7, as kernel halves keep here: cut it, as [:7] does"},
		{str, `cut("abcdefg")`, `"abcdefg…"`},
		{str, `cut("abc")`, `"abc…"`},
		{str, `cut("abcdefgh")[1:]`, `"bcdefgh…"`},
		{str, `cut("abcdefgh")[:7]`, `"abcdefg"`},
		{str, `"…"`, ""},
		{str, `"a\x00b"`, "error: got a string with a NUL byte, want one without: it would end there"},
		{absent, `None`, ""},
		{absent, `FAULT`, "<fault>"},
		{str, `None`, "error: got None, want a string of at most 7 bytes: kernel halves keep no None here"},
		{str, `FAULT`, "error: got <fault>, want a string of at most 7 bytes: kernel halves keep no <fault> here"},
		{str, `b"a"`, "error: got bytes, want a string of at most 7 bytes"},
		{signed(0, 4, 4), "None", ""},
		{signed(0, 4, 4), "FAULT", "<fault>"},
		{signed(0, 4, -1), "None", "error: got None, want a signed 32-bit int: kernel halves keep no None here"},
		{wire.Type{Kind: wire.Tuple, TagOff: -1, Elems: []wire.Type{signed(0, 4, -1), leaf(wire.Str, 8, 8)}},
			`(1, "x")`, ""},
		{wire.Type{Kind: wire.Tuple, TagOff: -1, Elems: []wire.Type{signed(0, 4, -1), leaf(wire.Str, 8, 8)}}, `(1, 2)`,
			"error: element 1: got int, want a string of at most 7 bytes"},
		{wire.Type{Kind: wire.Record_, TagOff: 17, Names: []string{"a", "b"},
			Elems: []wire.Type{signed(0, 4, -1), leaf(wire.Bool, 4, 1)}}, `record(b = True, a = 3)`,
			`record(a = 3, b = True)`},
		{wire.Type{Kind: wire.Record_, TagOff: 17, Names: []string{"a", "b"},
			Elems: []wire.Type{signed(0, 4, -1), leaf(wire.Bool, 4, 1)}, MayNone: true}, `None`, ``},
		{wire.Type{Kind: wire.None, TagOff: -1}, "None", ""},
		{leaf(wire.StackID, 0, 8), "1", "error: got int, want a stack"},
	}
	for _, tt := range tests {
		if got := roundTrip(t, &tt.t, tt.in); got != tt.want && (tt.want != "" || got != tt.in) {
			t.Errorf("%s as %s: %s, want %s", tt.in, shape(&tt.t), got, tt.want)
		}
	}
}

// cutBuiltin makes of a whole string one that was cut at its end.
var cutBuiltin = starlark.NewBuiltin("cut", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
	_ []starlark.Tuple) (starlark.Value, error) {
	return Cut([]byte(string(args[0].(starlark.String)))), nil
})

// quoted is v as it is shown in a list.
func quoted(v starlark.Value) string {
	text := Text(starlark.NewList([]starlark.Value{v}))
	return text[1 : len(text)-1]
}

func roundTrip(t *testing.T, typ *wire.Type, expr string) string {
	t.Helper()
	env := starlark.StringDict{"FAULT": FAULT, "cut": cutBuiltin, "record": starlark.NewBuiltin("record",
		func(_ *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			r := &Record{}
			for _, kv := range kw {
				r.names, r.vals = append(r.names, string(kv[0].(starlark.String))), append(r.vals, kv[1])
			}
			return r, nil
		})}
	v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "test", expr, env)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 24)
	if err := Encode(typ, v, buf); err != nil {
		return "error: " + err.Error()
	}
	return quoted((&Decoder{}).Decode(typ, buf))
}

// record16 is a record of the ring: header, an int, a string reference, then
// the bytes.
func record16(flags uint16, text string) []byte {
	buf := make([]byte, 32)
	order.PutUint64(buf[wire.HeaderTime:], 77)
	order.PutUint32(buf[wire.HeaderCPU:], 3)
	order.PutUint32(buf[16:], 9)
	order.PutUint16(buf[24:], 32)
	order.PutUint16(buf[26:], uint16(len(text))|flags)
	return append(buf, text...)
}

var textRecord = &wire.Record{Fields: []wire.Field{{Name: "n", Type: leaf(wire.Int, 16, 4)},
	{Name: "s", Type: leaf(wire.Str, 24, 4)}}}

func TestEvent(t *testing.T) {
	ev := NewEvent(&Decoder{})
	field := func(i int) string {
		v, err := ev.Field(i)
		if err != nil {
			return "error: " + err.Error()
		}
		return quoted(v)
	}
	for _, tt := range []struct {
		flags      uint16
		text, want string
	}{
		{0, "hello", `"hello"`}, {0, "ls\x00\x00", `"ls"`}, {wire.RefCut, "hel", `"hel…"`}, {wire.RefNone, "", "None"},
		{wire.RefFault, "", "<fault>"},
		{0, strings.Repeat("x", 100), `"` + strings.Repeat("x", 100) + `"`},
	} {
		ev.Set(textRecord, record16(tt.flags, tt.text))
		if got := field(1); got != tt.want || field(0) != "9" || ev.Time() != 77 || ev.CPU() != 3 {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	if got := field(2); got != "error: the event has no field number 2" {
		t.Error(got)
	}
	short := record16(0, "hello")
	ev.Set(textRecord, short[:34])
	if got := field(1); got != "error: string at 32..37 lies outside of a record of 34 bytes" {
		t.Error(got)
	}
	ev.Set(textRecord, short[:18])
	if got := field(0); !strings.HasPrefix(got, "error: record of 18 bytes ends before") {
		t.Error(got)
	}
}

func TestKeep(t *testing.T) {
	ev := NewEvent(&Decoder{})
	buf := record16(0, "one")
	ev.Set(textRecord, buf)
	kept := ev.Keep()
	if ev.Keep() != kept || kept.Keep() != kept {
		t.Error("one event was kept twice")
	}
	copy(buf[32:], "two") // the ring is reused
	ev.Set(textRecord, buf)
	a, _ := kept.Field(1)
	b, _ := ev.Field(1)
	if a.String() != `"one"` || b.String() != `"two"` || ev.Keep() == kept {
		t.Errorf("kept %s, current %s", a, b)
	}
}

// FuzzEvent feeds records that kernel halves would not write.
func FuzzEvent(f *testing.F) {
	f.Add(record16(0, "hello"))
	f.Fuzz(func(t *testing.T, buf []byte) {
		ev := NewEvent(&Decoder{})
		ev.Set(textRecord, buf)
		for i := range textRecord.Fields {
			if v, err := ev.Field(i); (v == nil) == (err == nil) {
				t.Errorf("field %d: %v %v", i, v, err)
			}
		}
	})
}

func TestStrings(t *testing.T) {
	d := &Decoder{}
	if n := testing.AllocsPerRun(100, func() { d.text([]byte("systemd"), false) }); n != 0 {
		t.Errorf("a known string costs %v allocations", n)
	}
}

func TestBucketsAgree(t *testing.T) {
	for _, c := range []*plan.Container{{Kind: plan.LHist, Lo: 0, Hi: 95, Step: 10, Unit: 1},
		{Kind: plan.Hist, Unit: 1000}} {
		b, s := bucketsOf(c), &State{}
		for _, v := range []int64{-1, 0, 1, 999, 1000, 95, 1 << 62} {
			s.add(c, Number{Bits: uint64(v)}, 1)
			if s.Buckets[b.Index(v)] == 0 {
				t.Errorf("%s: %d is not in its bucket", c.Kind, v)
			}
		}
		if len(s.Buckets) != b.N || s.Count != 7 {
			t.Errorf("%s: %d buckets, count %d", c.Kind, len(s.Buckets), s.Count)
		}
	}
}
