package sourcefunc

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// The further places at which an inlined copy begins that gcc has made, by views. gcc copies a loop that it unrolls, or
// a way that it goes around a condition, with what was inlined there, and debug information has one copy all the same,
// whose ranges are in several of them. Its lines tell: gcc marks the begin of what was inlined by a row that has the
// place of the function's name, down to the column, and each has its own:
//
//	10  static inline int note(int a)     a copy that begins at 0x105f, view 4; its ranges go up to 0x1084
//	row  line 10, column 19  0x105f view 4    where it begins, as the copy says itself
//	row  line 10, column 19  0x107d view 0    the second turn
//
// A compiler that does not mark copies so has no row where one begins, and nothing is added.

// A moment is an address, and its view: which row of the table it is at that address, as gcc counts them.
type moment struct{ addr, view uint64 }

// A mark is the place of a function's name in the source.
type mark struct {
	file         string
	line, column int
}

// A marked is a copy of which other places are looked for, by its function and which of its copies it is.
type marked struct {
	fn    *Function
	index int
	copy  Copy
	begin moment
	mark  mark
	// alone: no copy of the same function lies in it, nor it in one.
	alone bool
	// ranges is its code.
	ranges [][2]uint64
}

// markOf is the place of the name of the function of a copy; false where it does not tell the begin of copies: all
// functions that the compiler has made have the place of their class, and of constructors and destructors one copy lies
// in another that is no call of its own.
func (w *copiesWalk) markOf(e *dwarfinfo.Entry, fn *Function) (m mark, ok bool) {
	chain := w.data.Origins(e.Keep())
	column, _ := dwarfinfo.Attribute(chain, dwarf.AttrDeclColumn).(int64)
	made, _ := dwarfinfo.Attribute(chain, dwarf.AttrArtificial).(bool)
	if column == 0 || made || dwarfinfo.Attribute(chain, attrDefaulted) != nil || isStructor(fn.Name) {
		return m, false
	}
	file, line := w.tables.Declared(chain)
	return mark{file, line, int(column)}, file != ""
}

// attrDefaulted is DW_AT_defaulted: the function has no text.
const attrDefaulted = dwarf.Attr(0x8b)

// isStructor reports whether a name is that of a constructor or destructor of C++: _ZN4cartC1Ev, cart::~cart.
func isStructor(name string) bool {
	if !strings.HasPrefix(name, "_Z") {
		return strings.Contains(name, "~")
	}
	for i := 2; i+2 < len(name); i++ {
		kind := name[i] == 'C' || name[i] == 'D'
		if kind && name[i+1] >= '0' && name[i+1] <= '5' && (name[i+2] == 'E' || name[i+2] == 'I') {
			return true
		}
	}
	return strings.Contains(name, "CI1") || strings.Contains(name, "CI2") // inherited
}

// apart notes of a copy, and of those around it, that one function has several of them in each other.
func (w *copiesWalk) apart(of dwarf.Offset, which int) {
	for _, in := range w.within {
		if in.of != of {
			continue
		}
		for _, i := range []int{in.marked, which} {
			if i >= 0 {
				w.marked[i].alone = false
			}
		}
	}
}

// turns adds to the copies of a unit the other places at which they begin.
func (w *copiesWalk) turns(u *dwarfinfo.Unit) error {
	if len(w.marked) == 0 {
		return nil
	}
	rows, err := w.marks(u)
	if err != nil {
		return err
	}
	taken := map[moment]bool{}
	for i := range w.marked {
		taken[w.marked[i].begin] = true
	}
	for i := range w.marked {
		m := &w.marked[i]
		if m.alone && slices.Contains(rows[m.mark], m.begin) {
			w.others(m, slices.DeleteFunc(slices.Clone(rows[m.mark]), func(at moment) bool { return taken[at] }))
		}
	}
	return nil
}

// others adds the places of a copy, of moments at which copies of its function begin.
func (w *copiesWalk) others(m *marked, moments []moment) {
	if len(moments) == 0 {
		return
	}
	known := map[uint64]bool{m.copy.Entry: true}
	for _, at := range moments {
		if known[at.addr] || len(m.fn.Copies) > maxCopies ||
			!has(m.ranges, at.addr) && !w.inFront(m, at.addr) {
			continue
		}
		known[at.addr] = true
		m.fn.Copies[m.index].Several = true
		c := m.copy
		c.Entry, c.View, c.Several = at.addr, at.view, true
		m.fn.Copies = append(m.fn.Copies, c)
	}
}

// has reports whether an address is in one of some ranges.
func has(ranges [][2]uint64, addr uint64) bool {
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return addr >= r[0] && addr < r[1] })
}

// inFront reports whether an address lies shortly in front of a range of a copy, behind another one, and nearer to it
// than to those of other copies of the function: gcc has put an instruction of the function around the copy between
// where it begins and its first own one.
func (w *copiesWalk) inFront(m *marked, addr uint64) bool {
	behind := slices.ContainsFunc(m.ranges, func(r [2]uint64) bool { return r[1] <= addr })
	near := nearest(m.ranges, addr)
	return behind && near <= nearBegin && !slices.ContainsFunc(w.marked, func(other marked) bool {
		return other.mark == m.mark && other.copy.Place != m.copy.Place &&
			(has(other.ranges, addr) || nearest(other.ranges, addr) <= near)
	})
}

// nearest is how far behind an address the first of some ranges begins.
func nearest(ranges [][2]uint64, addr uint64) uint64 {
	near := ^uint64(0)
	for _, r := range ranges {
		if r[0] > addr {
			near = min(near, r[0]-addr)
		}
	}
	return near
}

// nearBegin is how many bytes instructions of others can take behind the begin of a copy.
const nearBegin = 32

// marks are the moments at which statements of the marked copies' places begin, by the table of a unit.
func (w *copiesWalk) marks(u *dwarfinfo.Unit) (map[mark][]moment, error) {
	wanted := map[mark]bool{}
	for i := range w.marked {
		wanted[w.marked[i].mark] = true
	}
	out := map[mark][]moment{}
	names := map[*dwarf.LineFile]string{}
	var at moment
	first := true
	err := w.tables.Rows(u, func(row *dwarf.LineEntry) bool {
		if first || row.Address != at.addr {
			at = moment{addr: row.Address}
		} else {
			at.view++
		}
		if first = row.EndSequence; first || !row.IsStmt || row.Column == 0 || row.File == nil {
			return true
		}
		name, known := names[row.File]
		if !known {
			name = path.Clean(row.File.Name)
			names[row.File] = name
		}
		if m := (mark{name, row.Line, row.Column}); wanted[m] {
			out[m] = append(out[m], at)
		}
		return true
	})
	for _, list := range out {
		slices.SortFunc(list, func(a, b moment) int {
			return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.view, b.view))
		})
	}
	return out, err
}
