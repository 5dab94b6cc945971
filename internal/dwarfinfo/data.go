// Package dwarfinfo reads debug information (DWARF 2 to 5) of large files without reading them whole.
//
// A file of 180 MB of debug information has some hundred units, each the information of one source file. A question
// about one function needs one of them: its unit is found by a table of addresses (.debug_aranges), or by the first
// entry of each unit, and only that unit is read. In a unit the reader steps over what nobody asks for: an entry's size
// follows from its abbreviation, and a type with all its members from DW_AT_sibling. Package debug/dwarf reads and
// decodes all sections and all entries on the way, which takes seconds and some 600 MB for such a file
// (docs/rationale.md).
//
// The names of tags, attributes and offsets are those of debug/dwarf. Numbers of sections in comments are those of the
// standard, version 5.
//
// Files are foreign data. Whatever they hold, methods give an error of the kind ErrDamaged or nothing, never a panic,
// and read no more than the sections have.
package dwarfinfo

import (
	"debug/dwarf"
	"slices"
)

// Data and Unit: the headers of units, read unit by unit.

// A Data is the debug information of one file. It belongs to one goroutine.
type Data struct {
	// parts are the files that have it: the program's, and others (split.go, section.go).
	parts  []*part
	others Others
	// splits are files of split units by their names and folders, and packages is the package, once packed says that it
	// was looked for.
	splits   map[[2]string][]*part
	packages []*part
	packed   bool

	// types are the types that have units of their own, by their signatures; nil until one was asked for.
	types map[uint64]dwarf.Offset

	// units are all that were read, in the order of their offsets; nil until they were looked for.
	units []*Unit
	err   error // why they are not known
	// sharedErr is what is wrong with the file that several programs share.
	sharedErr error
	// tables are the tables of abbreviations that were read, by their offset and the sizes of offsets and addresses.
	tables map[tableKey]*abbreviations
	// pools are what these share.
	pools []*pool
	// byAddress says which unit a range of addresses belongs to, by .debug_aranges, in ascending order; nil until it
	// was read.
	byAddress []unitRange
	// loaded are the units whose bytes are kept, the oldest first, and kept is how many bytes these are.
	loaded []*Unit
	kept   int
	// last is the unit that had the answer to the last question: the next is often about the same.
	last *Unit
}

type tableKey struct {
	part            *part
	at              uint64
	offset, address int
}

// Sections give a section of a file by its name, the zero Section where there is none.
type Sections func(name string) (Section, error)

// Open prepares to read a file, and what others have of its debug information. nil: it has none.
func Open(section Sections, others Others) (*Data, error) {
	d := &Data{tables: map[tableKey]*abbreviations{}, others: others}
	p, err := d.openPart(section, "")
	if err != nil {
		return nil, err
	}
	if p.info.Size == 0 {
		return nil, nil
	}
	d.parts = []*part{p}
	return d, nil
}

// pool gives that of tables of units with offsets and addresses of these sizes.
func (d *Data) pool(offset, address int) *pool {
	for _, p := range d.pools {
		if p.offsetSize == offset && p.addressSize == address {
			return p
		}
	}
	p := &pool{offsetSize: offset, addressSize: address, known: map[string]*abbreviation{}}
	d.pools = append(d.pools, p)
	return p
}

// A Unit is the information of one source file, or a part of it that others share.
type Unit struct {
	// data is the debug information that has the unit, and part the file of it in which the unit stands.
	data *Data
	part *part
	// off is where its header begins in .debug_info, entries where its first entry does, and end is behind its last.
	off, entries, end int64
	version           int // of DWARF, 2 to 5
	offsetSize        int // bytes of an offset, 4 or 8
	addressSize       int // bytes of an address
	// abbrevAt is where its abbreviations begin in .debug_abbrev.
	abbrevAt uint64
	// kind is DW_UT_…, of which units before DWARF 5 have none, but those of .debug_types.
	kind byte
	// dwoID is the number of the compilation of a skeleton and of what it leads to.
	dwoID uint64
	// split is what a skeleton leads to, and skeleton is the one that leads here. packed is where its stretches of the
	// sections of a package begin.
	split    splitState
	skeleton *Unit
	packed   packed
	// signature is that of the type of a unit of one, and typeAt where it is in the unit.
	signature, typeAt uint64

	// known: what follows was read from its first entry.
	known bool
	// strBase, addrBase, rangeBase and locBase are where its part of .debug_str_offsets, .debug_addr, .debug_rnglists
	// and .debug_loclists begins.
	strBase, addrBase, rangeBase, locBase uint64
	// oldRangeBase is where its part of .debug_ranges begins, and splitRanges that of the unit that a skeleton leads
	// to.
	oldRangeBase, splitRanges uint64
	// low is DW_AT_low_pc, to which lists of ranges are relative.
	low uint64
	// oldBase is what addresses of its lists of places before DWARF 5 count from (locations.go).
	oldBase listsBase

	// functions are the ranges of its functions, nil until somebody asked for them (ranges.go).
	functions [][2]uint64

	// bytes are those from off on; nil until an entry was asked for. table has their abbreviations.
	bytes []byte
	table *abbreviations
	// code are the ranges of its code, nil until somebody asked for what the linker has left out.
	code *unitCode
}

// Kinds of units (7.5.1).
const (
	unitType      = 0x02
	unitSkeleton  = 0x04
	unitSplit     = 0x05
	unitSplitType = 0x06
)

// ofType reports whether the unit is one of a type.
func (u *Unit) ofType() bool { return u.kind == unitType || u.kind == unitSplitType }

// maxHeader is the longest header of a unit, in bytes: that of a unit of types with offsets of 64 bits.
const maxHeader = 12 + 2 + 1 + 1 + 8 + 8 + 8

// Units gives all units, in place of skeletons what these lead to. Those behind a damaged header are not known.
func (d *Data) Units() ([]*Unit, error) {
	all, err := d.headers()
	out := make([]*Unit, 0, len(all))
	for _, u := range all {
		if !u.part.split {
			out = append(out, u.whole())
		}
	}
	for _, u := range d.units {
		if u.part.split && u.part.used && u.ofType() {
			out = append(out, u)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}

// headers gives all units that were read, skeletons as they are.
func (d *Data) headers() ([]*Unit, error) {
	if d.units == nil && d.err == nil {
		d.units, d.err = d.parts[0].readUnits()
		if len(d.units) > 0 {
			d.sharedErr = d.openShared()
		}
	}
	if len(d.units) > 0 {
		return d.units, nil
	}
	return nil, d.err
}

// SharedWrong says what is wrong with the file that several programs share; nil where nothing is, or there is none.
func (d *Data) SharedWrong() error {
	if _, err := d.headers(); err != nil {
		return nil // of the file itself nothing is known
	}
	return d.sharedErr
}

// header reads the header of a unit.
func (p *part) header(off int64, b []byte) (*Unit, error) {
	c := &cursor{data: b}
	u := &Unit{data: p.data, part: p, off: off, offsetSize: 4}
	length := c.number(4)
	if length == 0xffffffff {
		u.offsetSize, length = 8, c.number(8)
	}
	if length > uint64(p.info.Size-off) || length == 0 {
		return nil, damaged("a unit of %d bytes at %d", length, off)
	}
	u.end = off + int64(c.at) + int64(length)
	if u.version = int(c.number(2)); u.version >= 5 {
		u.kind = byte(c.number(1))
		u.addressSize = int(c.number(1))
		u.abbrevAt = c.number(u.offsetSize)
		switch u.kind {
		case unitSkeleton, unitSplit:
			u.dwoID = c.number(8)
		case unitType, unitSplitType:
			u.signature, u.typeAt = c.number(8), c.number(u.offsetSize)
		}
	} else {
		u.abbrevAt = c.number(u.offsetSize)
		u.addressSize = int(c.number(1))
		if off >= p.typesAt {
			u.kind, u.signature, u.typeAt = unitType, c.number(8), c.number(u.offsetSize)
		}
	}
	u.entries = off + int64(c.at)
	if c.failed || u.version < 2 || u.version > 5 || u.addressSize != 4 && u.addressSize != 8 || u.end > p.info.Size ||
		u.entries > u.end {
		return nil, damaged("the header of a unit at %d", off)
	}
	return u, nil
}

// unitAt gives the unit that an offset of .debug_info lies in.
func (d *Data) unitAt(off dwarf.Offset) (*Unit, error) {
	units, err := d.headers()
	if err != nil {
		return nil, err
	}
	i, exact := slices.BinarySearchFunc(units, int64(off), func(u *Unit, off int64) int { return int(u.off - off) })
	if exact || i == 0 || int64(off) < units[i-1].entries || int64(off) >= units[i-1].end {
		return nil, damaged("a reference to %#x, where no entry is", uint32(off))
	}
	return units[i-1], nil
}

// mostLoaded is how many bytes of units are kept. Walks that go on keep those of their unit.
const mostLoaded = 32 << 20

// load gives the bytes of the unit.
func (u *Unit) load() ([]byte, error) {
	if u.bytes != nil {
		return u.bytes, nil
	}
	b, err := u.read(u.end - u.off)
	if err != nil {
		return nil, err
	}
	if err := u.abbreviations(); err != nil {
		return nil, err
	}
	d := u.data
	for d.kept += len(b); d.kept > mostLoaded && len(d.loaded) > 0; d.loaded = d.loaded[1:] {
		d.kept -= len(d.loaded[0].bytes)
		d.loaded[0].bytes = nil
	}
	d.loaded = append(d.loaded, u)
	u.bytes = b
	u.know(b)
	return b, nil
}

func (u *Unit) abbreviations() (err error) {
	if u.table == nil {
		u.table, err = u.part.table(tableKey{at: u.abbrevAt, offset: u.offsetSize, address: u.addressSize})
	}
	return err
}

// maxRoot is how many bytes of a unit are read for its first entry. That of a compiler has some 100.
const maxRoot = 4096

// Root gives the first entry, which is that of the unit itself, without reading the others.
func (u *Unit) Root() (*Entry, error) {
	if err := u.abbreviations(); err != nil {
		return nil, err
	}
	b := u.bytes
	if b == nil {
		var err error
		if b, err = u.read(min(u.end-u.off, maxRoot)); err != nil {
			return nil, err
		}
	}
	u.know(b)
	return u.entry(b, u.entries)
}

// know takes from the first entry what others need.
func (u *Unit) know(b []byte) {
	if u.known {
		return
	}
	u.known = true
	if u.part.split {
		u.knowSplit()
	} else {
		u.strBase = uint64(2 * u.offsetSize) // behind the header of a table, where the unit does not say it
	}
	e, err := u.entry(b, u.entries)
	if err != nil || e.Tag == 0 {
		return
	}
	for name, to := range map[dwarf.Attr]*uint64{
		dwarf.AttrStrOffsetsBase: &u.strBase, dwarf.AttrAddrBase: &u.addrBase, dwarf.AttrRnglistsBase: &u.rangeBase,
		dwarf.AttrLoclistsBase: &u.locBase, attrGNUAddrBase: &u.addrBase, attrGNURangesBase: &u.splitRanges,
	} {
		if base, ok := e.Val(name).(int64); ok {
			*to = uint64(base)
		}
	}
	if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
		u.low = low
	}
}
