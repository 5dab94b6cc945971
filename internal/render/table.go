package render

import (
	"cmp"
	"math/big"
	"strings"
)

// The types of what is rendered: Table, Row, Value, Hist, and how values are compared.

// A Value is one of: nil (None), bool, int64, uint64, *big.Int, float64,
// string, []byte, CutBytes, Fault, Stack, Frame, Tuple, Object; as a row's value also
// *Stats, *Hist and Quantiles.
type Value any

// The values that Go has no type for.
type (
	// Fault is a read in the kernel that failed; Text is what it prints as, if not as
	// others.
	Fault struct{ Text string }
	// CutBytes are bytes that were read, of which there were more.
	CutBytes []byte
	// Stack is a call stack of a program or of the kernel, leaf first. Short says why there are no frames, or
	// why there may be more, Unfinished whether there are callers that nobody could find.
	Stack struct {
		// Frames are the calls, the leaf first. Many stacks have the same ones.
		Frames []*Frame
		// User: it is a stack of a program.
		User       bool
		Short      string
		Unfinished bool
	}
	// Frame is a Function, the same with the offset in it (Label), that as people read it, with the module (Text), and
	// with the folder of the file (Whole). A frame that is a value is shown as people read it.
	Frame struct{ Function, Label, Text, Whole string }
	// Tuple is a tuple or list.
	Tuple []Value
	// Object is a record, its fields in order.
	Object []Field
)

// cutMark is shown behind what was cut.
const cutMark = "…"

// marked are the bytes as text shows them.
func (b CutBytes) marked() string { return string(b) + cutMark }

// A Field is one field of an Object: its Name, and its Value.
type Field struct {
	Name  string
	Value Value
}

// A Table is an aggregation, keyed or not, a group, or a table of a script.
type Table struct {
	// Name is the container's in the script, "" where it has none.
	Name string
	// Kind is the script's word: "count", "hist", "group", "table" …
	Kind string
	// By names the columns of the key; nil where they have no names.
	By []string
	// Keyed says that rows have keys. An unkeyed table has one row.
	Keyed bool
	// Columns are the values of each row. An aggregation has one, without a
	// name; a group has one for each member.
	Columns []Column
	// Rows are as they were read; Options say in which order they are shown.
	Rows []Row
	// Time is when the rows were read, in ns of CLOCK_MONOTONIC, for JSON and CSV;
	// 0 for what is printed at the exit.
	Time int64
}

// A Column describes one value of the rows.
type Column struct {
	// Name is the member's of a group, "" for the one column of an aggregation or a table.
	Name string
	Kind string // as Table.Kind
	Unit string // "ms", "us"; "" for none. Values are in this unit already
}

// A Row is one key and its values.
type Row struct {
	// Key has a value for each column of the key; none in an unkeyed table.
	Key   []Value
	Names []string // of the parts of this key, where rows have different ones
	// Values has one for each of the table's Columns.
	Values []Value
}

// Stats is the value of stats(): Count is how many values there were, Total is their sum, Mean their mean, and Lowest
// and Highest are the ends; without values these two are nil.
type Stats struct {
	Count                        int64
	Total, Mean, Lowest, Highest Value
}

// Quantiles is the value of quantiles(), ascending.
type Quantiles []Quantile

// A Quantile is the Value below which the share Q of all values lies, which are Of.
type Quantile struct {
	Q     float64
	Value Value
	Of    uint64
}

// Options say how a table is shown.
type Options struct {
	// Top keeps the rows with the greatest values; 0 keeps all.
	Top int
	// Sort names the column to sort by, as its heading does, greatest first for values and
	// ascending for columns of the key; a leading "-" turns it around. Without
	// it rows ascend by the first value: the greatest is the last line read.
	Sort string
	// Percent adds each row's share of the sum of the sorted column.
	Percent bool
	// Room is an error where there is no room for so many bytes of columns, which a long cell makes wide in all rows.
	// nil: there is room for all.
	Room func(bytes uint64) error
}

// magnitude is what rows are sorted by: of a histogram the number of values.
func magnitude(v Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	case *big.Int:
		f, _ := v.Float64()
		return f
	case bool:
		if v {
			return 1
		}
	case *Stats:
		return float64(v.Count)
	case *Hist:
		return float64(v.Count())
	case Quantiles:
		if len(v) > 0 {
			return magnitude(v[len(v)-1].Value)
		}
	}
	return 0
}

func compareKeys(a, b []Value) int {
	for i := range min(len(a), len(b)) {
		if c := compareAt(a, b, i); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareAt(a, b []Value, i int) int {
	if i >= len(a) || i >= len(b) {
		return cmp.Compare(len(a), len(b))
	}
	x, y := a[i], b[i]
	if isNumber(x) && isNumber(y) {
		return compareNumbers(x, y)
	}
	return strings.Compare(plainText(x), plainText(y))
}

// compareNumbers is exact for integers: addresses differ beyond the 53 bits
// of a float.
func compareNumbers(x, y Value) int {
	a, aok := x.(int64)
	b, bok := y.(int64)
	if aok && bok {
		return cmp.Compare(a, b)
	}
	u, uok := x.(uint64)
	v, vok := y.(uint64)
	if uok && vok {
		return cmp.Compare(u, v)
	}
	return cmp.Compare(magnitude(x), magnitude(y))
}

func isNumber(v Value) bool {
	switch v.(type) {
	case int64, uint64, float64, *big.Int:
		return true
	}
	return false
}

func isHistogram(c Column) bool { return c.Kind == "hist" || c.Kind == "lhist" }

// A Hist is a histogram: its Buckets are without gaps, ascending.
type Hist struct {
	Buckets []Bucket
}

// A Bucket counts the values v with Lo <= v < Hi.
type Bucket struct {
	Lo, Hi int64
	// Below and Above mark the open ends: no lower or no upper bound.
	Below, Above bool
	// Unsigned says that the bounds are unsigned numbers.
	Unsigned bool
	// Divided says that values were divided by a unit, so that a bucket of width 1 holds more than one.
	Divided bool
	// Count is how many values lie between the bounds.
	Count uint64
}

// Count is the number of values.
func (h *Hist) Count() (n uint64) {
	for i := range h.Buckets {
		n += h.Buckets[i].Count
	}
	return n
}
