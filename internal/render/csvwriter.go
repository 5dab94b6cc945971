package render

import (
	"encoding/csv"
	"io"
	"math"
	"strings"

	"github.com/startrace/startrace/internal/escape"
)

// A cell of CSV and how a line is written, None as nothing, and --csv-guard, by which no text is a formula.

// A csvWriter writes lines of CSV to a strings.Builder, which does not fail. Cells are quoted
// where CSV needs it.
type csvWriter struct {
	*csv.Writer
	guard bool
}

func (p *Printer) csvWriter(to io.Writer) csvWriter { return csvWriter{csv.NewWriter(to), p.Guard} }

// cell gives a value as a cell, None as nothing. Bytes of control characters, and those that
// are not UTF-8, are there as \xff (escape.ByteLine), so that each row is one line and what
// was traced can be had back.
func (w csvWriter) cell(v Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int64, uint64, bool:
		return plainText(v)
	case float64:
		if math.IsInf(v, 0) { // +inf is no number to spreadsheets
			return w.guarded(plainText(v))
		}
		return string(appendWhole(nil, v))
	case string:
		return w.guarded(escape.ByteLine(v))
	case Frame:
		return w.guarded(escape.ByteLine(v.Text))
	case []byte:
		return w.guarded(escape.ByteLine(string(v)))
	case CutBytes:
		return w.guarded(escape.ByteLine(v.marked()))
	}
	return w.guarded(plainText(v))
}

// guarded keeps a text from being a formula to spreadsheets, if that is asked for. (A tab or
// carriage return at its beginning is escaped anyway.)
func (w csvWriter) guarded(text string) string {
	if w.guard && text != "" && strings.IndexByte("=+-@", text[0]) >= 0 {
		return "'" + text
	}
	return text
}

// key gives the cells of a key, as many as the header names.
func (w csvWriter) key(r Row, width int) []string {
	out := make([]string, width)
	for i, v := range r.Key {
		out[i] = w.cell(v)
	}
	return out
}
