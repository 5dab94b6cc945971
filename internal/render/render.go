// Package render turns results into text, JSON, CSV or folded stacks.
//
// It works on plain data: tables of rows with a key and one value for each
// column, events, lines. It never reads a map and never sees the interpreter.
// All functions append to the caller's buffer; nothing is written here.
//
// Strings come from traced processes, so text escapes their control
// characters, and so does CSV within its quotes. JSON keeps values typed: numbers are numbers, keys are arrays
// (objects where their columns have names), never one flattened string.
package render

import (
	"github.com/startrace/startrace/internal/escape"
)

// A table or a line of print rendered in the format that is wanted: the switch over formats.

// AppendTable renders a table.
func (p *Printer) AppendTable(dst []byte, t *Table, o Options) ([]byte, error) {
	rows, err := t.order(o)
	if err != nil {
		return dst, err
	}
	rows = apart(rows)
	switch p.Format {
	case JSON:
		return appendTableJSON(dst, t, rows, o)
	case CSV:
		return p.appendTableCSV(dst, t, rows, o)
	case Folded:
		dst, left := appendTableFolded(dst, t, rows)
		p.LeftOut += left
		return dst, nil
	}
	return p.appendTableText(dst, t.escaped(), rows, o)
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
	dst = escape.AppendJSONText(dst, string(text))
	return append(dst, "}\n"...)
}
