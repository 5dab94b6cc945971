package dwarfinfo

import "debug/dwarf"

// An Entry is what is said of one thing: a function, a parameter, a type. Its values are decoded when they are asked
// for.
type Entry struct {
	// Offset is where it begins in .debug_info.
	Offset dwarf.Offset
	// Tag says what it is of; 0 of the entry that ends a list of children.
	Tag dwarf.Tag
	// Children: those behind it up to the end of a list lie within it.
	Children bool

	unit  *Unit
	attrs []attribute
	// values are the bytes from its first value on, and at is where they begin in .debug_info.
	values []byte
	at     int64
}

// entry reads the one at an offset of .debug_info; b are bytes of the unit from its header on.
func (u *Unit) entry(b []byte, off int64) (*Entry, error) {
	c := &cursor{data: b, at: int(off - u.off)}
	if c.at > len(b) {
		return nil, damaged("an entry at %#x", off)
	}
	e := &Entry{Offset: dwarf.Offset(off), unit: u}
	code := c.unsigned()
	if c.failed {
		return nil, damaged("an entry at %#x is cut off", off)
	}
	e.values, e.at = b[c.at:], u.off+int64(c.at)
	if code == 0 {
		return e, nil
	}
	a, ok := u.table.of(code)
	if !ok {
		return nil, damaged("an entry at %#x has no abbreviation", off)
	}
	e.Tag, e.Children, e.attrs = a.tag, a.children, a.attrs
	return e, nil
}

// find gives the value of an attribute as it is written.
func (e *Entry) find(name dwarf.Attr) (value, bool) {
	c := &cursor{data: e.values}
	for _, a := range e.attrs {
		if a.name == name {
			v := e.unit.value(c, a)
			return v, !c.failed
		}
		if a.size >= 0 {
			c.take(uint64(a.size))
		} else {
			e.unit.skip(c, a.form)
		}
		if c.failed {
			break
		}
	}
	return value{}, false
}

// Val gives the value of an attribute as debug/dwarf's Entry does: an address is a uint64, a constant and an offset of
// a section are an int64, a flag a bool, a reference a dwarf.Offset, a text a string, a block a []byte. nil: it has no
// such attribute, or its value lies in another file.
func (e *Entry) Val(name dwarf.Attr) any {
	v, ok := e.find(name)
	if !ok {
		return nil
	}
	return e.unit.meaning(v)
}

// SignedVal gives a number that has a sign, whose highest bit in a form of a fixed size is that. The standard leaves
// that open, so only who knows what the number is for knows whether it has a sign. false: there is no such number.
func (e *Entry) SignedVal(name dwarf.Attr) (int64, bool) {
	v, ok := e.find(name)
	if !ok || v.class() != classConstant {
		return 0, false
	}
	if size := v.form.written(); size > 0 {
		unused := 64 - 8*size
		return int64(v.number<<unused) >> unused, true
	}
	return int64(v.number), true
}

// Unit is the unit that the entry is in.
func (e *Entry) Unit() *Unit { return e.unit }

// end is where its values end, an offset of .debug_info.
func (e *Entry) end() (int64, error) {
	c := &cursor{data: e.values}
	e.unit.skipAll(c, e.attrs)
	if c.failed {
		return 0, damaged("an entry at %#x is cut off", uint32(e.Offset))
	}
	return e.at + int64(c.at), nil
}
