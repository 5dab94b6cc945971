package dwarfinfo

import (
	"debug/dwarf"
	"errors"
)

// Lists of places, .debug_loc and .debug_loclists, and gcc's views.
//
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
	var at int64
	switch {
	case v.class() == classBlock:
		return v.bytes, false, nil
	case v.class() == classList:
		if at, err = u.listed(v.number); err != nil {
			return nil, true, err
		}
	case v.class() == classOffset, u.version < 5 && (v.form == formData4 || v.form == formData8): // before DWARF 4
		at = int64(u.packed.loc + v.number)
	default:
		return nil, false, damaged("a place of the form %#x", v.form)
	}
	if u.oldLists() {
		expr, err = u.oldLocations(at, pc)
	} else {
		expr, err = u.newLocations(at, pc)
	}
	return expr, true, err
}

// oldLists reports whether the unit's lists of places have pairs of addresses without kinds, as before DWARF 5. Those
// of split units had kinds before.
func (u *Unit) oldLists() bool { return u.version < 5 && !u.part.split }

// lists is the section of the lists of places.
func (u *Unit) lists() (*Section, error) {
	if u.version < 5 {
		return u.part.loc()
	}
	return u.part.loclists()
}

// listed is where the list of an index begins in .debug_loclists.
func (u *Unit) listed(index uint64) (int64, error) {
	size := int64(u.offsetSize)
	if index > 1<<32 {
		return 0, damaged("list %d of places", index)
	}
	s, err := u.lists()
	if err != nil {
		return 0, err
	}
	b, err := s.Bytes(int64(u.locBase)+size*int64(index), size)
	if err != nil {
		return 0, err
	}
	return int64(u.locBase + (&cursor{data: b}).number(u.offsetSize)), nil
}

// oldLocations looks into a list of .debug_loc (DWARF 4, 2.6.2).
func (u *Unit) oldLocations(at int64, pc uint64) (expr []byte, err error) {
	s, err := u.lists()
	if err != nil {
		return nil, err
	}
	err = s.inPieces(at, func(c *cursor) bool {
		for base := u.listsBase(); ; {
			entry, end := u.oldEntry(c, &base)
			switch {
			case end:
				return !c.failed
			case pc >= entry.Low && pc < entry.High:
				expr = entry.Expr
				return true
			}
		}
	})
	return expr, err
}

// newLocations looks into a list of .debug_loclists (DWARF 5, 2.6.2).
func (u *Unit) newLocations(at int64, pc uint64) (expr []byte, err error) {
	s, err := u.lists()
	if err != nil {
		return nil, err
	}
	err = u.eachList(s, at, func(l *listReader) (done bool) {
		expr, done = l.expression(pc)
		return done
	})
	return expr, err
}

// expression gives the expression of an address, or the one of all addresses that have no other; done: the bytes were
// enough for it, for the end of the list or for a fault.
func (l *listReader) expression(pc uint64) (found []byte, done bool) {
	for {
		kind, entry, bounded := l.newEntry()
		switch {
		case l.c.failed:
			return nil, false
		case l.err != nil, kind == listEnd:
			return found, true
		case kind == listDefault:
			found = entry.Expr
		case bounded && pc >= entry.Low && pc < entry.High:
			return entry.Expr, true
		}
	}
}

// newEntry reads an entry of a list of .debug_loclists; bounded: it is a place.
func (l *listReader) newEntry() (kind uint64, entry Span, bounded bool) {
	kind = l.c.number(1)
	if entry.Low, entry.High, bounded = l.bounds(kind); bounded {
		entry.Expr = l.c.take(l.exprLength())
	}
	return kind, entry, bounded
}

// exprLength is how many bytes an expression has.
func (l *listReader) exprLength() uint64 {
	if l.old {
		return l.c.number(2)
	}
	return l.c.unsigned()
}

// A list of places has an entry for each change of a variable, and at one address there can be several changes, as
// optimizers move instructions and leave others out:
//
//	entry of a copy 0x11cd, view 1
//	n   0x11cd view 1  0x11e2 view 1  the constant 5
//	    0x11e2 view 1  0x11e2 view 3  the constant 123
//
// gcc numbers the moments at an address (views; DW_AT_GNU_locviews has a begin and an end for each entry of the list).

// What gcc says of views.
const (
	attrLocViews  = dwarf.Attr(0x2137) // DW_AT_GNU_locviews
	attrEntryView = dwarf.Attr(0x2138) // DW_AT_GNU_entry_view
)

// EntryView is the moment at the address of its entry at which a copy of a function begins; 0 where it is not said.
func (e *Entry) EntryView() uint64 {
	view, _ := e.Val(attrEntryView).(int64)
	return uint64(view)
}

// A Span is one of a list of places: from a moment at an address to below another one.
type Span struct {
	// Low and High are the addresses, and LowView and HighView the moments at them, 0 where these are not said.
	Low, High, LowView, HighView uint64
	// Expr is the expression.
	Expr []byte
}

// HasViews reports whether the list of places of the entry has views.
func (e *Entry) HasViews() bool { return e.Has(attrLocViews) }

// Spans gives the list of places that DW_AT_location of an entry is; listed: it is one. Places of all addresses that
// have no other are left out.
func (e *Entry) Spans() (out []Span, listed bool, err error) {
	v, ok := e.find(dwarf.AttrLocation)
	if !ok || v.class() == classBlock {
		return nil, false, nil
	}
	u := e.unit
	at := int64(u.packed.loc + v.number)
	if v.class() == classList {
		if at, err = u.listed(v.number); err != nil {
			return nil, true, err
		}
	}
	read := u.spans
	if u.oldLists() {
		read = u.oldSpans
	}
	s, err := u.lists()
	if err != nil {
		return nil, true, err
	}
	if out, err = read(s, at); err != nil {
		return nil, true, err
	}
	return out, true, e.views(s, out)
}

// maxSpans bounds the entries of a list.
const maxSpans = 1 << 16

// views reads those of a list.
func (e *Entry) views(s *Section, list []Span) error {
	at, ok := e.Val(attrLocViews).(int64)
	if !ok {
		return nil
	}
	return s.inPieces(int64(e.unit.packed.loc)+at, func(c *cursor) bool {
		for i := range list {
			list[i].LowView, list[i].HighView = c.unsigned(), c.unsigned()
		}
		return !c.failed
	})
}

// spans reads a list of .debug_loclists.
func (u *Unit) spans(s *Section, at int64) (out []Span, err error) {
	err = u.eachList(s, at, func(l *listReader) (done bool) {
		for out = nil; len(out) < maxSpans; {
			kind, entry, bounded := l.newEntry()
			switch {
			case l.c.failed:
				return false
			case l.err != nil, kind == listEnd:
				return true
			case bounded && kind != listDefault:
				out = append(out, entry)
			}
		}
		return true
	})
	return out, err
}

// oldSpans reads a list of .debug_loc.
func (u *Unit) oldSpans(s *Section, at int64) (out []Span, err error) {
	err = s.inPieces(at, func(c *cursor) bool {
		base := u.listsBase()
		for out = nil; len(out) < maxSpans; {
			entry, end := u.oldEntry(c, &base)
			if end {
				return !c.failed
			}
			out = append(out, entry)
		}
		return true
	})
	return out, err
}

// oldEntry reads the next entry of a list of .debug_loc that says a place. Addresses count from base, which entries of
// the list change. end: there is none, or the bytes were not enough.
func (u *Unit) oldEntry(c *cursor, base *uint64) (entry Span, end bool) {
	for {
		low, high := c.number(u.addressSize), c.number(u.addressSize)
		switch {
		case c.failed || low == 0 && high == 0:
			return Span{}, true
		case low == 1<<(8*u.addressSize)-1:
			*base = high
			continue
		}
		entry = Span{Low: *base + low, High: *base + high, Expr: c.take(c.number(2))}
		return entry, c.failed
	}
}

// DWARF 2 has no DW_AT_ranges, so gcc -gdwarf-2 -gstrict-dwarf cannot say that a unit has code in several sections. The
// unit has the addresses of one of them then. Addresses of its lists count from 0, and not from where the unit begins,
// which only the addresses themselves tell:
//
//	the unit  0x1170 to 0x11cc
//	work      0x1170 to 0x11cc
//	n         0x1170 to 0x1198 the register rdi; not 0x22e0 to 0x2308

// A listsBase is what the addresses of the unit's lists count from at first, once known says so.
type listsBase struct {
	known bool
	from  uint64
}

// listsBase is what addresses of lists of places in .debug_loc count from at first.
func (u *Unit) listsBase() uint64 {
	if u.version > 2 || u.low == 0 {
		return u.low
	}
	b := &u.oldBase
	if !b.known {
		b.known, b.from = true, u.low
		var within [2]uint64 // the function
		// What is damaged says nothing of it.
		_ = u.Walk(func(e *Entry, _ int) (into bool, err error) {
			if e.Tag == dwarf.TagSubprogram {
				within = [2]uint64{}
				if all, err := e.Ranges(); err == nil && len(all) == 1 {
					within = all[0]
				}
			}
			if fromZero, sure := e.listFromZero(within); sure {
				if fromZero {
					b.from = 0
				}
				return false, errDecided
			}
			return true, nil
		})
	}
	return b.from
}

// errDecided ends a walk that has found what it was for.
var errDecided = errors.New("decided")

// listFromZero reports whether the list of places of an entry in a function has addresses that count from 0; sure: the
// list begins within the function only in one of the two ways.
func (e *Entry) listFromZero(function [2]uint64) (fromZero, sure bool) {
	u := e.unit
	for _, name := range []dwarf.Attr{dwarf.AttrFrameBase, dwarf.AttrLocation} {
		v, ok := e.find(name)
		if !ok || v.form != formData4 && v.form != formData8 {
			continue
		}
		s, err := u.lists()
		if err != nil {
			return false, false
		}
		var first Span
		// A list that cannot be read has no first entry.
		_ = s.inPieces(int64(v.number), func(c *cursor) bool {
			base := uint64(0)
			first, _ = u.oldEntry(c, &base)
			return !c.failed
		})
		in := func(base uint64) bool {
			return first.Low < first.High && base+first.Low >= function[0] && base+first.High <= function[1]
		}
		if fromZero = in(0); fromZero != in(u.low) {
			return fromZero, true
		}
	}
	return false, false
}
