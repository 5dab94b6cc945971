package render

// Which columns a table has, and their titles: stats and quantiles have several.

// A flatColumn is a column of the grid: a value of a row, or a part of one
// (stats and quantiles have several).
type flatColumn struct {
	name string
	get  func(r Row) Value
}

// flat gives the columns of the grid, histograms left out.
func (t *Table) flat(rows []Row) []flatColumn {
	var out []flatColumn
	for i, c := range t.Columns {
		if isHistogram(c) {
			continue
		}
		switch v := rows[0].Values[i].(type) {
		case *Stats:
			out = append(out, flatStats(c, i)...)
		case Quantiles:
			out = append(out, flatQuantiles(c, i, v)...)
		default:
			out = append(out, flatColumn{c.label(""), func(r Row) Value { return r.Values[i] }})
		}
	}
	return out
}

func flatStats(c Column, i int) (out []flatColumn) {
	for n, part := range statsNames {
		if part == "count" { // has no unit
			c := Column{Name: c.Name}
			out = append(out, flatColumn{c.label(part), statsPart(i, n)})
			continue
		}
		out = append(out, flatColumn{c.label(part), statsPart(i, n)})
	}
	return out
}

func statsPart(i, n int) func(Row) Value {
	return func(r Row) Value {
		if s, ok := r.Values[i].(*Stats); ok {
			return s.at(n)
		}
		return nil
	}
}

func flatQuantiles(c Column, i int, first Quantiles) (out []flatColumn) {
	for n, q := range first {
		out = append(out, flatColumn{c.label(q.name()), func(r Row) Value {
			if v, ok := r.Values[i].(Quantiles); ok && n < len(v) {
				return v[n].Value
			}
			return nil
		}})
	}
	return out
}

// label is the heading of a column or a part of it: `time mean (us)`.
func (c Column) label(part string) string {
	s := c.Name
	if part != "" {
		if s != "" {
			s += " "
		}
		s += part
	}
	if c.Unit != "" {
		if s != "" {
			s += " "
		}
		s += "(" + c.Unit + ")"
	}
	return s
}

func (t *Table) keyName(i int) string {
	if i < len(t.By) {
		return t.By[i]
	}
	return ""
}

func at(values []Value, i int) Value {
	if i < len(values) {
		return values[i]
	}
	return ""
}
