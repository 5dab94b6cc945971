package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"slices"
)

// Entries (DIEs) of a unit, walked, sought and read with their attributes.

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
	if s := e.ofSkeleton(name); s != nil {
		return s.Val(name)
	}
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

// Version is that of DWARF, 2 to 5, in which a unit is written.
func (u *Unit) Version() int { return u.version }

// end is where its values end, an offset of .debug_info.
func (e *Entry) end() (int64, error) {
	c := &cursor{data: e.values}
	e.unit.skipAll(c, e.attrs)
	if c.failed {
		return 0, damaged("an entry at %#x is cut off", uint32(e.Offset))
	}
	return e.at + int64(c.at), nil
}

// Entries go over the entries of units in their order, as debug/dwarf's does: each entry is followed by its
// children, and these by an entry with the Tag 0.
type Entries struct {
	data *Data
	unit *Unit
	// bytes are those of the unit.
	bytes []byte
	// at is the offset of the next entry in .debug_info.
	at int64
	// last is the entry that was given last, or nil.
	last *Entry
}

// Entries gives a walk that stands nowhere: it has to seek first.
func (d *Data) Entries() *Entries { return &Entries{data: d} }

// Seek lets the entry at an offset be the next.
func (r *Entries) Seek(off dwarf.Offset) error {
	u := r.unit
	if u == nil || int64(off) < u.entries || int64(off) >= u.end {
		var err error
		if u, err = r.data.unitAt(off); err != nil {
			r.unit = nil
			return err
		}
	}
	b, err := u.load()
	if err != nil {
		r.unit = nil
		return err
	}
	r.unit, r.bytes, r.at, r.last = u, b, int64(off), nil
	return nil
}

// Next gives the next entry; nil behind the last of the unit.
func (r *Entries) Next() (*Entry, error) {
	if r.unit == nil {
		return nil, damaged("a reference to where no entry is")
	}
	if r.at >= r.unit.end {
		return nil, nil
	}
	e, err := r.unit.entry(r.bytes, r.at)
	if err != nil {
		r.at = r.unit.end
		return nil, err
	}
	if r.at, err = e.end(); err != nil {
		r.at = r.unit.end
		return nil, err
	}
	r.last = e
	return e, nil
}

// maxDepth bounds how deep entries lie within others.
const maxDepth = 256

// SkipChildren steps over the children of the entry that was given last.
func (r *Entries) SkipChildren() {
	e := r.last
	if e == nil || !e.Children {
		return
	}
	if next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && int64(next) > r.at && int64(next) < r.unit.end {
		r.at, r.last = int64(next), nil
		return
	}
	for depth := 1; depth > 0; {
		k, err := r.Next()
		if err != nil || k == nil || depth > maxDepth {
			r.at = r.unit.end
			break
		}
		switch {
		case k.Tag == 0:
			depth--
		case k.Children:
			if next, ok := k.Val(dwarf.AttrSibling).(dwarf.Offset); ok && int64(next) > r.at &&
				int64(next) < r.unit.end {
				r.at = int64(next)
			} else {
				depth++
			}
		}
	}
	r.last = nil
}

// Entry gives the one at an offset. For a type that has a unit of its own it is the one there.
func (d *Data) Entry(off dwarf.Offset) (*Entry, error) {
	r := d.Entries()
	if err := r.Seek(off); err != nil {
		return nil, err
	}
	e, err := r.Next()
	if err != nil {
		return nil, err
	}
	return d.described(e)
}

// EachChild calls f for each direct child of an entry until it gives false.
func (d *Data) EachChild(e *Entry, f func(*Entry) (more bool, err error)) error {
	if !e.Children {
		return nil
	}
	r := d.Entries()
	if err := r.Seek(e.Offset); err != nil {
		return err
	}
	if _, err := r.Next(); err != nil {
		return err
	}
	for {
		k, err := r.Next()
		if err != nil || k == nil || k.Tag == 0 {
			return err
		}
		more, err := f(k)
		if err != nil || !more {
			return err
		}
		r.last = k
		r.SkipChildren()
	}
}

// maxOrigins bounds how many entries say of one thing what it is.
const maxOrigins = 5

// Origins are an entry and those that it refers to for its attributes: the declaration of a function that is defined
// elsewhere, the function of which this is a copy. What cannot be read ends the chain.
func (d *Data) Origins(e *Entry) []*Entry {
	out := []*Entry{e}
	for len(out) < maxOrigins {
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		var err error
		if e, err = d.Entry(next); err != nil || e == nil {
			break
		}
		out = append(out, e)
	}
	return out
}

// Attribute gives the value of an attribute by the first of some entries that has it, as Entry.Val does; nil if none
// has.
func Attribute(chain []*Entry, a dwarf.Attr) any {
	for _, e := range chain {
		if v := e.Val(a); v != nil {
			return v
		}
	}
	return nil
}

// A walk over a whole unit gives its entries without keeping them, which is what a search for functions by their names
// takes: a unit has some hundred thousand, of which few are functions.

// Walk calls f for each entry of the unit below its first, with how deep it lies: 1 is a child of the first. The entry
// is good until f returns; Keep makes one that stays. into: what lies in it is wanted, too.
func (u *Unit) Walk(f func(e *Entry, depth int) (into bool, err error)) error {
	b, err := u.load()
	if err != nil {
		return err
	}
	e, c := Entry{unit: u}, &cursor{data: b, at: int(u.entries - u.off)}
	depth, within := 0, -1 // within: entries deeper than this are not wanted; -1: all are
	for c.at < len(b) {
		if err := u.next(&e, c); err != nil {
			return err
		}
		if e.Tag == 0 {
			if depth--; depth <= 0 {
				return nil
			}
			continue
		}
		if within >= 0 && depth <= within {
			within = -1
		}
		if depth > 0 && within < 0 {
			into, err := f(&e, depth)
			if err != nil {
				return err
			}
			if !into && e.Children && !u.toSibling(&e, c) {
				within = depth
			} else if !into {
				continue
			}
		}
		if e.Children {
			if depth++; depth > maxDepth {
				return damaged("entries that lie too deep, at %#x", uint32(e.Offset))
			}
		}
	}
	return nil
}

// next reads the entry at which c stands, and sets c behind it.
func (u *Unit) next(e *Entry, c *cursor) error {
	off := u.off + int64(c.at)
	code := c.unsigned()
	*e = Entry{Offset: dwarf.Offset(off), unit: u, values: c.data[c.at:], at: u.off + int64(c.at)}
	if code == 0 || c.failed {
		if c.failed {
			return damaged("an entry at %#x is cut off", off)
		}
		return nil
	}
	a, ok := u.table.of(code)
	if !ok {
		return damaged("an entry at %#x has no abbreviation", off)
	}
	e.Tag, e.Children, e.attrs = a.tag, a.children, a.attrs
	if a.size >= 0 {
		c.take(uint64(a.size))
	} else {
		u.skipAll(c, a.attrs)
	}
	if c.failed {
		return damaged("an entry at %#x is cut off", off)
	}
	return nil
}

// toSibling sets c behind the children of an entry, where the entry says where that is.
func (u *Unit) toSibling(e *Entry, c *cursor) bool {
	next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset)
	if !ok || int64(next) <= u.off+int64(c.at) || int64(next) >= u.end {
		return false
	}
	c.at = int(int64(next) - u.off)
	return true
}

// Keep makes an entry of a walk one that stays.
func (e *Entry) Keep() *Entry {
	kept := *e
	return &kept
}

// Has reports whether the entry has an attribute.
func (e *Entry) Has(name dwarf.Attr) bool {
	for i := range e.attrs {
		if e.attrs[i].name == name {
			return true
		}
	}
	return false
}

// each calls f for each abbreviation.
func (t *abbreviations) each(f func(*abbreviation)) {
	for _, a := range t.inOrder {
		f(a)
	}
	for _, a := range t.others {
		f(a)
	}
}

// mostSought is for how many entries the bytes of a unit are searched.
const mostSought = 8

// MayRefer reports whether one of some entries can be what an attribute of the unit's entries refers to, as far as that
// is seen without going over these.
func (u *Unit) MayRefer(name dwarf.Attr, to []dwarf.Offset) bool {
	if u.abbreviations() != nil {
		return false
	}
	across, other := false, false
	u.table.each(func(a *abbreviation) {
		for _, at := range a.attrs {
			if at.name == name {
				class := forms[at.form].class
				across = across || class == classRefAddr || class == classRefShared
				other = other || class != classRefAddr && class != classRefShared && at.form != formRef4
			}
		}
	})
	inside := false
	for _, off := range to {
		inside = inside || int64(off) >= u.off && int64(off) < u.end
	}
	switch {
	case !across && !inside:
		return false
	case other || len(to) > mostSought:
		return true
	}
	b, err := u.load()
	if err != nil {
		return true // who walks finds out why
	}
	for _, off := range to {
		if across && u.writesAcross(b, uint64(off)) || bytes.Contains(b, u.written(uint64(off)-uint64(u.off), 4)) {
			return true
		}
	}
	return false
}

// writesAcross reports whether bytes of the unit may have a reference to an entry of another unit.
func (u *Unit) writesAcross(b []byte, to uint64) bool {
	if bytes.Contains(b, u.written(to-uint64(u.reference(0)), u.offsetSize)) {
		return true
	}
	s := u.part.shared
	return s != nil && bytes.Contains(b, u.written(to-uint64(s.base), 4))
}

// written is a number as the unit has it.
func (u *Unit) written(n uint64, size int) []byte {
	return binary.LittleEndian.AppendUint64(nil, n)[:size]
}

// A Sought is a name that is looked for in units before these are gone over, without the arguments of templates and
// generics, and of Go without what is declared within it.
type Sought struct {
	// texts are the text with what can follow it: its NUL, such arguments, or the dot before what is within.
	texts [4][]byte
	// in says where the text stands in the files that were asked.
	in map[*part]textPlaces
}

// textPlaces are the places of a .debug_str where a text stands, also as the end of a longer one; many: they are too
// many, or not known.
type textPlaces struct {
	at   [][]byte
	many bool
}

// mostPlaces is up to how many places of .debug_str are looked for in units.
const mostPlaces = 8

// Sought prepares to look for a text.
func (d *Data) Sought(text string) *Sought {
	t := &Sought{in: map[*part]textPlaces{}}
	for i := range t.texts {
		t.texts[i] = append([]byte(text), "\x00<[."[i])
	}
	return t
}

// places looks for the text in a file.
func (t *Sought) places(p *part) textPlaces {
	out, known := t.in[p]
	if known {
		return out
	}
	b, err := p.str.Bytes(0, min(p.str.Size, maxPiece))
	out.many = err != nil || p.str.Size > maxPiece
	for _, text := range t.texts {
		for from := 0; !out.many; {
			i := bytes.Index(b[from:], text)
			if i < 0 {
				break
			}
			out.at = append(out.at, binary.LittleEndian.AppendUint32(nil, uint32(from+i)))
			out.many = len(out.at) > mostPlaces
			from += i + 1
		}
	}
	t.in[p] = out
	return out
}

// MayName reports whether entries of the unit can have a text as their name, as far as that is seen without going over
// these.
func (u *Unit) MayName(t *Sought) bool {
	b, err := u.load()
	if err != nil || u.offsetSize != 4 {
		return true
	}
	own, shared := t.places(u.part), textPlaces{}
	if u.part.shared != nil {
		shared = t.places(u.part.shared)
	}
	if own.many || shared.many {
		return true
	}
	indexed := false
	u.table.each(func(a *abbreviation) {
		for _, at := range a.attrs {
			indexed = indexed || at.name == dwarf.AttrName && forms[at.form].class == classStrIndex
		}
	})
	if indexed && len(own.at) > 0 {
		return true
	}
	for _, texts := range [][][]byte{t.texts[:], own.at, shared.at} {
		if slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(b, text) }) {
			return true
		}
	}
	return false
}
