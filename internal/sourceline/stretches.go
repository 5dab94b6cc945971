package sourceline

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Stretches of instructions of one line, and the views of gcc.

// A Stretch is a row of the table: instructions of one line of a file, up to the next stretch.
type Stretch struct {
	// Addr is the address of the first instruction.
	Addr uint64
	// File is the whole name, and Line counts from 1; 0: of no line.
	File string
	Line int
}

// Stretches are those of a unit, in ascending order.
type Stretches []Stretch

// Between gives those that have instructions from low to below high.
func (rows Stretches) Between(low, high uint64) Stretches {
	at := func(pc uint64) (int, bool) {
		return slices.BinarySearchFunc(rows, pc, func(r Stretch, pc uint64) int {
			return cmp.Compare(r.Addr, pc)
		})
	}
	from, begins := at(low)
	if !begins && from > 0 {
		from-- // it goes on
	}
	to, _ := at(high)
	return rows[from:max(to, from)]
}

// Stretches gives those of a unit; none where it has no table.
func (t *Tables) Stretches(u *dwarfinfo.Unit) (Stretches, error) {
	if rows, known := t.stretches[u]; known {
		return rows, nil
	}
	var out Stretches
	names := map[*dwarf.LineFile]string{}
	err := t.Rows(u, func(row *dwarf.LineEntry) bool {
		one := Stretch{Addr: row.Address, Line: row.Line}
		switch name, known := names[row.File]; {
		case row.EndSequence, row.File == nil:
			one.Line = 0
		case known:
			one.File = name
		default:
			one.File = path.Clean(row.File.Name)
			names[row.File] = one.File
		}
		out = append(out, one)
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b Stretch) int { return cmp.Compare(a.Addr, b.Addr) })
	t.stretches[u] = lasting(out)
	return t.stretches[u], nil
}

// lasting leaves of the stretches at one address the last, since the others have no instruction. An end that is the
// begin of other instructions is none.
func lasting(rows Stretches) (out Stretches) {
	for _, r := range rows {
		switch n := len(out); {
		case n == 0 || out[n-1].Addr != r.Addr:
			out = append(out, r)
		case r.Line != 0:
			out[n-1] = r
		}
	}
	return out
}

// A lineOf is a line of a file in the table of a unit.
type lineOf struct {
	unit *dwarfinfo.Unit
	file string
	line int
}

// Moment says which of the rows at an address is the first one of a line, counted from 0; false: none is. gcc counts
// the moments at an address so (views).
func (t *Tables) Moment(u *dwarfinfo.Unit, addr uint64, file string, line int) (moment uint64, ok bool) {
	of := lineOf{u, file, line}
	moments, known := t.moments[of]
	if !known {
		moments = t.momentsOf(of)
		t.moments[of] = moments
	}
	moment, ok = moments[addr]
	return moment, ok
}

// momentsOf are those of a line by their addresses; none where the table cannot be read.
func (t *Tables) momentsOf(of lineOf) map[uint64]uint64 {
	out, last, n := map[uint64]uint64{}, uint64(0), uint64(0)
	err := t.Rows(of.unit, func(row *dwarf.LineEntry) bool {
		if n++; row.Address != last || row.EndSequence {
			n = 0
		}
		last = row.Address
		_, seen := out[row.Address]
		if !seen && row.Line == of.line && row.IsStmt && !row.EndSequence && row.File != nil &&
			path.Clean(row.File.Name) == of.file {
			out[row.Address] = n
		}
		return true
	})
	if err != nil {
		return nil
	}
	return out
}
