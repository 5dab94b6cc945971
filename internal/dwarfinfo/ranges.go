package dwarfinfo

import (
	"cmp"
	"debug/dwarf"
	"slices"
)

// A unitRange is a range of addresses, from Low to below High, of the unit at an offset of .debug_info.
type unitRange struct {
	low, high uint64
	unit      int64
}

// maxRanges bounds the ranges of one list.
const maxRanges = 1 << 20

// UnitOf gives the unit that has the code at an address; nil if none says so.
func (d *Data) UnitOf(addr uint64) (*Unit, error) {
	units, err := d.Units()
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
		if b, err := d.aranges.Bytes(0, d.aranges.Size); err == nil {
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
	if u.kind == unitType || u.kind == unitSplitType {
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
// range begins at its entry (2.17.3).
func (e *Entry) Ranges() ([][2]uint64, error) {
	if v, ok := e.find(dwarf.AttrRanges); ok {
		return e.unit.ranges(v)
	}
	low, ok := e.Val(dwarf.AttrLowpc).(uint64)
	if !ok {
		return nil, nil
	}
	switch high := e.Val(dwarf.AttrHighpc).(type) {
	case uint64:
		return [][2]uint64{{low, high}}, nil
	case int64:
		return [][2]uint64{{low, low + uint64(high)}}, nil
	}
	return [][2]uint64{{low, low + 1}}, nil
}

func (u *Unit) ranges(v value) ([][2]uint64, error) {
	if u.version < 5 {
		return u.oldRanges(int64(v.number))
	}
	at := v.number
	if v.form == formRnglistx {
		size := int64(u.offsetSize)
		if at > 1<<32 {
			return nil, damaged("list %d of ranges", at)
		}
		b, err := u.data.rnglists.Bytes(int64(u.rangeBase)+size*int64(at), size)
		if err != nil {
			return nil, err
		}
		at = u.rangeBase + (&cursor{data: b}).number(u.offsetSize)
	}
	return u.rangeList(int64(at))
}

// pieceOfList is how many bytes of a list are read at a time.
const pieceOfList = 64 << 10

// oldRanges reads a list of .debug_ranges (DWARF 4, 2.17.3).
func (u *Unit) oldRanges(at int64) (out [][2]uint64, err error) {
	base := u.low
	for range maxRanges / (pieceOfList / 16) {
		b, err := u.data.ranges.Bytes(at, min(pieceOfList, max(u.data.ranges.Size-at, 0)))
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

// The entries of a list of ranges (7.25).
const (
	rangeEnd          = 0
	rangeBaseIndex    = 1
	rangeIndexIndex   = 2
	rangeIndexLength  = 3
	rangeOffsets      = 4
	rangeBase         = 5
	rangeAddresses    = 6
	rangeAddressCount = 7
)

// rangeList reads a list of .debug_rnglists (DWARF 5, 2.17.3). Most have two ranges.
func (u *Unit) rangeList(at int64) ([][2]uint64, error) {
	for piece := int64(128); ; piece *= 16 {
		left := max(u.data.rnglists.Size-at, 0)
		b, err := u.data.rnglists.Bytes(at, min(piece, left))
		if err != nil {
			return nil, err
		}
		l := &rangeReader{unit: u, c: cursor{data: b}, base: u.low}
		switch done := l.read(); {
		case done:
			return l.out, l.err
		case piece >= left || piece >= maxRanges:
			return nil, damaged("a list of ranges without an end")
		}
	}
}

// A rangeReader reads a list of ranges.
type rangeReader struct {
	unit *Unit
	c    cursor
	// base is what offsets are relative to.
	base uint64
	out  [][2]uint64
	err  error
}

// read reports whether it came to the end of the list, or to a fault.
func (l *rangeReader) read() (done bool) {
	c := &l.c
	for {
		var low, high uint64
		kind := c.number(1)
		switch kind {
		case rangeEnd:
		case rangeBaseIndex:
			l.base = l.indexed()
		case rangeIndexIndex:
			low, high = l.indexed(), l.indexed()
		case rangeIndexLength:
			low = l.indexed()
			high = low + c.unsigned()
		case rangeOffsets:
			low, high = l.base+c.unsigned(), l.base+c.unsigned()
		case rangeBase:
			l.base = c.number(l.unit.addressSize)
		case rangeAddresses:
			low, high = c.number(l.unit.addressSize), c.number(l.unit.addressSize)
		case rangeAddressCount:
			low = c.number(l.unit.addressSize)
			high = low + c.unsigned()
		default:
			l.err = damaged("a list of ranges has an entry of kind %d", kind)
		}
		switch {
		case c.failed:
			return false
		case l.err != nil, kind == rangeEnd:
			return true
		case kind != rangeBase && kind != rangeBaseIndex:
			l.out = append(l.out, [2]uint64{low, high})
		}
	}
}

// indexed is the address of which the index is next.
func (l *rangeReader) indexed() uint64 {
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
