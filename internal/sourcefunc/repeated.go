package sourcefunc

import (
	"cmp"
	"debug/dwarf"
	"maps"
	"path/filepath"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// The further places at which an inlined copy begins that LLVM has made. It copies the condition of a while in front of
// the loop, and the body of a loop that it unrolls, with what was inlined there; debug information has one copy all the
// same, with a range for each, and says of none that the copy begins there. So those ranges are begins that begin with
// the same place of the source as the first, and have all the places that it has:
//
//	3  static int more(int i)
//	4  { c1++; return i < lim; }         while (more(i)) …
//	range 0x1150-0x115d  rows 4:5, 4:21, 4:14     before the loop
//	range 0x1164-0x1171  rows 4:5, 4:21, 4:14     at its end
//
// What is scattered among instructions of the function around it has other places in each range.

// A repeated is a copy of which such places are looked for, by its function and which of its copies it is.
type repeated struct {
	fn    *Function
	index int
	copy  Copy
	// declared is the line at which its function is declared, 0 where that is not known.
	declared int
	// spans are its code, by address.
	spans []span
}

// A span is code of a copy, from low to below high, with the places of the source of the rows in it. first is that of a
// statement that begins with it; none if there is none.
type span struct {
	low, high uint64
	first     spot
	spots     map[spot]bool
}

// A spot is a place of the source by the number of its file in the table of lines.
type spot struct {
	file         *dwarf.LineFile
	line, column int
}

// mayRepeat notes the copy of a number of a function, if it has several ranges and LLVM made it: gcc and Go's compiler
// say where copies begin.
func (w *copiesWalk) mayRepeat(e *dwarfinfo.Entry, fn *Function, index int) {
	ranges, err := e.Ranges()
	if err != nil || len(ranges) < 2 || e.Has(dwarf.AttrEntrypc) || ofGo(e.Unit()) {
		return
	}
	declared, _ := dwarfinfo.Attribute(w.data.Origins(e.Keep()), dwarf.AttrDeclLine).(int64)
	one := repeated{fn, index, fn.Copies[index], int(declared), nil}
	for _, r := range ranges {
		if r[0] < r[1] {
			one.spans = append(one.spans, span{low: r[0], high: r[1], spots: map[spot]bool{}})
		}
	}
	slices.SortFunc(one.spans, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	w.repeats = append(w.repeats, one)
}

// repeats adds to the copies of a unit the other ranges at which they begin.
func (w *copiesWalk) addRepeats(u *dwarfinfo.Unit) error {
	if len(w.repeats) == 0 {
		return nil
	}
	if err := w.spots(u); err != nil {
		return err
	}
	for i := range w.repeats {
		w.repeats[i].add()
	}
	return nil
}

// add adds the other places of a copy.
func (r *repeated) add() {
	at := slices.IndexFunc(r.spans, func(s span) bool { return s.low == r.copy.Entry })
	if at < 0 || r.spans[at].first == (spot{}) || len(r.spans[at].spots) < 2 {
		return
	}
	begin := r.joined(at)
	r.fn.Copies[r.index].First = begin.first.line == r.firstLine(begin.first.file) &&
		(r.fn.File == "" || filepath.Base(begin.first.file.Name) == filepath.Base(r.fn.File))
	var others []int
	for i, s := range r.spans {
		switch {
		case i == at || s.first != begin.first:
		case !maps.Equal(r.joined(i).spots, begin.spots):
			return // some of them go on with what others begin
		default:
			others = append(others, i)
		}
	}
	for _, i := range others {
		if len(r.fn.Copies) > maxCopies {
			return
		}
		r.fn.Copies[r.index].Several = true
		c := r.copy
		c.Entry, c.View, c.Several = r.spans[i].low, 0, true
		r.fn.Copies = append(r.fn.Copies, c)
	}
}

// firstLine is the first line of the function of which a copy has something, 0 where that is not known. What is inlined
// in it has lines of functions that are mostly declared before.
func (r *repeated) firstLine(file *dwarf.LineFile) (first int) {
	for _, s := range r.spans {
		for at := range s.spots {
			if r.declared > 0 && at.file == file && at.line >= r.declared && (first == 0 || at.line < first) {
				first = at.line
			}
		}
	}
	return first
}

// joined is a span with those behind it, up to the next that begins as it does.
func (r *repeated) joined(at int) span {
	out := r.spans[at]
	out.spots = maps.Clone(out.spots)
	for _, s := range r.spans[at+1:] {
		if s.first == out.first {
			break
		}
		maps.Copy(out.spots, s.spots)
	}
	return out
}

// spots notes the places of the source in the spans, by the table of a unit.
func (w *copiesWalk) spots(u *dwarfinfo.Unit) error {
	var all []*span
	for i := range w.repeats {
		for j := range w.repeats[i].spans {
			all = append(all, &w.repeats[i].spans[j])
		}
	}
	slices.SortFunc(all, func(a, b *span) int { return cmp.Compare(a.low, b.low) })
	most := uint64(0)
	for _, s := range all {
		most = max(most, s.high-s.low)
	}
	var last dwarf.LineEntry // of several rows of an address the last one counts
	note := func(next uint64) {
		if last.Address == next || last.EndSequence || last.File == nil || last.Line == 0 {
			return
		}
		at := spot{last.File, last.Line, last.Column}
		behind, _ := slices.BinarySearchFunc(all, last.Address+1, func(s *span, a uint64) int {
			return cmp.Compare(s.low, a)
		})
		for i := behind - 1; i >= 0 && all[i].low+most > last.Address; i-- {
			if s := all[i]; last.Address < s.high {
				s.spots[at] = true
				if last.Address == s.low && last.IsStmt {
					s.first = at
				}
			}
		}
	}
	return w.tables.Rows(u, func(row *dwarf.LineEntry) bool {
		note(row.Address)
		last = *row
		return true
	})
}

// ofGo reports whether the source of a unit is one of Go (DW_LANG_Go).
func ofGo(u *dwarfinfo.Unit) bool {
	root, err := u.Root()
	if err != nil || root == nil {
		return false
	}
	language, _ := root.Val(dwarf.AttrLanguage).(int64)
	return language == 0x16
}
