package dwarfinfo

import "debug/dwarf"

// Where a variable is can depend on where the program is. Then its attribute is no expression but a list of them, each
// for a range of addresses (DWARF 5, 2.6.2):
//
//	total   0x401130 0x401138  the register rax
//	        0x401138 0x401160  the register rbx
//
// Behind the last range, and between two, it is nowhere: the compiler has no value of it there.

// Expression gives the expression of an attribute that says where something is, as it holds at an address: of
// DW_AT_location, DW_AT_frame_base. listed: it is one of a list. nil: at this address there is none.
func (e *Entry) Expression(name dwarf.Attr, pc uint64) (expr []byte, listed bool, err error) {
	v, ok := e.find(name)
	if !ok {
		return nil, false, nil
	}
	u := e.unit
	switch {
	case v.class() == classBlock:
		return v.bytes, false, nil
	case v.class() == classList:
		at, err := u.listed(v.number)
		if err != nil {
			return nil, true, err
		}
		expr, err = u.newLocations(at, pc)
		return expr, true, err
	case u.version >= 5 && v.class() == classOffset:
		expr, err = u.newLocations(int64(v.number), pc)
		return expr, true, err
	case v.class() == classOffset, v.form == formData4, v.form == formData8: // the latter before DWARF 4
		expr, err = u.oldLocations(int64(v.number), pc)
		return expr, true, err
	}
	return nil, false, damaged("a place of the form %#x", v.form)
}

// listed is where the list of an index begins in .debug_loclists.
func (u *Unit) listed(index uint64) (int64, error) {
	size := int64(u.offsetSize)
	if index > 1<<32 {
		return 0, damaged("list %d of places", index)
	}
	s, err := u.data.loclists()
	if err != nil {
		return 0, err
	}
	b, err := s.Bytes(int64(u.locBase)+size*int64(index), size)
	if err != nil {
		return 0, err
	}
	return int64(u.locBase + (&cursor{data: b}).number(u.offsetSize)), nil
}

// maxLocations bounds the bytes of a list of places.
const maxLocations = 1 << 20

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
		if piece >= left || piece >= maxLocations {
			return damaged("a list of places without an end")
		}
	}
}

// oldLocations looks into a list of .debug_loc (DWARF 4, 2.6.2).
func (u *Unit) oldLocations(at int64, pc uint64) (expr []byte, err error) {
	s, err := u.data.loc()
	if err != nil {
		return nil, err
	}
	err = s.inPieces(at, func(c *cursor) bool {
		base := u.low
		for {
			low, high := c.number(u.addressSize), c.number(u.addressSize)
			switch {
			case c.failed:
				return false
			case low == 0 && high == 0:
				return true
			case low == 1<<(8*u.addressSize)-1:
				base = high
				continue
			}
			bytes := c.take(c.number(2))
			if !c.failed && pc >= base+low && pc < base+high {
				expr = bytes
				return true
			}
		}
	})
	return expr, err
}

// The entries of a list of places (7.7.3).
const (
	placeEnd         = 0
	placeBaseIndex   = 1
	placeIndexIndex  = 2
	placeIndexLength = 3
	placeOffsets     = 4
	placeDefault     = 5
	placeBase        = 6
	placeAddresses   = 7
	placeLength      = 8
)

// newLocations looks into a list of .debug_loclists (DWARF 5, 2.6.2).
func (u *Unit) newLocations(at int64, pc uint64) (expr []byte, err error) {
	s, err := u.data.loclists()
	if err != nil {
		return nil, err
	}
	var wrong error
	err = s.inPieces(at, func(c *cursor) bool {
		l := &placeReader{rangeReader: rangeReader{unit: u, c: *c, base: u.low}}
		done := l.read(pc)
		expr, wrong = l.found, l.err
		return done
	})
	if err == nil {
		err = wrong
	}
	return expr, err
}

// A placeReader looks for the expression of an address in a list.
type placeReader struct {
	rangeReader
	// found is the expression, or the one of all addresses that have no other.
	found []byte
}

// read reports whether it came to the end of the list, to the expression or to a fault.
func (l *placeReader) read(pc uint64) (done bool) {
	c := &l.c
	for {
		var low, high uint64
		kind := c.number(1)
		switch kind {
		case placeEnd:
			return !c.failed
		case placeBaseIndex:
			l.base = l.indexed()
			continue
		case placeBase:
			l.base = c.number(l.unit.addressSize)
			continue
		case placeIndexIndex:
			low, high = l.indexed(), l.indexed()
		case placeIndexLength:
			low = l.indexed()
			high = low + c.unsigned()
		case placeOffsets:
			low, high = l.base+c.unsigned(), l.base+c.unsigned()
		case placeDefault:
		case placeAddresses:
			low, high = c.number(l.unit.addressSize), c.number(l.unit.addressSize)
		case placeLength:
			low = c.number(l.unit.addressSize)
			high = low + c.unsigned()
		default:
			l.err = damaged("a list of places has an entry of kind %d", kind)
			return true
		}
		expr := c.take(c.unsigned())
		switch {
		case c.failed:
			return false
		case l.err != nil:
			return true
		case kind == placeDefault:
			l.found = expr
		case pc >= low && pc < high:
			l.found = expr
			return true
		}
	}
}
