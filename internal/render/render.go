// Package render turns results into text, JSON, CSV or folded stacks.
//
// It works on plain data: tables of rows with a key and one value for each
// column, events, lines. It never reads a map and never sees the interpreter.
// All functions append to the caller's buffer; nothing is written here.
//
// Strings come from traced processes, so text escapes their control
// characters. JSON keeps values typed: numbers are numbers, keys are arrays
// (objects where their columns have names), never one flattened string.
package render

import "fmt"

// Format is an output format (--format).
type Format uint8

// The formats.
const (
	Text Format = iota
	JSON
	CSV
	Folded // stacks as `a;b;c 12`, the input of flame graphs
)

var formatNames = [...]string{"text", "json", "csv", "folded"}

// String gives the word of --format.
func (f Format) String() string { return formatNames[f] }

// ParseFormat reads the word of --format.
func ParseFormat(s string) (Format, error) {
	for i, name := range formatNames {
		if s == name {
			return Format(i), nil
		}
	}
	return Text, fmt.Errorf("unknown format %q (text, json, csv or folded)", s)
}

// A Printer renders results one after the other. It remembers what it must so
// that the whole output fits together: whether a blank line is due and which
// CSV header stands. Not safe for use by several goroutines.
type Printer struct {
	Format Format

	started bool   // something was rendered: blocks are set apart by a blank line
	header  string // the CSV header in force
}

// AppendTable renders a table.
func (p *Printer) AppendTable(dst []byte, t *Table, o Options) ([]byte, error) {
	rows, err := t.order(o)
	if err != nil {
		return dst, err
	}
	switch p.Format {
	case JSON:
		return appendTableJSON(dst, t, rows)
	case CSV:
		return p.appendTableCSV(dst, t, rows)
	case Folded:
		return appendTableFolded(dst, t, rows), nil
	}
	return p.appendTableText(dst, t, rows, o), nil
}

// AppendLine renders what print and printf wrote. In JSON it is an object;
// what a script prints has no place in CSV and folded stacks, the caller
// sends it to standard error there.
func (p *Printer) AppendLine(dst []byte, text []byte) []byte {
	p.started = true
	if p.Format != JSON {
		return append(dst, text...)
	}
	dst = append(dst, `{"type":"print","text":`...)
	dst = appendJSONString(dst, string(text))
	return append(dst, "}\n"...)
}

// TakesLines reports whether print and printf belong into the output.
func (f Format) TakesLines() bool { return f == Text || f == JSON }

// separate begins a block of several lines.
func (p *Printer) separate(dst []byte) []byte {
	if p.started {
		dst = append(dst, '\n')
	}
	p.started = true
	return dst
}
