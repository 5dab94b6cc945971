package dwarfinfo

import (
	"debug/dwarf"
	"slices"
)

// Abbreviations of .debug_abbrev.

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
	inOrder []*abbreviation
	others  map[uint64]*abbreviation
}

// A pool has the abbreviations of all tables of a file, by the bytes that they are written in. A large library has a
// thousand units, each with a table of its own, which differ from each other in little.
type pool struct {
	// offsetSize and addressSize are those of the units, in bytes.
	offsetSize, addressSize int
	known                   map[string]*abbreviation
	// room is for the attributes of the one that is being read.
	room []attribute
}

// maxAttrs bounds the attributes of an entry. Those of compilers have up to some twenty.
const maxAttrs = 256

// of gives the abbreviation of a number.
func (t *abbreviations) of(code uint64) (*abbreviation, bool) {
	if code-1 < uint64(len(t.inOrder)) {
		return t.inOrder[code-1], true
	}
	a, ok := t.others[code]
	return a, ok
}

// parse reads a table. It takes no more than it needs.
func (p *pool) parse(c *cursor) (*abbreviations, error) {
	t := &abbreviations{}
	for {
		code := c.unsigned()
		if c.failed {
			return nil, damaged("a table of abbreviations is cut off")
		}
		if code == 0 {
			t.inOrder = slices.Clone(t.inOrder)
			return t, nil
		}
		a, err := p.one(c)
		if err != nil {
			return nil, err
		}
		if code == uint64(len(t.inOrder))+1 {
			t.inOrder = append(t.inOrder, a)
			continue
		}
		if t.others == nil {
			t.others = map[uint64]*abbreviation{}
		}
		t.others[code] = a
	}
}

// one reads an abbreviation behind its number.
func (p *pool) one(c *cursor) (*abbreviation, error) {
	from := c.at
	a := abbreviation{tag: dwarf.Tag(c.unsigned()), children: c.number(1) != 0, attrs: p.room[:0]}
	if err := a.parseAttributes(c, p.offsetSize, p.addressSize); err != nil {
		return nil, err
	}
	p.room = a.attrs
	written := c.data[from:c.at]
	if known := p.known[string(written)]; known != nil {
		return known, nil
	}
	kept := &abbreviation{tag: a.tag, children: a.children, attrs: slices.Clone(a.attrs), size: a.size}
	p.known[string(written)] = kept
	return kept, nil
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
