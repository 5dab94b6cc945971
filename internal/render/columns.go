package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
)

// columns(): rows with a header line, in text, JSON and CSV.

// Columns is what columns(pid = "%-7d", …) makes: rows with named columns.
// Text gets a header that has the widths of the formats.
type Columns struct {
	names   []string
	line    *format.Format
	heading []byte
	printed bool
}

// NewColumns makes the columns. Each format must take exactly one argument.
func NewColumns(names, formats []string) (*Columns, error) {
	c := &Columns{names: names}
	for i, text := range formats {
		f, err := format.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", names[i], err)
		}
		if f.Wanted() != 1 {
			return nil, fmt.Errorf("column %s: format %q takes %s, want 1", names[i], text,
				format.Count(f.Wanted(), "value"))
		}
		if i > 0 {
			c.heading = append(c.heading, ' ')
		}
		c.heading = f.AppendHeading(c.heading, strings.ToUpper(escape.Line(names[i])))
	}
	c.heading = append([]byte(strings.TrimRight(string(c.heading), " ")), '\n')
	line, err := format.Parse(strings.Join(formats, " ") + "\n")
	if err != nil {
		return nil, err
	}
	line.Escape = escape.OneLine
	c.line = line
	return c, nil
}

// AppendRow renders a row, before the first one the header.
func (p *Printer) AppendRow(dst []byte, c *Columns, args []format.Arg) ([]byte, error) {
	if len(args) != len(c.names) {
		return dst, fmt.Errorf("a row has %s, got %s", format.Count(len(c.names), "column"),
			format.Count(len(args), "value"))
	}
	p.started = true
	switch p.Format {
	case JSON:
		return c.appendJSON(dst, args), nil
	case CSV:
		return p.appendRowCSV(dst, c, args)
	case Folded:
		p.LeftOut++
		return dst, nil
	}
	if !c.printed {
		c.printed = true
		dst = append(dst, c.heading...)
	}
	return c.line.Append(dst, args)
}

func (c *Columns) appendJSON(dst []byte, args []format.Arg) []byte {
	for i := range args {
		dst = append(dst, "{,"[min(i, 1)])
		dst = escape.AppendJSON(dst, c.names[i])
		dst = append(dst, ':')
		dst = appendJSON(dst, wholeOf(&args[i]))
	}
	if len(args) == 0 {
		dst = append(dst, '{')
	}
	return append(dst, "}\n"...)
}

func (p *Printer) appendRowCSV(dst []byte, c *Columns, args []format.Arg) ([]byte, error) {
	w := p.csvWriter()
	p.header = writeHeader(w, p.header, slices.Clone(c.names))
	line := make([]string, len(args))
	for i := range args {
		line[i] = w.cell(fromArg(&args[i]))
	}
	w.Write(line)
	return w.appendTo(dst)
}

// wholeOf is an argument of a format as a value with all its parts, as JSON has it.
func wholeOf(a *format.Arg) Value {
	if a.Value != nil {
		return a.Value
	}
	if a.Kind == format.Bytes {
		if a.Text() != a.Str {
			return CutBytes(a.Str)
		}
		return []byte(a.Str)
	}
	return fromArg(a)
}

// fromArg gives an argument of a format as a value, of what is more than a number the text.
func fromArg(a *format.Arg) Value {
	switch a.Kind {
	case format.None:
		return nil
	case format.Fault:
		return Fault{a.Str}
	case format.Bool:
		return a.Int != 0
	case format.Int:
		return a.Int
	case format.Uint:
		return a.Uint
	case format.Big:
		return a.Big
	case format.Float:
		return a.Float
	}
	return a.Text()
}
