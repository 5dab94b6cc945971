package results_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/starlark/value"
)

// run runs a script that has a container by the name of its declaration, and a few values that only events have.
func run(t *testing.T, text string, containers ...value.Container) starlark.StringDict {
	t.Helper()
	names := starlark.StringDict{
		"FAULT": value.FAULT,
		"bytes": starlark.NewBuiltin("bytes", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
			_ []starlark.Tuple) (starlark.Value, error) {
			return value.Bytes(args[0].(starlark.String)), nil
		}),
		"record": starlark.NewBuiltin("record", func(_ *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple,
			named []starlark.Tuple) (starlark.Value, error) {
			var fields []string
			var values []starlark.Value
			for _, n := range named {
				fields, values = append(fields, string(n[0].(starlark.String))), append(values, n[1])
			}
			return value.NewRecord(fields, values), nil
		}),
	}
	for _, c := range containers {
		names[c.Decl().Name] = c
	}
	out, err := starlark.ExecFileOptions(&syntax.FileOptions{Set: true}, &starlark.Thread{}, "t.star", text, names)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// known says of containers what a run without a kernel half knows.
func known(containers ...value.Container) *results.Known {
	return &results.Known{Containers: func() []value.Container { return containers },
		Keyed: func(*plan.Container) (keyed, used bool) { return false, false }}
}

func agg(kind plan.ContainerKind, by ...string) *plan.Container {
	return &plan.Container{Kind: kind, Name: "n", By: by, Unit: 1}
}

// What an aggregation holds becomes a table: an entry is a row, the parts of its key are columns.
func TestTableOfAggregation(t *testing.T) {
	ms := func(kind plan.ContainerKind) *plan.Container {
		return &plan.Container{Kind: kind, Name: "n", Unit: 1000, UnitName: "us"}
	}
	group := &plan.Container{Kind: plan.Group, Name: "n", By: []string{"comm"}, Members: []plan.GroupMember{
		{Name: "calls", Agg: ms(plan.Count)}, {Name: "time", Agg: ms(plan.Total)}}}
	rows := func(rows ...render.Row) []render.Row { return rows }
	one := []render.Column{{Kind: "count"}}
	for name, test := range map[string]struct {
		decl *plan.Container
		text string
		want render.Table
	}{
		"nothing was counted, which is 0": {agg(plan.Count), "",
			render.Table{Kind: "count", Columns: one, Rows: rows(render.Row{Values: []render.Value{int64(0)}})}},
		"nothing was counted by keys, which is no row": {agg(plan.Count, "comm"), "",
			render.Table{Kind: "count", By: []string{"comm"}, Keyed: true, Columns: one}},
		"without a key": {agg(plan.Count), "n.add(3)",
			render.Table{Kind: "count", Columns: one, Rows: rows(render.Row{Values: []render.Value{int64(3)}})}},
		"a key of two columns": {agg(plan.Count, "comm", "pid"), `n["sh", 7].add()`,
			render.Table{Kind: "count", By: []string{"comm", "pid"}, Keyed: true, Columns: one,
				Rows: rows(render.Row{Key: []render.Value{"sh", int64(7)}, Values: []render.Value{int64(1)}})}},
		"a pair in one column": {agg(plan.Count, "pair"), `n[(("a", 1),)].add()`,
			render.Table{Kind: "count", By: []string{"pair"}, Keyed: true, Columns: one,
				Rows: rows(render.Row{Key: []render.Value{render.Tuple{"a", int64(1)}},
					Values: []render.Value{int64(1)}})}},
		"a key without by=": {agg(plan.Count), `n["sh"].add()`,
			render.Table{Kind: "count", Keyed: true, Columns: one,
				Rows: rows(render.Row{Key: []render.Value{"sh"}, Values: []render.Value{int64(1)}})}},
		"a record names the columns": {agg(plan.Count), `n[record(a = 1, b = 2)].add()`,
			render.Table{Kind: "count", By: []string{"a", "b"}, Keyed: true, Columns: one,
				Rows: rows(render.Row{Key: []render.Value{int64(1), int64(2)}, Names: []string{"a", "b"},
					Values: []render.Value{int64(1)}})}},
		"a total in its unit": {ms(plan.Total), "n.add(5000)",
			render.Table{Kind: "total", Columns: []render.Column{{Kind: "total", Unit: "us"}},
				Rows: rows(render.Row{Values: []render.Value{5.}})}},
		"a group, whose count is in no unit": {group, `n["sh"].calls.add()` + "\n" + `n["sh"].time.add(2000)`,
			render.Table{Kind: "group", By: []string{"comm"}, Keyed: true, Columns: []render.Column{
				{Name: "calls", Kind: "count"}, {Name: "time", Kind: "total", Unit: "us"}},
				Rows: rows(render.Row{Key: []render.Value{"sh"}, Values: []render.Value{int64(1), 2.}})}},
		"stats": {agg(plan.Stats), "n.add(2)\nn.add(4)",
			render.Table{Kind: "stats", Columns: []render.Column{{Kind: "stats"}},
				Rows: rows(render.Row{Values: []render.Value{&render.Stats{Count: 2, Mean: 3., Total: int64(6),
					Lowest: int64(2), Highest: int64(4)}}})}},
	} {
		t.Run(name, func(t *testing.T) {
			a := value.NewAgg(test.decl)
			run(t, test.text, a)
			got, err := known(a).Table(a)
			if err != nil {
				t.Fatal(err)
			}
			test.want.Name = "n"
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Rows whose keys are records of other fields than the first leave the columns without names.
func TestColumnsOfUnlikeRecords(t *testing.T) {
	a := value.NewAgg(agg(plan.Count))
	run(t, "n[record(a = 1)].add()\nn[record(b = 1)].add()", a)
	got, err := known(a).Table(a)
	if err != nil {
		t.Fatal(err)
	}
	if got.By != nil || len(got.Rows) != 2 {
		t.Errorf("got columns %q of %d rows, want none of 2", got.By, len(got.Rows))
	}
}

// A kernel half that adds by keys makes an empty aggregation one of keys: it shows no 0.
func TestKeyedByKernel(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		a := value.NewAgg(agg(plan.Count))
		k := known(a)
		k.Keyed = func(*plan.Container) (bool, bool) { return keyed, true }
		got, err := k.Table(a)
		if err != nil {
			t.Fatal(err)
		}
		if empty := len(got.Rows) == 0; empty != keyed {
			t.Errorf("with keys %v: got rows %v", keyed, got.Rows)
		}
	}
}

// A histogram has its buckets, quantiles have the values that reports show.
func TestDistributions(t *testing.T) {
	hist := value.NewAgg(agg(plan.Hist))
	run(t, "n.add(5)\nn.add(-1)", hist)
	got, err := known(hist).Table(hist)
	if err != nil {
		t.Fatal(err)
	}
	var filled []render.Bucket
	for _, b := range got.Rows[0].Values[0].(*render.Hist).Buckets {
		if b.Count > 0 {
			filled = append(filled, b)
		}
	}
	want := []render.Bucket{{Below: true, Count: 1}, {Lo: 4, Hi: 8, Unsigned: true, Count: 1}}
	if !cmp.Equal(filled, want) {
		t.Errorf("buckets: got %+v, want %+v", filled, want)
	}

	quantiles := value.NewAgg(agg(plan.Quantiles))
	run(t, "[n.add(x) for x in range(1, 101)]", quantiles)
	if got, err = known(quantiles).Table(quantiles); err != nil {
		t.Fatal(err)
	}
	q := got.Rows[0].Values[0].(render.Quantiles)
	if len(q) != 5 || q[0].Q != 0.5 || q[4].Q != 1 {
		t.Errorf("quantiles: %+v", q)
	}
	// The values are ends of buckets.
	if median, most := fmt.Sprint(q[0].Value), fmt.Sprint(q[4].Value); median != "51" || most != "104" {
		t.Errorf("of 1 to 100 half are at most %s and all at most %s, want 51 and 104", median, most)
	}
}

// What take() gave is shown as the aggregation was.
func TestTaken(t *testing.T) {
	a := value.NewAgg(agg(plan.Count, "comm"))
	out := run(t, "n[\"sh\"].add(2)\ntaken = n.take()\nn[\"sh\"].add(40)", a)
	got, err := known(a).Table(out["taken"])
	if err != nil {
		t.Fatal(err)
	}
	if want := []render.Row{{Key: []render.Value{"sh"}, Values: []render.Value{int64(2)}}}; !cmp.Equal(got.Rows, want) {
		t.Errorf("got %v, want %v", got.Rows, want)
	}
}

// A table, a cell and a dict are shown as tables, too, and other values are none.
func TestTableOfValues(t *testing.T) {
	table := value.NewTable(&plan.Container{Kind: plan.Table, Name: "seen", By: []string{"pid"}})
	cell := value.NewCell(&plan.Container{Kind: plan.Cell, Name: "last"}, starlark.MakeInt(7))
	out := run(t, "seen[3] = \"x\"\nd = {(1, 2): None}\nplain = [1]", table, cell)
	row := func(key []render.Value, v render.Value) []render.Row {
		return []render.Row{{Key: key, Values: []render.Value{v}}}
	}
	for _, test := range []struct {
		of   starlark.Value
		want *render.Table
	}{
		{table, &render.Table{Name: "seen", Kind: "table", By: []string{"pid"}, Keyed: true,
			Columns: make([]render.Column, 1), Rows: row([]render.Value{int64(3)}, "x")}},
		{cell, &render.Table{Name: "last", Kind: "cell", Columns: make([]render.Column, 1), Rows: row(nil, int64(7))}},
		{out["d"], &render.Table{Kind: "dict", Keyed: true, Columns: make([]render.Column, 1),
			Rows: row([]render.Value{int64(1), int64(2)}, nil)}},
		{out["plain"], nil},
		{starlark.String("text"), nil},
	} {
		got, err := known(table, cell).Table(test.of)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", test.of, diff)
		}
	}
}

// Plain keeps what a value is: a number its sign and size, a missing value its being missing.
func TestPlain(t *testing.T) {
	for text, want := range map[string]render.Value{
		"None": nil, "True": true, "-5": int64(-5), "1 << 63": uint64(1) << 63, "1.5": 1.5, `"a"`: "a",
		"1 << 64":             new(big.Int).Lsh(big.NewInt(1), 64),
		`bytes("\x00b")`:      []byte("\x00b"),
		"(1, (2,))":           render.Tuple{int64(1), render.Tuple{int64(2)}},
		"[1, None]":           render.Tuple{int64(1), nil},
		"set([4])":            render.Tuple{int64(4)},
		"record(a = 1)":       render.Object{{Name: "a", Value: int64(1)}},
		`{"a": 1, 2: "b"}`:    render.Object{{Name: "a", Value: int64(1)}, {Name: "2", Value: "b"}},
		"FAULT":               render.Fault{Text: value.FAULT.String()},
		"record(a = [FAULT])": render.Object{{Name: "a", Value: render.Tuple{render.Fault{Text: "<fault>"}}}},
	} {
		got := results.Plain(run(t, "x = "+text)["x"])
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
	}
}
