package listing

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/escape"
)

// The text of `startrace list`: lines, columns, details of -v.

// WriteText writes what was found: a line for each point, with its details if
// verbose; types with their members; kinds as a table.
func (r *Result) WriteText(w io.Writer, verbose bool) error {
	head := &writer{}
	head.kinds(r.Kinds)
	if len(r.Kinds) == 1 && len(r.Points) > 0 {
		head.put("\n")
	}
	if _, err := head.WriteTo(w); err != nil {
		return err
	}
	err := r.writePoints(w, func(out *writer, p *Point) {
		p = p.escaped(escape.Line) // names come from programs
		out.put(p.Name, "\n")
		if verbose {
			out.details(p)
		}
	})
	if err != nil {
		return err
	}
	types := &writer{}
	for _, l := range r.Types {
		if verbose {
			types.layout(l)
		} else {
			types.put(l.Type, "\n")
		}
	}
	_, err = types.WriteTo(w)
	return err
}

// A writer keeps what is written and the first error of making it.
type writer struct {
	bytes.Buffer
	err error
}

func (w *writer) print(by string, args ...any) { fmt.Fprintf(w, by, escape.Args(args)...) }

// put writes words, without what it takes to format them.
func (w *writer) put(words ...string) {
	for _, word := range words {
		w.WriteString(word)
	}
}

const (
	indent = "    "
	gap    = 2 // spaces between columns
)

// columns writes rows with their cells below each other.
func (w *writer) columns(indent string, rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len(cell))
		}
	}
	for _, row := range rows {
		line, at := append(w.AvailableBuffer(), indent...), len(indent)
		for i, cell := range row {
			at += width[i] + gap
			line = padded(escape.Append(line, cell, escape.OneLine), at)
		}
		w.endLine(line)
	}
}

// padded adds spaces up to a column.
func padded(line []byte, column int) []byte {
	for len(line) < column {
		line = append(line, ' ')
	}
	return line
}

// endLine writes a line, made in the available buffer, without spaces at its end.
func (w *writer) endLine(line []byte) {
	w.Write(append(bytes.TrimRight(line, " "), '\n'))
}

func (w *writer) details(p *Point) {
	switch {
	case p.Module != "" && p.Where != "":
		w.put(indent, "# module ", p.Module, ", ", p.Where, "\n")
	case p.Module != "":
		w.put(indent, "# module ", p.Module, "\n")
	case p.Where != "":
		w.put(indent, "# ", p.Where, "\n")
	}
	for _, n := range p.Notes {
		w.put(indent, "# ", n, "\n")
	}
	w.fields(p.Fields)
	if p.Format != "" {
		w.put(indent, "format: ", p.Format, "\n")
	}
}

// fields writes the parts of e in columns: their names, types, types in C, notes.
func (w *writer) fields(list []Field) {
	var name, typ, c int
	for i := range list {
		f := &list[i]
		name, typ, c = max(name, len(f.Name)+1), max(typ, len(f.Type)), max(c, len(f.C))
	}
	name += len(indent) + gap
	typ += name + gap
	c += typ + gap
	for i := range list {
		f := &list[i]
		line := append(append(w.AvailableBuffer(), indent...), f.Name...)
		line = padded(append(line, ':'), name)
		line = padded(append(line, f.Type...), typ)
		line = padded(append(line, f.C...), c)
		if f.Note != "" {
			line = append(append(line, "# "...), f.Note...)
		}
		w.endLine(line)
	}
}

func (w *writer) layout(l *Layout) {
	w.print("%s", l.Type)
	if l.C != "" {
		w.print(": %s", l.C)
	}
	if l.In != "" {
		w.print(", at %d of %s", l.Offset, l.In)
	}
	w.print(", %d bytes\n", l.Size)
	for _, v := range l.Values {
		w.print("    %s = %d\n", v.Name, v.Value)
	}
	if len(l.Members) > 0 {
		w.print("%10s %7s\n", "offset", "size")
		w.members(l.Members, "")
	}
}

func (w *writer) members(list []Member, indent string) {
	for _, m := range list {
		if len(m.Members) > 0 {
			w.print("%10d %7d  %s%s {\n", m.Offset, m.Size, indent, strings.Fields(m.C)[0])
			w.members(m.Members, indent+"    ")
			w.print("%18s  %s}\n", "", indent)
			continue
		}
		at, size := strconv.Itoa(m.Offset), strconv.Itoa(m.Size)
		if m.Bits > 0 {
			at, size = fmt.Sprintf("%d:%d", m.Offset, m.Bit),
				fmt.Sprintf("%d bit%s", m.Bits, strings.Repeat("s", min(1, m.Bits-1)))
		}
		w.print("%10s %7s  %s%s\n", at, size, indent, m.C)
	}
}

func (w *writer) kinds(list []*Summary) {
	if len(list) == 1 {
		w.kind(list[0])
		return
	}
	var rows [][]string
	for _, k := range list {
		count := "-"
		if k.Count != nil {
			count = strconv.Itoa(*k.Count)
		}
		rows = append(rows, []string{k.Kind, k.Short, count, k.What, k.Examples[0]})
	}
	w.columns("", rows)
}

// kind shows a kind alone.
func (w *writer) kind(k *Summary) {
	w.print("%s: %s\n", k.Form, k.What)
	if k.Short != "" {
		w.print("short: %s:\n", k.Short)
	}
	w.print("examples: %s\n", strings.Join(k.Examples, "  "))
	if k.Count != nil {
		w.print("here: %d\n", *k.Count)
	}
	var rows [][]string
	for _, g := range k.Groups {
		rows = append(rows, []string{g.Name, strconv.Itoa(g.Count)})
	}
	w.columns("    ", rows)
}
