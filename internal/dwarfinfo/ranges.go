package dwarfinfo

import (
	"cmp"
	"debug/dwarf"
	"slices"
)

// Ranges of addresses: .debug_aranges, .debug_ranges, .debug_rnglists, and which unit has an address.

// A unitRange is a range of addresses, from Low to below High, of the unit at an offset of .debug_info.
type unitRange struct {
	low, high uint64
	unit      int64
}

// maxRanges bounds the ranges of one list.
const maxRanges = 1 << 20

// UnitOf gives the unit that has the code at an address; nil if none says so.
func (d *Data) UnitOf(addr uint64) (*Unit, error) {
	u, err := d.listedUnitOf(addr)
	if u == nil || err != nil {
		return nil, err
	}
	return u.whole(), nil
}

// listedUnitOf gives the unit of the program itself, which can be a skeleton.
func (d *Data) listedUnitOf(addr uint64) (*Unit, error) {
	units, err := d.headers()
	if err != nil {
		return nil, err
	}
	if d.last != nil {
		if has, err := d.last.covers(addr); err != nil || has {
			return d.last, err
		}
	}
	if u := d.byTable(addr); u != nil {
		if has, err := u.covers(addr); err == nil && has {
			d.last = u
			return u, nil
		}
	}
	for _, u := range units {
		if u.part != d.parts[0] {
			break
		}
		if has, err := u.covers(addr); err == nil && has {
			d.last = u
			return u, nil
		}
	}
	return nil, nil
}

// byTable asks .debug_aranges (6.1.2), which gcc and rustc write. It can lack units, and is a hint only.
func (d *Data) byTable(addr uint64) *Unit {
	if d.byAddress == nil {
		d.byAddress = []unitRange{}
		if b, err := d.parts[0].aranges.Bytes(0, d.parts[0].aranges.Size); err == nil {
			d.byAddress = addressTable(b)
		}
	}
	i, exact := slices.BinarySearchFunc(d.byAddress, addr, func(r unitRange, addr uint64) int {
		return cmp.Compare(r.low, addr)
	})
	if !exact {
		i--
	}
	if i < 0 || addr >= d.byAddress[i].high {
		return nil
	}
	j, found := slices.BinarySearchFunc(d.units, d.byAddress[i].unit, func(u *Unit, off int64) int {
		return cmp.Compare(u.off, off)
	})
	if !found {
		return nil
	}
	return d.units[j]
}

// addressTable reads .debug_aranges as far as it keeps to the standard.
func addressTable(b []byte) (out []unitRange) {
	for c := (&cursor{data: b}); c.at < len(b); {
		offsetSize, length := 4, c.number(4)
		if length == 0xffffffff {
			offsetSize, length = 8, c.number(8)
		}
		begin := c.at
		if c.failed || length > uint64(len(b)-begin) {
			break
		}
		set := &cursor{data: b[:begin+int(length)], at: begin}
		c.at = begin + int(length)
		set.number(2)
		unit := set.number(offsetSize)
		size := int(set.number(1))
		set.number(1)
		if size != 8 || set.failed {
			continue
		}
		start := begin - offsetSize - (offsetSize-4)*2 // of the set: in front of its length
		if over := (set.at - start) % 16; over != 0 {
			set.take(uint64(16 - over))
		}
		for !set.failed {
			low, n := set.number(8), set.number(8)
			if low == 0 && n == 0 || set.failed {
				break
			}
			out = append(out, unitRange{low, low + n, int64(unit)})
		}
	}
	slices.SortFunc(out, func(x, y unitRange) int { return cmp.Compare(x.low, y.low) })
	return out
}

// covers reports whether the unit has the code at an address.
func (u *Unit) covers(addr uint64) (bool, error) {
	if u.ofType() {
		return false, nil
	}
	e, err := u.Root()
	if err != nil {
		return false, err
	}
	ranges, err := e.Ranges()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return addr >= r[0] && addr < r[1] }), nil
}

// Ranges gives the addresses of the code of an entry, each from the first to behind the last. Of a function the first
// range begins at its entry (2.17.3). Code that the linker has left out has none.
func (e *Entry) Ranges() ([][2]uint64, error) {
	all, err := e.saidRanges()
	return slices.DeleteFunc(all, func(r [2]uint64) bool { return e.unit.leftOut(r[0]) }), err
}

// Low is the address at which the code of an entry begins, where it says one (DW_AT_low_pc); false where it says none,
// or the linker has left the code out.
func (e *Entry) Low() (uint64, bool) {
	low, ok := e.Val(dwarf.AttrLowpc).(uint64)
	return low, ok && !e.unit.leftOut(low)
}

// A linker leaves out sections that nothing leads to (--gc-sections), and all but one of several copies of an inline
// function, and keeps the debug information of them. In the place of an address it writes one that is none: 0, or as a
// begin in a list 1, as nothing and an end are 0 there; LLVM's can be told to write -1 and -2. What lies behind the
// begin of a section follows from that: line 20 at 0 + 0x1040, which can be an address of other code.

// NoAddress reports whether an address stands for one of what the linker has left out.
func NoAddress(addr uint64) bool { return addr <= 1 || addr >= ^uint64(1) }

// leftOut reports whether an address of the unit is one of code that the linker has left out.
func (u *Unit) leftOut(addr uint64) bool {
	if NoAddress(addr) {
		return true
	}
	if u.code == nil {
		u.code = &unitCode{}
		if e, err := u.Root(); err == nil {
			// What is damaged says nothing of what was left out.
			all, _ := e.saidRanges()
			u.code.sort(all)
		}
	}
	return has(u.code.out, addr) && !has(u.code.in, addr)
}

// unitCode are the ranges of code of a unit that is in the file, and of what would be there from 0 on if the linker had
// not left it out.
type unitCode struct{ in, out [][2]uint64 }

func (s *unitCode) sort(all [][2]uint64) {
	for _, r := range all {
		switch {
		case !NoAddress(r[0]):
			s.in = append(s.in, r)
		case r[1] > r[0] && r[1]-r[0] > 1:
			s.out = append(s.out, r)
		}
	}
	slices.SortFunc(s.in, func(x, y [2]uint64) int { return cmp.Compare(x[0], y[0]) })
	slices.SortFunc(s.out, func(x, y [2]uint64) int { return -cmp.Compare(x[1], y[1]) })
	s.out = s.out[:min(len(s.out), 1)] // all begin at the same place
}

// has reports whether an address lies in one of ranges in ascending order.
func has(list [][2]uint64, addr uint64) bool {
	i, exact := slices.BinarySearchFunc(list, addr, func(r [2]uint64, addr uint64) int {
		return cmp.Compare(r[0], addr)
	})
	if !exact {
		i--
	}
	return i >= 0 && addr < list[i][1]
}

// saidRanges are those that the debug information gives.
func (e *Entry) saidRanges() ([][2]uint64, error) {
	if s := e.ofSkeleton(dwarf.AttrRanges); s != nil {
		return s.saidRanges()
	}
	if v, ok := e.find(dwarf.AttrRanges); ok {
		return e.unit.ranges(v)
	}
	all := e.lowToHigh()
	if u := e.unit; u.version == 2 && int64(e.Offset) == u.entries {
		return append(all, u.functionRanges()...), nil
	}
	return all, nil
}

// lowToHigh is the range of an entry that has one without a list.
func (e *Entry) lowToHigh() [][2]uint64 {
	low, ok := e.Val(dwarf.AttrLowpc).(uint64)
	if !ok {
		return nil
	}
	switch high := e.Val(dwarf.AttrHighpc).(type) {
	case uint64:
		return [][2]uint64{{low, high}}
	case int64:
		return [][2]uint64{{low, low + uint64(high)}}
	}
	return [][2]uint64{{low, low + 1}}
}

// functionRanges are those of the functions of a unit. DWARF 2 has no DW_AT_ranges, so with -gstrict-dwarf a unit whose
// code is in several sections has the addresses of one of them (gcc), or none (clang).
func (u *Unit) functionRanges() [][2]uint64 {
	if u.functions == nil {
		u.functions = [][2]uint64{}
		// Of what is damaged those are known that are in front of it.
		_ = u.Walk(func(e *Entry, _ int) (into bool, err error) {
			if e.Tag == dwarf.TagSubprogram {
				u.functions = append(u.functions, e.lowToHigh()...)
			}
			return e.Tag != dwarf.TagSubprogram, nil
		})
	}
	return u.functions
}

func (u *Unit) ranges(v value) ([][2]uint64, error) {
	if u.version < 5 {
		return u.oldRanges(int64(u.oldRangeBase + v.number))
	}
	at := v.number
	if v.form == formRnglistx {
		size := int64(u.offsetSize)
		if at > 1<<32 {
			return nil, damaged("list %d of ranges", at)
		}
		b, err := u.part.rnglists.Bytes(int64(u.rangeBase)+size*int64(at), size)
		if err != nil {
			return nil, err
		}
		at = u.rangeBase + (&cursor{data: b}).number(u.offsetSize)
	} else {
		at += u.packed.ranges
	}
	return u.rangeList(int64(at))
}

// pieceOfList is how many bytes of a list are read at a time.
const pieceOfList = 64 << 10

// oldRanges reads a list of .debug_ranges (DWARF 4, 2.17.3).
func (u *Unit) oldRanges(at int64) (out [][2]uint64, err error) {
	base, s := u.low, &u.data.parts[0].ranges // a .dwo has none
	if !u.part.split {
		s = &u.part.ranges
	}
	for range maxRanges / (pieceOfList / 16) {
		b, err := s.Bytes(at, min(pieceOfList, max(s.Size-at, 0)))
		if err != nil {
			return nil, err
		}
		c := &cursor{data: b}
		for {
			low, high := c.number(u.addressSize), c.number(u.addressSize)
			switch {
			case c.failed && len(b) < pieceOfList:
				return nil, damaged("a list of ranges is cut off")
			case c.failed:
			case low == 0 && high == 0:
				return out, nil
			case low == 1<<(8*u.addressSize)-1:
				base = high
			default:
				out = append(out, [2]uint64{base + low, base + high})
			}
			if c.failed {
				break
			}
		}
		at += int64(len(b) / (2 * u.addressSize) * 2 * u.addressSize)
	}
	return nil, damaged("a list of ranges without an end")
}

// rangeList reads a list of .debug_rnglists (DWARF 5, 2.17.3).
func (u *Unit) rangeList(at int64) (out [][2]uint64, err error) {
	err = u.eachList(&u.part.rnglists, at, func(l *listReader) (done bool) {
		out, done = l.ranges()
		return done
	})
	return out, err
}

// ranges gives the ranges up to the end of the list, or to a fault; done: the bytes were enough.
func (l *listReader) ranges() (out [][2]uint64, done bool) {
	for {
		kind := l.c.number(1)
		if kind >= listDefault {
			kind++ // it has none
		}
		low, high, bounded := l.bounds(kind)
		switch {
		case l.c.failed:
			return nil, false
		case l.err != nil, kind == listEnd:
			return out, true
		case bounded:
			out = append(out, [2]uint64{low, high})
		}
	}
}

// Lists of ranges (.debug_rnglists) and of places (.debug_loclists) have entries of the same bounds: two addresses, by
// themselves, by their indices, or as distances from a base that an earlier entry sets. An entry of a place has an
// expression behind them.
//
//	base_address 0x401000
//	offset_pair  0x10 0x20    from 0x401010 to below 0x401020
//	end_of_list

// The entries of a list of places (7.7.3). A list of ranges (7.25) has no default: its later kinds are one less.
const (
	listEnd         = 0
	listBaseIndex   = 1
	listIndexIndex  = 2
	listIndexLength = 3
	listOffsets     = 4
	listDefault     = 5
	listBase        = 6
	listAddresses   = 7
	listLength      = 8
)

// maxList bounds the bytes of a list.
const maxList = 1 << 20

// inPieces reads a list from an offset of a section on, of which read reports whether the bytes were enough. Most lists
// are short.
func (s *Section) inPieces(at int64, read func(*cursor) (done bool)) error {
	for piece := int64(256); ; piece *= 16 {
		left := max(s.Size-at, 0)
		b, err := s.Bytes(at, min(piece, left))
		if err != nil {
			return err
		}
		if read(&cursor{data: b}) {
			return nil
		}
		if piece >= left || piece >= maxList {
			return damaged("a list without an end")
		}
	}
}

// A listReader reads the entries of a list.
type listReader struct {
	unit *Unit
	c    cursor
	// base is what offsets are relative to.
	base uint64
	// old: its entries are those of a .dwo before DWARF 5, in which lengths and offsets have 4 bytes.
	old bool
	err error
}

// eachList calls read with the list. While read says that it is not done it is called again, from the beginning of the
// list and with more bytes of it.
func (u *Unit) eachList(s *Section, at int64, read func(*listReader) (done bool)) error {
	var wrong error
	err := s.inPieces(at, func(c *cursor) bool {
		l := &listReader{unit: u, c: *c, base: u.low, old: u.version < 5}
		done := read(l)
		wrong = l.err
		return done
	})
	if err != nil {
		return err
	}
	return wrong
}

// bounds gives the addresses of an entry whose kind was read, the last one behind its range; not bounded: it has none.
func (l *listReader) bounds(kind uint64) (low, high uint64, bounded bool) {
	c, size := &l.c, l.unit.addressSize
	switch kind {
	case listEnd:
		return 0, 0, false
	case listBaseIndex:
		l.base = l.indexed()
		return 0, 0, false
	case listBase:
		l.base = c.number(size)
		return 0, 0, false
	case listIndexIndex:
		low, high = l.indexed(), l.indexed()
	case listIndexLength:
		low = l.indexed()
		high = low + l.length()
	case listOffsets:
		low, high = l.base+l.length(), l.base+l.length()
	case listDefault:
	case listAddresses:
		low, high = c.number(size), c.number(size)
	case listLength:
		low = c.number(size)
		high = low + c.unsigned()
	default:
		l.err = damaged("a list has an entry of an unknown kind")
	}
	return low, high, true
}

// length reads a length, or an offset from the base.
func (l *listReader) length() uint64 {
	if l.old {
		return l.c.number(4)
	}
	return l.c.unsigned()
}

// indexed is the address of which the index is next.
func (l *listReader) indexed() uint64 {
	index := l.c.unsigned()
	if l.c.failed {
		return 0
	}
	addr, err := l.unit.address(index)
	if err != nil {
		l.err = err
	}
	return addr
}
