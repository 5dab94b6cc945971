package dwarfinfo

import (
	"debug/dwarf"
	"io"
)

// Types in units of their own (-fdebug-types-section).
//
// Types can have units of their own (gcc and clang: -fdebug-types-section), of which a linker keeps one for each type.
// Others refer to them by a signature (DW_FORM_ref_sig8), or have a declaration with one (DW_AT_signature). In DWARF 4
// these units are in a section of their own.

// attrSignature is DW_AT_signature.
const attrSignature = dwarf.Attr(0x69)

// signed gives the entry of the type of a signature; false: no unit has it.
func (d *Data) signed(signature uint64) (dwarf.Offset, bool) {
	if d.types == nil {
		d.types = map[uint64]dwarf.Offset{}
		units, err := d.headers()
		if err != nil {
			return 0, false
		}
		for _, u := range units {
			mine := !u.part.split || u.part.used
			if at := uint64(u.off) + u.typeAt; mine && u.typeAt > 0 && at < uint64(u.end) {
				d.types[u.signature] = dwarf.Offset(at)
			}
		}
	}
	at, ok := d.types[signature]
	return at, ok
}

// described is the entry that has what an entry of a type only refers to by a signature; e where it does not.
func (d *Data) described(e *Entry) (*Entry, error) {
	if e == nil {
		return e, nil
	}
	at, ok := e.Val(attrSignature).(dwarf.Offset)
	if !ok || at == e.Offset {
		return e, nil
	}
	r := d.Entries()
	if err := r.Seek(at); err != nil {
		return e, nil // what is damaged is only declared
	}
	return r.Next()
}

// InUnitOfItsOwn is the description of a type that e only declares, in a unit of its own; nil where there is none. e
// can stand in that unit, as gcc has it of types in namespaces.
func (d *Data) InUnitOfItsOwn(e *Entry) *Entry {
	if is, err := d.described(e); is != e {
		if err != nil {
			return nil
		}
		return is
	}
	u := e.unit
	if u.typeAt == 0 {
		return nil
	}
	is, err := d.Entry(dwarf.Offset(uint64(u.off) + u.typeAt))
	if err != nil || is == nil || is.Val(dwarf.AttrSpecification) != e.Offset {
		return nil
	}
	return is
}

// followedBy is a section with another one behind it.
func (s Section) followedBy(next Section) Section {
	return Section{Reader: twoSections{s, next}, Size: s.Size + next.Size}
}

// twoSections are the bytes of two sections, one behind the other.
type twoSections struct{ first, second Section }

func (s twoSections) ReadAt(b []byte, off int64) (n int, err error) {
	if off < s.first.Size {
		n = int(min(int64(len(b)), s.first.Size-off))
		if err := s.first.readAt(b[:n], off); err != nil {
			return 0, err
		}
	}
	if rest := b[n:]; len(rest) > 0 {
		at := off + int64(n) - s.first.Size
		if at+int64(len(rest)) > s.second.Size {
			return n, io.ErrUnexpectedEOF
		}
		if err := s.second.readAt(rest, at); err != nil {
			return n, err
		}
	}
	return len(b), nil
}

// readAt fills b.
func (s *Section) readAt(b []byte, off int64) error {
	got, err := s.Bytes(off, int64(len(b)))
	copy(b, got)
	return err
}
