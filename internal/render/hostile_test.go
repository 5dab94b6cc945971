package render

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/test/tried"
)

// hostile is a name with everything that acts on a terminal or on lines.
const hostile = "x;\x1b[2J\x07\r\n9 root \x7f\u009b\u202e\xff\tend"

// Names come from programs and files. Wherever they stand, they make no line and act on no terminal.
func TestNothingForged(t *testing.T) {
	frame := Frame{hostile, hostile + "+0x1", hostile + "+0x1 (" + hostile + ")", hostile}
	stack := Stack{Frames: []*Frame{&frame, &frame}, User: true}
	object := Object{{hostile, hostile}}
	tables := map[string]*Table{
		"count": {Name: hostile, Kind: "count", By: []string{hostile, "b"}, Keyed: true,
			Columns: []Column{{Kind: "count", Unit: hostile}},
			Rows:    []Row{{Key: []Value{hostile, object}, Values: []Value{int64(1)}}}},
		"group": {Name: hostile, Kind: "group", By: []string{hostile}, Keyed: true,
			Columns: []Column{{Name: hostile, Unit: hostile}, {Name: hostile}},
			Rows:    []Row{{Key: []Value{Tuple{hostile}}, Values: []Value{int64(1), hostile}}}},
		"single": {Name: hostile, Kind: "count", Columns: []Column{{Kind: "count", Unit: hostile}},
			Rows: []Row{{Values: []Value{int64(1)}}}},
		"stacks": {Name: hostile, Kind: "count", Keyed: true, Columns: []Column{{Kind: "count"}},
			Rows: []Row{{Key: []Value{hostile, stack}, Values: []Value{int64(1)}}}},
		"hist": {Name: hostile, Kind: "hist", Keyed: true, Columns: []Column{{Kind: "hist", Unit: hostile}},
			Rows: []Row{{Key: []Value{[]byte(hostile)}, Values: []Value{&Hist{[]Bucket{{Lo: 1, Hi: 2, Count: 3}}}}}}},
	}
	plain := strings.NewReplacer(hostile, "name")
	for f := range Folded + 1 {
		for name, table := range tables {
			got, err := (&Printer{Format: f}).AppendTable(nil, table, Options{})
			same, err2 := (&Printer{Format: f}).AppendTable(nil, renamed(table, plain.Replace), Options{})
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			checkLines(t, f.String()+" "+name, string(got), strings.Count(string(same), "\n"))
		}
		e := &Event{Comm: hostile, PID: int64(1), Probe: hostile, Args: Object{{hostile, stack}, {"o", object}}}
		got, err := (&Printer{Format: f}).AppendEvent(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		checkLines(t, f.String()+" event", string(got), map[Format]int{Text: 1, JSON: 1, CSV: 2}[f])
		c, err := NewColumns([]string{hostile, "b"}, []string{"%-7s", "%v"})
		if err != nil {
			t.Fatal(err)
		}
		args := []format.Arg{format.StrArg(hostile), {Kind: format.Other, Str: hostile}}
		if got, err = (&Printer{Format: f}).AppendRow(nil, c, args); err != nil {
			t.Fatal(err)
		}
		checkLines(t, f.String()+" row", string(got), map[Format]int{Text: 2, JSON: 1, CSV: 2}[f])
	}
	tried.Many(t, "%d outputs", int(Folded+1)*(len(tables)+2))
}

// renamed is the table with other names; what is in rows stays.
func renamed(t *Table, f func(string) string) *Table {
	out := *t.escaped()
	out.Name = f(t.Name)
	return &out
}

func checkLines(t *testing.T, of, got string, lines int) {
	t.Helper()
	if n := strings.Count(got, "\n"); n != lines || escape.Any(strings.ReplaceAll(got, "\n", "")) {
		t.Errorf("%s: %d lines, want %d without special characters: %q", of, n, lines, got)
	}
}

// In folded stacks a name is one element, whatever it has.
func TestFoldedNames(t *testing.T) {
	table := &Table{Kind: "count", Keyed: true, Columns: []Column{{Kind: "count"}}, Rows: []Row{{
		Values: []Value{int64(3)},
		Key:    []Value{"a b;c", Stack{Frames: []*Frame{{Function: "leaf 9"}, {Function: "ro;ot\n"}}}}}}}
	lines, _ := appendTableFolded(nil, table, table.Rows)
	got := string(lines)
	if want := `a_b:c;ro:ot\n;leaf_9 3` + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Different strings stay different in JSON and CSV, and each \xHH there stands for a byte.
func TestBytesComeBack(t *testing.T) {
	texts := []string{"a\xff", "a\xfe", "a\ufffd", `a\xff`, `a\x5cxff`, `\x`, "\\\xff", `a\\xff`, "\xc3", "é\xc3",
		`\x4`, "\\x\xff", "\\xf\xff", "a\n", `a\n`, `a\x0a`, "\u009b", "=1\x1b", ""}
	seen := map[string]string{}
	for _, text := range texts {
		var decoded string
		if err := json.Unmarshal(escape.AppendJSON(nil, text), &decoded); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if back := bytesOf(decoded); back != text {
			t.Errorf("JSON of %q is %q, which stands for %q", text, decoded, back)
		}
		if other, known := seen[decoded]; known {
			t.Errorf("JSON of %q and %q is %q", text, other, decoded)
		}
		seen[decoded] = text
		w := (&Printer{}).csvWriter()
		w.Write([]string{w.cell(text), "x"})
		line, _ := w.appendTo(nil)
		row, err := csv.NewReader(strings.NewReader(string(line))).Read()
		if err != nil || bytesOf(row[0]) != text || strings.Count(string(line), "\n") != 1 {
			t.Errorf("CSV of %q is %q, %v", text, line, err)
		}
	}
	tried.Many(t, "%d strings", len(texts))
}

// bytesOf replaces each \xHH by that byte.
func bytesOf(text string) string {
	const digits = "0123456789abcdef"
	var out []byte
	for i := 0; i < len(text); i++ {
		if i+4 <= len(text) && text[i] == '\\' && text[i+1] == 'x' {
			high, low := strings.IndexByte(digits, text[i+2]), strings.IndexByte(digits, text[i+3])
			if high >= 0 && low >= 0 {
				out = append(out, byte(high<<4|low))
				i += 3
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}

// With a guard no cell is a formula; numbers stay numbers.
func TestGuard(t *testing.T) {
	w := (&Printer{Guard: true}).csvWriter()
	for v, want := range map[Value]string{"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\t=1": `\x09=1`,
		"\r=1": `\x0d=1`, "a=1": "a=1", int64(-1): "-1", -1.5: "-1.5", "": emptyText, true: "True"} {
		if got := w.cell(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	if got := (csvWriter{}).cell("=1"); got != "=1" {
		t.Errorf("without a guard: %q", got)
	}
}

// None and an empty text are two things in CSV: in keys, in values and in rows of columns(), with a guard and without.
//
// > In CSV None is an empty cell, and an empty string is `""`, as PostgreSQL and others tell them apart.
func TestEmptyCells(t *testing.T) {
	for _, guard := range []bool{false, true} {
		p := &Printer{Format: CSV, Guard: guard}
		table := &Table{Name: "t", Kind: "table", Keyed: true, Columns: []Column{{Kind: "table"}}, Rows: []Row{
			{Key: []Value{nil, ""}, Values: []Value{"a"}}, {Key: []Value{"", nil}, Values: []Value{""}},
			{Key: []Value{[]byte{}, "x"}, Values: []Value{nil}}}}
		got, err := p.appendTableCSV(nil, table, table.Rows, Options{})
		const want = "name,key1,key2,value\nt,,\"\",a\nt,\"\",,\"\"\nt,\"\",x,\n"
		if err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		w := p.csvWriter()
		w.Write([]string{w.cell(nil), w.cell(""), w.cell(`"`), w.cell("\x00")})
		if line, _ := w.appendTo(nil); string(line) != `,"","""",\x00`+"\n" {
			t.Errorf("a line is %q", line)
		}
	}
}
