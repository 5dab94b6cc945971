package render

import (
	"strconv"
	"strings"
)

// Tables as text in columns, and the share of a row (percent=).

// A grid is text in columns.
type grid struct {
	head  []string
	cells [][]string
	right []bool // the column holds numbers
}

// appendGrid renders keyed rows in columns, numbers to the right. Where
// columns have names there is a line with them.
func (p *Printer) appendGrid(dst []byte, t *Table, rows []Row, flat []flatColumn, o Options) ([]byte,
	error) {
	dst = p.separate(dst)
	named := len(t.By) > 0 || len(flat) > 1
	if !named {
		dst = appendTitle(dst, t, t.Columns[0], nil, "")
	} else if len(flat) > 1 && t.Name != "" {
		dst = append(dst, t.Name...)
		dst = append(dst, ":\n"...)
	}
	g := t.fill(rows, flat)
	if o.Percent {
		g.percent(t, rows, o)
	}
	if !named {
		g.head = nil
	}
	lines, widths := g.lines()
	if o.Room != nil {
		if err := o.Room(g.size(lines, widths)); err != nil {
			return dst, err
		}
	}
	return g.append(dst, lines, widths), nil
}

func (t *Table) fill(rows []Row, flat []flatColumn) *grid {
	keys := 0
	for _, r := range rows {
		keys = max(keys, len(r.Key))
	}
	g := &grid{right: make([]bool, keys+len(flat))}
	for i := range keys {
		g.right[i] = true
		g.head = append(g.head, t.keyName(i))
	}
	for i, c := range flat {
		g.right[keys+i] = true
		g.head = append(g.head, t.heading(c, len(flat)))
	}
	for _, r := range rows {
		line := make([]string, 0, len(g.right))
		for i := range keys {
			line = g.addKey(line, at(r.Key, i))
		}
		for _, c := range flat {
			line = g.add(line, c.get(r))
		}
		g.cells = append(g.cells, line)
	}
	return g
}

// heading names the column of a plain aggregation after it.
func (t *Table) heading(c flatColumn, n int) string {
	if n > 1 || t.Name == "" {
		return c.name
	}
	if c.name == "" {
		return t.Name
	}
	return t.Name + " " + c.name
}

// add appends a value's text to a line and notes columns that are not numbers.
func (g *grid) add(line []string, v Value) []string {
	if _, fault := v.(Fault); !isNumber(v) && v != nil && !fault {
		g.right[len(line)] = false
	}
	return append(line, plainText(v))
}

// addKey is add of a part of a key.
func (g *grid) addKey(line []string, v Value) []string {
	line = g.add(line, v)
	if _, float := v.(float64); float {
		line[len(line)-1] = string(appendKey(nil, v))
	}
	return line
}

// percent adds the share of each row.
func (g *grid) percent(t *Table, rows []Row, o Options) {
	g.head = append(g.head, "%")
	g.right = append(g.right, true)
	share := t.shares(o)
	for i, r := range rows {
		g.cells[i] = append(g.cells[i], percentText(share(r)))
	}
}

// shares gives each row's share of the sum over all rows of the table, shown or not, in tenths of a percent: a float64,
// or nil where values of both signs make no whole. What has many values counts with their number.
func (t *Table) shares(o Options) func(Row) Value {
	value, _, _ := t.sortColumn(strings.TrimPrefix(o.Sort, "-")) // checked by order
	sum, above, below := 0.0, false, false
	for _, r := range t.Rows {
		size := weight(value(r))
		sum, above, below = sum+size, above || size > 0, below || size < 0
	}
	return func(r Row) Value {
		switch {
		case above && below:
			return nil
		case sum == 0:
			return 0.0
		}
		text := strconv.FormatFloat(100*weight(value(r))/sum, 'f', 1, 64)
		share, _ := strconv.ParseFloat(text, 64) // what was formatted is a number
		return share
	}
}

// weight is how much of the whole a value is.
func weight(v Value) float64 {
	if q, ok := v.(Quantiles); ok && len(q) > 0 {
		return float64(q[0].Of)
	}
	return magnitude(v)
}

func percentText(share Value) string {
	part, is := share.(float64)
	if !is {
		return "-"
	}
	return strconv.FormatFloat(part, 'f', 1, 64) + "%"
}

// lines are those of the table, and the widths of its columns.
func (g *grid) lines() (lines [][]string, widths []int) {
	widths, lines = make([]int, len(g.right)), g.cells
	if g.head != nil {
		lines = append([][]string{g.head}, lines...)
	}
	for _, line := range lines {
		for i, s := range line {
			widths[i] = max(widths[i], textWidth(s))
		}
	}
	return lines, widths
}

// size is about how many bytes the lines have.
func (g *grid) size(lines [][]string, widths []int) (bytes uint64) {
	for _, line := range lines {
		for i, s := range line {
			if bytes += uint64(len(s)); g.right[i] || i < len(line)-1 {
				bytes += uint64(widths[i] - textWidth(s))
			}
		}
	}
	return bytes
}

func (g *grid) append(dst []byte, lines [][]string, widths []int) []byte {
	for _, line := range lines {
		for i, s := range line {
			if i > 0 {
				dst = append(dst, "  "...)
			}
			switch {
			case g.right[i]:
				dst = appendRight(dst, s, widths[i])
			case i == len(line)-1:
				dst = append(dst, s...)
			default:
				dst = appendLeft(dst, s, widths[i])
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}
