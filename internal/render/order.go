package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// sort= and top= of show(): which rows, in which order, and the message about a wrong sort=.

// order gives the rows to show, sorted and cut. The table is left as it is.
func (t *Table) order(o Options) ([]Row, error) {
	rows := slices.Clone(t.Rows)
	name, reverse := strings.CutPrefix(o.Sort, "-")
	value, key, err := t.sortColumn(name)
	if err != nil {
		return nil, err
	}
	before := func(a, b Row) int { return compareSizes(value(b), value(a)) } // the greatest first
	if key >= 0 {
		before = func(a, b Row) int { return compareAt(a.Key, b.Key, key) }
	}
	sortRows(rows, before, reverse)
	rows = rows[:cutTop(len(rows), o.Top)]
	if o.Sort == "" && !hasStack(rows) { // lines are read from the bottom, blocks from the top
		sortRows(rows, before, true)
	}
	return rows, nil
}

// sortRows sorts rows; equal ones are in the order of their keys either way.
func sortRows(rows []Row, before func(a, b Row) int, reverse bool) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		first, second := a, b
		if reverse {
			first, second = b, a
		}
		return cmp.Or(before(first, second), compareKeys(a.Key, b.Key))
	})
}

func cutTop(n, top int) int {
	if top > 0 {
		return min(n, top)
	}
	return n
}

// sortColumn finds a column by name: what rows have there, or with key ≥ 0
// the number of a column of the key.
func (t *Table) sortColumn(name string) (value func(Row) Value, key int, err error) {
	columns := t.sortable(false)
	if name == "" {
		return columns[0].get, -1, nil
	}
	for _, c := range slices.Concat(columns, t.sortable(true)) {
		if c.name == name {
			return c.get, -1, nil
		}
	}
	if i := slices.Index(t.By, name); i >= 0 {
		return columns[0].get, i, nil
	}
	switch {
	case name == "key":
		return columns[0].get, 0, nil
	case name == "value", t.plain() && t.isOwnName(name):
		return columns[0].get, -1, nil
	case len(t.Rows) == 0 && slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Kind == "quantiles" }):
		return columns[0].get, -1, nil // nothing to sort, and its parts are not known
	}
	return nil, -1, fmt.Errorf("sort: got %q, want one of %s", name, strings.Join(t.sortNames(columns), ", "))
}

// isOwnName reports whether a word stands for the only column of an aggregation: its variable, with the unit or
// without, or what it is.
func (t *Table) isOwnName(word string) bool {
	return word == t.Name || word == t.Columns[0].Kind || word == t.heading(t.sortable(true)[0], 1)
}

// plain says that the table is one aggregation and no group.
func (t *Table) plain() bool { return len(t.Columns) == 1 && t.Columns[0].Name == "" }

// sortable gives what rows can be sorted by besides their keys, by the names that show() prints, with or without their
// units. A column of stats or quantiles is sorted by as a whole, too, and so has its name as well.
func (t *Table) sortable(units bool) []flatColumn {
	var out []flatColumn
	for i, c := range t.Columns {
		if !units {
			c.Unit = ""
		}
		c = Column{Name: c.Name, Unit: c.Unit}
		out = append(out, flatColumn{c.label(""), func(r Row) Value { return r.Values[i] }})
		switch first := t.firstValue(i).(type) {
		case *Stats:
			out = append(out, flatStats(c, i)...)
		case Quantiles:
			out = append(out, flatQuantiles(c, i, first)...)
		case nil:
			if t.Columns[i].Kind == "stats" {
				out = append(out, flatStats(c, i)...)
			}
		}
	}
	return out
}

func (t *Table) firstValue(column int) Value {
	if len(t.Rows) == 0 {
		return nil
	}
	return t.Rows[0].Values[column]
}

// sortNames are the words that Sort takes, for messages.
func (t *Table) sortNames(columns []flatColumn) []string {
	out := slices.Clone(t.By)
	if len(out) == 0 && t.Keyed {
		out = []string{"key"}
	}
	for _, c := range columns {
		if c.name != "" {
			out = append(out, c.name)
		}
	}
	if t.plain() && len(columns) == 1 {
		if t.Name != "" {
			out = append(out, t.Name) // the heading
		}
		out = append(out, "value")
	}
	return out
}

// compareSizes compares values as show() sorts them: numbers exactly, others by their magnitude.
func compareSizes(a, b Value) int {
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b)
	}
	return cmp.Compare(magnitude(a), magnitude(b))
}
