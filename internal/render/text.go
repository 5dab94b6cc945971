package render

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/escape"
)

// Tables as text: `name: 42 ms`, blocks of histograms, stacks with their frames below each other.

// appendTableText renders a table for people. Numbers make aligned columns,
// histograms and keys with stacks a block for each row.
func (p *Printer) appendTableText(dst []byte, t *Table, rows []Row, o Options) ([]byte, error) {
	if len(rows) == 0 {
		return dst, nil
	}
	if slices.ContainsFunc(t.Columns, isHistogram) {
		dst = p.appendHistograms(dst, t, rows, o)
	}
	flat := t.flat(rows)
	switch {
	case len(flat) == 0:
		return dst, nil
	case !t.Keyed && len(t.Columns) == 1:
		return p.appendSingle(dst, t, rows[0]), nil
	case hasStack(rows):
		return p.appendStacked(dst, t, rows, flat, o), nil
	}
	return p.appendGrid(dst, t, rows, flat, o)
}

// escaped is the table with names as text shows them: a script can have made them of what
// it has traced.
func (t *Table) escaped() *Table {
	out := *t
	out.Name = escape.Line(t.Name)
	out.By = slices.Clone(t.By)
	for i, name := range out.By {
		out.By[i] = escape.Line(name)
	}
	out.Columns = slices.Clone(t.Columns)
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Name, c.Unit = escape.Line(c.Name), escape.Line(c.Unit)
	}
	return &out
}

// appendSingle renders `name: 42 ms`.
func (p *Printer) appendSingle(dst []byte, t *Table, r Row) []byte {
	p.started = true
	if t.Name != "" {
		dst = append(dst, t.Name...)
		dst = append(dst, ": "...)
	}
	dst = appendValue(dst, r.Values[0])
	if unit := t.Columns[0].Unit; unit != "" {
		dst = append(dst, ' ')
		dst = append(dst, unit...)
	}
	return append(dst, '\n')
}

// appendHistograms renders a block for each row and each histogram in it,
// all of one column together.
func (p *Printer) appendHistograms(dst []byte, t *Table, rows []Row, o Options) []byte {
	share := func(Row) string { return "" }
	if o.Percent && t.Keyed {
		of := t.shares(o)
		share = func(r Row) string { return percentText(of(r)) }
	}
	for i, c := range t.Columns {
		if !isHistogram(c) {
			continue
		}
		for _, r := range rows {
			h, ok := r.Values[i].(*Hist)
			if !ok || len(h.filled()) == 0 {
				continue
			}
			dst = p.separate(dst)
			dst = appendTitle(dst, t, c, r.Key, share(r))
			dst = appendHist(dst, h)
		}
	}
	return dst
}

func hasStack(rows []Row) bool {
	for _, r := range rows {
		for _, v := range r.Key {
			if _, ok := v.(Stack); ok {
				return true
			}
		}
	}
	return false
}

// appendStacked renders rows whose key holds a stack: the frames below each
// other, then the rest of the key and the values. What adds up to a whole has its
// share of it.
func (p *Printer) appendStacked(dst []byte, t *Table, rows []Row, flat []flatColumn, o Options) []byte {
	percent, share := o.Percent || t.addsUp(), t.shares(o)
	for _, r := range rows {
		dst = p.separate(dst)
		dst = append(dst, t.Name...)
		dst = append(appendStackedKey(append(dst, '['), r.Key), "]:"...)
		for _, c := range flat {
			dst = append(dst, ' ')
			unit := strings.HasPrefix(c.name, "(") // of a column without a name
			if c.name != "" && !unit {
				dst = append(append(dst, c.name...), '=')
			}
			dst = appendValue(dst, c.get(r))
			if unit {
				dst = append(append(dst, ' '), strings.Trim(c.name, "()")...)
			}
		}
		if part := share(r); percent && part != nil {
			dst = append(append(append(dst, " ("...), percentText(part)...), ')')
		}
		dst = p.piece(append(dst, '\n'))
	}
	return dst
}

// addsUp reports whether the values of all rows make a whole.
func (t *Table) addsUp() bool {
	return t.plain() && (t.Columns[0].Kind == "count" || t.Columns[0].Kind == "total")
}

func appendStackedKey(dst []byte, key []Value) []byte {
	for i, v := range key {
		stack, ok := v.(Stack)
		switch {
		case ok && i > 0:
			dst = appendFrames(append(dst, ','), stack)
		case ok:
			dst = appendFrames(dst, stack)
		case i > 0:
			dst = appendKey(append(dst, ", "...), v)
		default:
			dst = appendKey(dst, v)
		}
	}
	return dst
}

func appendFrames(dst []byte, s Stack) []byte {
	dst = append(dst, '\n')
	for _, frame := range s.Frames {
		dst = append(dst, "    "...)
		dst = appendValue(dst, frame.Text)
		dst = append(dst, '\n')
	}
	switch {
	case s.Short != "" && len(s.Frames) > 0:
		dst = append(dst, "    … "...)
		dst = append(append(dst, s.Short...), '\n')
	case s.Short != "":
		dst = append(dst, "    ("...)
		dst = append(append(dst, s.Short...), ")\n"...)
	}
	return dst
}
