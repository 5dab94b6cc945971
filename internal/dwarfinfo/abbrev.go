package dwarfinfo

import (
	"debug/dwarf"
	"slices"
)

// An abbreviation says which attributes an entry has, and in which forms (7.5.3).
type abbreviation struct {
	tag      dwarf.Tag
	children bool
	attrs    []attribute
	// size is how many bytes all attributes take together, -1 where that varies.
	size int
}

// An attribute is one of an abbreviation.
type attribute struct {
	name dwarf.Attr
	form form
	// size is how many bytes the value takes, at most 16, -1 where that varies.
	size int16
	// implicit is the value of DW_FORM_implicit_const, which stands in the abbreviation.
	implicit int64
}

// abbreviations are those of a unit, by their numbers. Compilers number from 1 on without gaps.
type abbreviations struct {
	inOrder []abbreviation
	others  map[uint64]abbreviation
}

// maxAttrs bounds the attributes of an entry. Those of compilers have up to some twenty.
const maxAttrs = 256

// of gives the abbreviation of a number.
func (t *abbreviations) of(code uint64) (*abbreviation, bool) {
	if code-1 < uint64(len(t.inOrder)) {
		return &t.inOrder[code-1], true
	}
	a, ok := t.others[code]
	return &a, ok
}

// parseAbbreviations reads a table. offsetSize and addressSize are those of the unit that it belongs to, in bytes.
//
// A large library has a thousand units, each with a table of its own, so tables take no more than they need.
func parseAbbreviations(c *cursor, offsetSize, addressSize int) (*abbreviations, error) {
	t, room := &abbreviations{}, make([]attribute, 0, 32)
	for {
		code := c.unsigned()
		if c.failed {
			return nil, damaged("a table of abbreviations is cut off")
		}
		if code == 0 {
			t.inOrder = slices.Clone(t.inOrder)
			return t, nil
		}
		a := abbreviation{tag: dwarf.Tag(c.unsigned()), children: c.number(1) != 0}
		a.attrs = room
		if err := a.parseAttributes(c, offsetSize, addressSize); err != nil {
			return nil, err
		}
		a.attrs = slices.Clone(a.attrs)
		if code == uint64(len(t.inOrder))+1 {
			t.inOrder = append(t.inOrder, a)
			continue
		}
		if t.others == nil {
			t.others = map[uint64]abbreviation{}
		}
		t.others[code] = a
	}
}

func (a *abbreviation) parseAttributes(c *cursor, offsetSize, addressSize int) error {
	for !c.failed && len(a.attrs) < maxAttrs {
		at := attribute{name: dwarf.Attr(c.unsigned()), form: form(c.unsigned())}
		if at.form == formImplicitConst {
			at.implicit = c.signed()
		}
		if at.name == 0 && at.form == 0 {
			return nil
		}
		at.size = int16(at.form.size(offsetSize, addressSize))
		a.attrs = append(a.attrs, at)
		if at.size < 0 || a.size < 0 {
			a.size = -1
		} else {
			a.size += int(at.size)
		}
	}
	return damaged("an abbreviation is cut off")
}
