package render

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestUnknownColumn(t *testing.T) {
	for table, want := range map[*Table]string{
		files():    `sort: got "writes", want one of pid, file, reads, time`,
		counts():   `sort: got "writes", want one of key, n, value`,
		mixed()[2]: `sort: got "writes", want one of key, count, mean, lowest, highest, total`,
		mixed()[3]: `sort: got "writes", want one of comm, p50, p99, p99.9`,
	} {
		_, err := new(Printer).AppendTable(nil, table, Options{Sort: "writes"})
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// Whatever heading show() prints can be sorted by, and a message names no other.
func TestEveryHeadingSorts(t *testing.T) {
	unit := regexp.MustCompile(` ?\(\w+\)$`)
	for _, table := range append(mixed(), files(), counts()) {
		words := table.sortNames(table.sortable(false))
		var columns []flatColumn
		if len(table.Rows) > 0 && !slices.ContainsFunc(table.Columns, isHistogram) {
			columns = table.flat(table.Rows)
		}
		for _, c := range columns {
			heading := table.heading(c, len(columns))
			words = append(words, heading, unit.ReplaceAllString(heading, ""))
		}
		for _, word := range words {
			for _, sign := range []string{"", "-"} {
				for _, o := range []Options{{Sort: sign + word}, {Sort: sign + word, Percent: true}} {
					if _, err := new(Printer).AppendTable(nil, table, o); err != nil {
						t.Errorf("%s: %v", table.Name, err)
					}
				}
			}
		}
	}
}

// Parts of stats() sort by their own values, numbers of 64 bits by all of their bits.
func TestSortByParts(t *testing.T) {
	row := func(key string, count, highest int64) Row {
		return Row{Key: []Value{key}, Values: []Value{&Stats{Count: count, Highest: highest}}}
	}
	table := &Table{Keyed: true, By: []string{"k"}, Columns: []Column{{Kind: "stats"}},
		Rows: []Row{row("a", 3, 1<<60+1), row("b", 2, 1<<60+2), row("c", 1, -5)}}
	for sort, want := range map[string]string{
		"highest": "bac", "-highest": "cab", "count": "abc", "value": "abc", "-count": "cba", "k": "abc", "-k": "cba",
		"": "cba",
	} {
		rows, err := table.order(Options{Sort: sort})
		var got strings.Builder
		for _, r := range rows {
			got.WriteString(r.Key[0].(string))
		}
		if err != nil || got.String() != want {
			t.Errorf("sort %q: got %s, %v, want %s", sort, got.String(), err, want)
		}
	}
}

// Rows that are equal where they are sorted are in the order of their whole keys, in whatever order they were counted,
// and of these top keeps the first.
func TestSortOfEqualRows(t *testing.T) {
	rows := []Row{}
	for a := range int64(5) {
		for _, s := range []string{"x", "y"} {
			rows = append(rows, Row{Key: []Value{a, s}, Values: []Value{int64(1)}})
		}
	}
	for sort, want := range map[string]string{"s": "0x 1x 2x", "-s": "0y 1y 2y", "a": "0x 0y 1x", "-a": "4x 4y 3x",
		"value": "0x 0y 1x", "-value": "0x 0y 1x", "": "0x 0y 1x"} {
		for range 20 {
			rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			table := &Table{Keyed: true, By: []string{"a", "s"}, Columns: []Column{{Kind: "count"}}, Rows: rows}
			shown, err := table.order(Options{Sort: sort, Top: 3})
			var got []string
			for _, r := range shown {
				got = append(got, fmt.Sprint(r.Key[0], r.Key[1]))
			}
			if err != nil || strings.Join(got, " ") != want {
				t.Fatalf("sort %q: got %v, %v, want %s", sort, got, err, want)
			}
		}
	}
}

// Each column of CSV has a name of its own, whatever a script calls the parts of a key.
func TestColumnsOfCSVDiffer(t *testing.T) {
	table := &Table{Name: "n", Keyed: true, By: []string{"name", "value", "name"}, Columns: []Column{{Kind: "count"}},
		Rows: []Row{{Key: []Value{"a", "b", "c"}, Values: []Value{int64(1)}}}}
	text, err := (&Printer{Format: CSV}).AppendTable(nil, table, Options{})
	if want := "name,name_2,value,name_3,value_2\nn,a,b,c,1\n"; err != nil || string(text) != want {
		t.Errorf("got %s, %v\nwant %s", text, err, want)
	}
}

// Values of both signs have no share of their sum, which is less than one of them, in any format. Others have one.
//
// > Where some values are below 0 and others above, there is no whole and no share.
func TestSharesOfBothSigns(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   []string
	}{{[]int64{30, 10}, []string{"75.0%", "25.0%"}}, {[]int64{-30, -10}, []string{"75.0%", "25.0%"}},
		{[]int64{30, -10}, []string{"-", "-"}}, {[]int64{5, -5}, []string{"-", "-"}},
		{[]int64{0, 0}, []string{"0.0%", "0.0%"}}} {
		table := &Table{Kind: "total", Name: "t", Keyed: true, Columns: []Column{{}}}
		for i, v := range c.values {
			table.Rows = append(table.Rows, Row{Key: []Value{int64(i)}, Values: []Value{v}})
		}
		share := table.shares(Options{Percent: true})
		for i, r := range table.Rows {
			if got := percentText(share(r)); got != c.want[i] {
				t.Errorf("%v: the share of %d is %s, want %s", c.values, c.values[i], got, c.want[i])
			}
		}
		for _, format := range []Format{Text, JSON, CSV} {
			p := Printer{Format: format}
			out, err := p.AppendTable(nil, table, Options{Percent: true})
			if none := c.want[0] == "-"; err != nil || none && strings.ContainsAny(string(out), "%.") {
				t.Errorf("%v: %v\n%s", c.values, err, out)
			}
		}
	}
}
