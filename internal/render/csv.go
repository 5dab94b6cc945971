package render

import (
	"slices"
	"strconv"
	"strings"
)

// Tables as CSV (--format csv): header, lines, histograms, names of columns.

// appendTableCSV renders a header, where it differs from the last one, and a
// line for each row, of histograms for each bucket. The first column is the
// table's name: one stream may hold several tables.
func (p *Printer) appendTableCSV(dst []byte, t *Table, rows []Row, o Options) ([]byte, error) {
	if len(rows) == 0 {
		return dst, nil
	}
	w := p.csvWriter()
	if flat := t.flat(rows); len(flat) > 0 {
		if share := t.shares(o); o.Percent {
			flat = append(flat, flatColumn{name: "percent", get: share})
		}
		p.header = writeHeader(w, p.header, t.csvHeader(rows, flat))
		width := len(t.csvKeyNames(rows))
		for _, r := range rows {
			line := append(t.csvHead(w, t.Name), w.key(r, width)...)
			for _, c := range flat {
				line = append(line, w.cell(c.get(r)))
			}
			w.Write(line)
		}
	}
	p.writeHistograms(w, t, rows, o)
	return w.appendTo(dst)
}

func (p *Printer) writeHistograms(w csvWriter, t *Table, rows []Row, o Options) {
	share := t.shares(o)
	for i, c := range t.Columns {
		if !isHistogram(c) {
			continue
		}
		names := t.csvKeyNames(rows)
		header := append(t.csvHeadNames(), names...)
		edge := Column{Unit: c.Unit}
		header = append(header, edge.label("from"), edge.label("to"), "count")
		if o.Percent {
			header = append(header, "percent")
		}
		p.header = writeHeader(w, p.header, header)
		for _, r := range rows {
			h, ok := r.Values[i].(*Hist)
			if !ok {
				continue
			}
			for _, bucket := range h.tuple() {
				line := append(t.csvHead(w, qualified(t.Name, c.Name)), w.key(r, len(names))...)
				for _, f := range bucket.(Object) {
					line = append(line, w.cell(f.Value))
				}
				if o.Percent {
					line = append(line, w.cell(share(r)))
				}
				w.Write(line)
			}
		}
	}
}

// csvHeadNames names the fields with which each line begins: the table's name,
// and the time if it has one.
func (t *Table) csvHeadNames() []string {
	if t.Time == 0 {
		return []string{"name"}
	}
	return []string{"name", "time"}
}

func (t *Table) csvHead(w csvWriter, name string) []string {
	if t.Time == 0 {
		return []string{w.cell(name)}
	}
	return []string{w.cell(name), strconv.FormatInt(t.Time, 10)}
}

func qualified(table, column string) string {
	if column == "" {
		return table
	}
	return table + "." + column
}

// writeHeader writes the header unless it stands already.
func writeHeader(w csvWriter, last string, header []string) string {
	for i, name := range header {
		header[i] = w.cell(name)
	}
	header = distinct(header)
	text := strings.Join(header, "\x00")
	if text != last {
		w.Write(header)
	}
	return text
}

// distinct gives each column a name of its own: a second `name` is `name_2`.
func distinct(header []string) []string {
	out := make([]string, 0, len(header))
	for _, name := range header {
		unique := name
		for n := 2; slices.Contains(out, unique); n++ {
			unique = name + "_" + strconv.Itoa(n)
		}
		out = append(out, unique)
	}
	return out
}

func (t *Table) csvHeader(rows []Row, flat []flatColumn) []string {
	out := append(t.csvHeadNames(), t.csvKeyNames(rows)...)
	for _, c := range flat {
		if c.name == "" || strings.HasPrefix(c.name, "(") { // a unit alone
			c.name = strings.TrimSpace("value " + c.name)
		}
		out = append(out, c.name)
	}
	return out
}

func (t *Table) csvKeyNames(rows []Row) (out []string) {
	n := 0
	for _, r := range rows {
		n = max(n, len(r.Key))
	}
	for i := range n {
		name := t.keyName(i)
		if name == "" {
			name = "key" + string(rune('1'+i%9))
		}
		out = append(out, name)
	}
	return out
}
