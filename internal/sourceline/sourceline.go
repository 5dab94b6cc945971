// Package sourceline finds the instructions of a line of source, by the tables of lines that compilers write (DWARF 5,
// 6.2). A line can have several: it stands in a loop that was unrolled, in a function that was inlined, in a template.
package sourceline

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// The instructions of a line of the source.

// A Place is an instruction of a line at which a statement begins.
type Place struct {
	// Addr is the address of the instruction in the file.
	Addr uint64
	// Next is where the instructions of the next row begin, 0 behind the last. At the first instruction of a function
	// the row is its prologue, in code that is not optimized.
	Next uint64
	// Begins: the instructions before it are of another line.
	Begins bool
}

// Places are those of a line.
type Places struct {
	// File is the file by its whole name.
	File string
	// List is in ascending order.
	List []Place
	// Code are all instructions of the line, from the first of a stretch to behind its last.
	Code [][2]uint64
	// After is the next line that has code, 0: none. It is only looked for where List is empty.
	After int
}

// End is where the stretch of instructions of the line ends that has an address; false where it is none of the line.
func (p *Places) End(addr uint64) (uint64, bool) {
	for _, c := range p.Code {
		if c[0] <= addr && addr < c[1] {
			return c[1], true
		}
	}
	return 0, false
}

// Find gives the places of a line. The file is given as Files has it.
func Find(d *dwarfinfo.Data, file string, line int) (*Places, error) {
	units, err := d.Units()
	if err != nil {
		return nil, err
	}
	f := &finder{Files: FilesOf(file), line: line, seen: map[int64]bool{}, files: map[string]bool{}}
	tables := NewTables(d)
	for _, u := range units {
		if err := f.unit(tables, u); err != nil {
			f.wrong = err // one unit's table is damaged: the others tell
		}
	}
	return f.result()
}

// A finder looks for one line.
type finder struct {
	*Files
	line int
	seen map[int64]bool // tables
	// files are those that have the name, and rows.
	files map[string]bool
	list  []Place
	code  [][2]uint64
	after int
	wrong error
}

// unit looks into the table of a unit, unless it is that of another one, too.
func (f *finder) unit(tables *Tables, u *dwarfinfo.Unit) error {
	at, ok, err := tables.At(u)
	if err != nil || !ok || f.seen[at] {
		return err
	}
	f.seen[at] = true
	r, err := tables.Of(u)
	if err != nil || r == nil {
		return err
	}
	return f.table(r)
}

// table looks into one table, which names its files in front.
func (f *finder) table(r *dwarf.LineReader) error {
	if !slices.Contains(f.among(r), true) {
		return nil
	}
	return eachRow(r, (&rows{finder: f}).add)
}

// rows goes over the rows of a table.
type rows struct {
	*finder
	// last is the row before; nil at the begin of a sequence.
	last *dwarf.LineEntry
	// open are the places of which the next row is not known yet, from this one of list on.
	open int
	// begin is where a stretch of the line begins that goes on, where in is set.
	begin uint64
	in    bool
}

// add takes the next row.
func (r *rows) add(row *dwarf.LineEntry) bool {
	for i := r.open; i < len(r.list); i++ {
		if row.Address > r.list[i].Addr && !row.EndSequence {
			r.list[i].Next = row.Address
			r.open = i + 1
		}
	}
	r.stretch(row)
	if row.EndSequence {
		r.last, r.open = nil, len(r.list)
		return true
	}
	before := r.last
	r.last = row
	if row.File == nil || !r.Is(path.Clean(row.File.Name)) {
		return true
	}
	r.files[path.Clean(row.File.Name)] = true
	switch {
	case row.Line > r.line && row.IsStmt && (r.after == 0 || row.Line < r.after):
		r.after = row.Line
	case row.Line == r.line && row.IsStmt:
		goesOn := before != nil && before.Line == row.Line && before.File == row.File && before.IsStmt
		r.list = append(r.list, Place{Addr: row.Address, Begins: !goesOn})
	}
	return true
}

// stretch takes the next row for the stretches of instructions of the line.
func (r *rows) stretch(row *dwarf.LineEntry) {
	is := !row.EndSequence && row.Line == r.line && row.File != nil && r.Is(path.Clean(row.File.Name))
	switch {
	case is && !r.in:
		r.begin = row.Address
	case !is && r.in && row.Address > r.begin:
		r.code = append(r.code, [2]uint64{r.begin, row.Address})
	}
	r.in = is
}

// result is what was found.
func (f *finder) result() (*Places, error) {
	switch {
	case len(f.files) == 0 && f.wrong != nil:
		return nil, f.wrong
	case len(f.files) == 0:
		return nil, f.Unknown()
	}
	names, err := f.OneOf(f.files)
	if err != nil {
		return nil, err
	}
	out := &Places{File: names[0], List: f.list, Code: f.code}
	slices.SortFunc(out.List, func(a, b Place) int { return cmp.Compare(a.Addr, b.Addr) })
	out.List = distinct(out.List)
	if len(out.List) == 0 {
		out.After = f.after
	}
	return out, nil
}

// distinct leaves one of the places at an address.
func distinct(list []Place) (out []Place) {
	for _, p := range list {
		if n := len(out); n > 0 && out[n-1].Addr == p.Addr {
			out[n-1].Begins = out[n-1].Begins || p.Begins
			continue
		}
		out = append(out, p)
	}
	return out
}
