package render

import (
	"encoding/csv"
	"math"
	"strings"

	"github.com/startrace/startrace/internal/escape"
)

// A cell of CSV and how lines are written, None as nothing and an empty text as "". With --csv-guard no text is a
// formula.

// A csvWriter collects lines of CSV. Cells are quoted where CSV needs it.
type csvWriter struct {
	*csv.Writer
	guard bool
	// text has the lines, with emptyText for ""; a strings.Builder does not fail.
	text *strings.Builder
}

// emptyText stands for an empty text in a line: the writer would leave it away, as what is not there. No other cell has
// it, since control characters are escaped.
const emptyText = "\x00"

func (p *Printer) csvWriter() csvWriter {
	var text strings.Builder
	return csvWriter{csv.NewWriter(&text), p.Guard, &text}
}

// appendTo appends the lines that were written.
func (w csvWriter) appendTo(dst []byte) ([]byte, error) {
	w.Flush()
	return append(dst, strings.ReplaceAll(w.text.String(), emptyText, `""`)...), w.Error()
}

// cell gives a value as a cell, None as nothing, which an empty text is not. Bytes of control characters, and those
// that are not UTF-8, are there as \xff (escape.ByteLine), so that each row is one line and what was traced can be had
// back.
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

// guarded is a text as a cell. It keeps it from being a formula to spreadsheets, if that is asked for. (A tab or
// carriage return at its beginning is escaped anyway.)
func (w csvWriter) guarded(text string) string {
	if text == "" {
		return emptyText
	}
	if w.guard && strings.IndexByte("=+-@", text[0]) >= 0 {
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
