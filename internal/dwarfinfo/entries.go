package dwarfinfo

import "debug/dwarf"

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

// Entry gives the one at an offset.
func (d *Data) Entry(off dwarf.Offset) (*Entry, error) {
	r := d.Entries()
	if err := r.Seek(off); err != nil {
		return nil, err
	}
	return r.Next()
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
