package listing

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteText writes what was found: a line for each point, with its details if
// verbose; types with their members; kinds as a table.
func (r *Result) WriteText(w io.Writer, verbose bool) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	out := &writer{w: buffered}
	out.kinds(r.Kinds)
	if len(r.Kinds) == 1 && len(r.Points) > 0 {
		out.print("\n")
	}
	for p := range r.All() {
		out.line([]byte(p.Name))
		if verbose {
			out.details(p)
		}
	}
	for _, l := range r.Types {
		if !verbose {
			out.print("%s\n", l.Type)
			continue
		}
		out.layout(l)
	}
	if out.err == nil {
		out.err = buffered.Flush()
	}
	return out.err
}

// writer keeps the first error.
type writer struct {
	w    io.Writer
	err  error
	text []byte // the last line
}

func (w *writer) print(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}

// line writes a line, without what it takes to format one.
func (w *writer) line(text []byte) {
	w.text = append(append(w.text[:0], text...), '\n')
	if w.err == nil {
		_, w.err = w.w.Write(w.text)
	}
}

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
	var line []byte
	for _, row := range rows {
		line = append(line[:0], indent...)
		for i, cell := range row {
			line = append(line, cell...)
			for n := len(cell); n < width[i]+2; n++ {
				line = append(line, ' ')
			}
		}
		w.line(bytes.TrimRight(line, " "))
	}
}

func (w *writer) details(p *Point) {
	var place []string
	for _, s := range []string{p.Module, p.Where} {
		if s != "" {
			place = append(place, s)
		}
	}
	if p.Module != "" {
		place[0] = "module " + p.Module
	}
	if len(place) > 0 {
		w.print("    # %s\n", strings.Join(place, ", "))
	}
	for _, n := range p.Notes {
		w.print("    # %s\n", n)
	}
	w.columns("    ", fieldRows(p.Fields))
	if p.Format != "" {
		w.print("    format: %s\n", p.Format)
	}
}

func fieldRows(list []Field) (rows [][]string) {
	for _, f := range list {
		note := f.Note
		if note != "" {
			note = "# " + note
		}
		rows = append(rows, []string{f.Name + ":", f.Type, f.C, note})
	}
	return rows
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
			at, size = fmt.Sprintf("%d:%d", m.Offset, m.Bit), fmt.Sprintf("%d bit%s", m.Bits, strings.Repeat("s", min(1, m.Bits-1)))
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
