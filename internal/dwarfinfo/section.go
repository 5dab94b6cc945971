package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Sections of a file read in pieces, and the parts that a file's debug information has.

// ErrDamaged is what is said of debug information that does not keep to the standard.
var ErrDamaged = errors.New("damaged debug information")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// A Section is one of the file's sections, unpacked. The zero Section is one that the file has not.
type Section struct {
	// Reader gives the bytes, from offset 0 of the section on.
	Reader io.ReaderAt
	// Size is their number.
	Size int64
}

// maxPiece bounds what is read at a time: a unit, a table of abbreviations.
const maxPiece = 256 << 20

// inMemory is a Reader whose bytes need not be copied, as it has all of them.
type inMemory interface {
	Piece(off, n int64) []byte
}

// Bytes reads n bytes at an offset, which stay as they are. What does not lie in the section is damaged.
func (s *Section) Bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.Size || n > s.Size-off || n > maxPiece {
		return nil, damaged("%d bytes at %d of a section of %d", n, off, s.Size)
	}
	if all, ok := s.Reader.(inMemory); ok {
		return all.Piece(off, n), nil
	}
	b := make([]byte, n)
	if n == 0 {
		return b, nil
	}
	if _, err := s.Reader.ReadAt(b, off); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return b, nil
}

// maxName bounds a name: those of templates of C++ have some thousand bytes.
const maxName = 64 << 10

// text reads a text up to its NUL.
func (s *Section) text(off int64) (string, error) {
	var out []byte
	for n := int64(64); len(out) < maxName; n = 1024 {
		if n = min(n, s.Size-off); n <= 0 {
			break
		}
		b, err := s.Bytes(off, n)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return string(append(out, b[:end]...)), nil
		}
		out = append(out, b...)
		off += n
	}
	return "", damaged("a text without an end")
}

// Lines gives the section of the tables of lines.
func (d *Data) Lines() (*Section, error) { return d.parts[0].line() }

// LineTexts gives the sections that tables of lines have the names of their files in; nothing where they have them
// themselves, before DWARF 5.
func (d *Data) LineTexts() (str, lineStr []byte, err error) {
	p := d.parts[0]
	if lineStr, err = p.lineStr.Bytes(0, p.lineStr.Size); err != nil {
		return nil, nil, err
	}
	if p.lineStr.Size == 0 && p.str.Size <= maxPiece {
		str, err = p.str.Bytes(0, p.str.Size)
	}
	return str, lineStr, err
}

// A part is the debug information that one file has: the program, one with a unit that the program only refers to
// (split.go), or one that several programs share (below). The entries of all parts are read as if their
// .debug_info stood one behind the other, so that an offset says which one is meant.
type part struct {
	data                                                                    *Data
	info, abbrev, str, lineStr, strOffsets, addr, ranges, rnglists, aranges Section
	// loc, loclists and line are .debug_loc, .debug_loclists and .debug_line, which few ask for, and which may have to
	// be unpacked.
	loc, loclists, line func() (*Section, error)

	// base is where its .debug_info begins among those of all parts.
	base int64
	// typesAt is where the units of .debug_types begin, which are read as if they stood behind those of .debug_info.
	typesAt int64
	// abbrevs is .debug_abbrev; nil until it was read.
	abbrevs []byte

	// split: its units are those that skeletons lead to, and index says which parts of the sections they have where
	// they were packed together.
	split bool
	index *packageIndex
	// units are its own, and compiled those by the numbers of their compilations; nil until one was looked for. used:
	// one of them is the program's.
	units    []*Unit
	compiled map[uint64]*Unit
	used     bool
	// broken is why not all of its units are known; nil where they are.
	broken error
	// shared is the part that offsets in another file mean; nil where there is none.
	shared *part
}

// maxInfo bounds what all parts have together: an offset has 32 bits.
const maxInfo = 1<<32 - 1

// openPart prepares to read a file, whose sections' names end with an ending. Its .debug_info will stand behind those
// of others.
func (d *Data) openPart(section Sections, ending string) (*part, error) {
	p := &part{data: d, split: ending != ""}
	for name, at := range map[string]*Section{
		".debug_info": &p.info, ".debug_abbrev": &p.abbrev, ".debug_str": &p.str, ".debug_line_str": &p.lineStr,
		".debug_str_offsets": &p.strOffsets, ".debug_addr": &p.addr, ".debug_ranges": &p.ranges,
		".debug_rnglists": &p.rnglists, ".debug_aranges": &p.aranges,
	} {
		s, err := section(name + ending)
		if err != nil {
			return nil, fmt.Errorf("read debug information: %w", err)
		}
		*at = s
	}
	types, err := section(".debug_types" + ending)
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	if p.typesAt = p.info.Size; types.Size > 0 && p.info.Size > 0 {
		p.info = p.info.followedBy(types)
	}
	later := func(name string) func() (*Section, error) {
		return sync.OnceValues(func() (*Section, error) {
			s, err := section(name + ending)
			if err != nil {
				return nil, fmt.Errorf("read debug information: %w", err)
			}
			return &s, nil
		})
	}
	p.loc, p.loclists, p.line = later(".debug_loc"), later(".debug_loclists"), later(".debug_line")
	return p, nil
}

// add puts a part behind the others, with its units; those behind a damaged header are not known.
func (d *Data) add(p *part) error {
	for _, other := range d.parts {
		p.base = max(p.base, other.base+other.info.Size)
	}
	if len(d.parts) > 0 && p.base+p.info.Size > maxInfo {
		return damaged("more than %d bytes in all files", int64(maxInfo))
	}
	units, err := p.readUnits()
	if len(units) == 0 && err != nil {
		return err
	}
	p.units, p.broken = units, err
	d.parts = append(d.parts, p)
	d.units = append(d.units, units...)
	d.types = nil // there are more
	return nil
}

func (p *part) readUnits() (units []*Unit, err error) {
	for off := int64(0); off < p.info.Size; {
		b, err := p.info.Bytes(off, min(maxHeader, p.info.Size-off))
		if err != nil {
			return units, err
		}
		u, err := p.header(off, b)
		if err != nil {
			return units, err
		}
		if err := u.inPackage(off); err != nil {
			return units, err
		}
		off = u.end
		u.off, u.entries, u.end = u.off+p.base, u.entries+p.base, u.end+p.base
		units = append(units, u)
	}
	return units, nil
}

// table gives the abbreviations of a unit.
func (p *part) table(key tableKey) (*abbreviations, error) {
	key.part = p
	d := p.data
	if t := d.tables[key]; t != nil {
		return t, nil
	}
	if p.abbrevs == nil {
		b, err := p.abbrev.Bytes(0, p.abbrev.Size)
		if err != nil {
			return nil, err
		}
		p.abbrevs = b
	}
	if key.at > uint64(len(p.abbrevs)) {
		return nil, damaged("abbreviations at %d", key.at)
	}
	t, err := d.pool(key.offset, key.address).parse(&cursor{data: p.abbrevs, at: int(key.at)})
	if err == nil {
		d.tables[key] = t
	}
	return t, err
}

// read gives n bytes of the unit from its header on.
func (u *Unit) read(n int64) ([]byte, error) { return u.part.info.Bytes(u.off-u.part.base, n) }

// reference is an offset in .debug_info of the unit's file, as one of all parts.
func (u *Unit) reference(off uint64) dwarf.Offset {
	return dwarf.Offset(uint64(u.part.base) + u.packed.info + off)
}

// elsewhere is an offset in .debug_info of the file that several programs share; false where there is none.
func (u *Unit) elsewhere(off uint64) (dwarf.Offset, bool) {
	s := u.part.shared
	if s == nil || off >= uint64(s.info.Size) {
		return 0, false
	}
	return dwarf.Offset(uint64(s.base) + off), true
}

// What several programs have in common, dwz -m puts into a file of its own, to which they refer (DWARF 5, 7.3.6:
// supplementary; before, .gnu_debugaltlink): by offsets in its .debug_info (DW_FORM_ref_sup4, DW_FORM_GNU_ref_alt) and
// in its .debug_str (DW_FORM_strp_sup, DW_FORM_GNU_strp_alt). Its units are partial ones, of types and declarations.

// openShared reads that file, which can have texts alone. Without it nothing is known: parts of everything are in it.
func (d *Data) openShared() error {
	if d.others.Shared == nil {
		return nil
	}
	s := d.others.Shared()
	if s == nil {
		return nil
	}
	p, err := d.openPart(s, "")
	if err != nil {
		return err
	}
	d.parts[0].shared = p
	if p.info.Size == 0 {
		return nil
	}
	if err := d.add(p); err != nil {
		return err
	}
	return p.broken
}
