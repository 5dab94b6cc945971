package dwarfinfo

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
)

// Units in other files (-gsplit-dwarf): skeletons, .dwo, .dwp and its index, and the message that one is missing or
// damaged.
//
// With gcc -gsplit-dwarf a program has only a skeleton of each unit: its addresses, its table of lines and the name of
// a file, to which the linker pays no attention. That file has the unit itself (DWARF 5, 3.1.3; gcc had it before, with
// names of its own):
//
//	shop        DW_TAG_skeleton_unit, DW_AT_dwo_name "cart.dwo", DW_AT_comp_dir "/src", DW_AT_ranges, DW_AT_stmt_list
//	cart.dwo    DW_TAG_compile_unit with all functions, types and variables
//	shop.dwp    several such files in one, with an index (below)
//
// A number of the compilation (dwo_id), which both have, says that they belong together.

// Others are the files that have parts of the debug information of a program.
type Others struct {
	// Split gives the files that may have the unit of a skeleton, which has the name of one and the folder of the
	// compiler.
	Split func(name, dir string) iter.Seq[Sections]
	// Package gives the file that has the units of all skeletons; nil where there is none.
	Package func() Sections
	// Shared gives the file that several programs share (section.go); nil where there is none.
	Shared func() Sections
}

// The attributes of skeletons: those of DWARF 5 and those of gcc before. The last two say where its part of .debug_addr
// begins, and of .debug_ranges.
const (
	attrDwoName       = dwarf.Attr(0x76)
	attrGNUDwoName    = dwarf.Attr(0x2130)
	attrGNUDwoID      = dwarf.Attr(0x2131)
	attrGNURangesBase = dwarf.Attr(0x2132)
	attrGNUAddrBase   = dwarf.Attr(0x2133)
)

// splitState is what is known of the unit that a skeleton leads to.
type splitState struct {
	tried bool
	// unit is that unit, nil where why says why it is not known.
	unit *Unit
	why  string
	// name is that of its file; "" of a unit that is no skeleton.
	name string
}

// dwo reads where a skeleton leads to; "" where u is none.
func (u *Unit) dwo() (name, dir string, id uint64) {
	if u.part.split || u.kind == unitType || u.version >= 5 && u.kind != unitSkeleton || u.part.addr.Size == 0 {
		return "", "", 0
	}
	root, err := u.Root()
	if err != nil {
		return "", "", 0
	}
	for _, attr := range []dwarf.Attr{attrDwoName, attrGNUDwoName} {
		if name == "" {
			name, _ = root.Val(attr).(string)
		}
	}
	dir, _ = root.Val(dwarf.AttrCompDir).(string)
	return name, dir, u.number(root)
}

// number is the one of the compilation of the unit.
func (u *Unit) number(root *Entry) uint64 {
	if u.version >= 5 {
		return u.dwoID
	}
	id, _ := root.Val(attrGNUDwoID).(int64)
	return uint64(id)
}

// whole is the unit that a skeleton leads to; u itself where it is none, or where that is not known.
func (u *Unit) whole() *Unit {
	s := &u.split
	if !s.tried {
		s.tried = true
		var id uint64
		var dir string
		if s.name, dir, id = u.dwo(); s.name != "" {
			s.unit, s.why = u.data.unitOfSkeleton(u, s.name, dir, id)
		}
	}
	if s.unit != nil {
		return s.unit
	}
	return u
}

// unitOfSkeleton looks for a unit in the package, and in the files of its name.
func (d *Data) unitOfSkeleton(skeleton *Unit, name, dir string, id uint64) (of *Unit, why string) {
	why = SplitMissing
	for p := range d.candidates(name, dir) {
		u := p.ofCompilation(id)
		if is := d.wrongWith(p); why != SplitDamaged && why != SplitUnreadable {
			why = is
		}
		if u != nil && u.skeleton == nil && u.version == skeleton.version && u.addressSize == skeleton.addressSize {
			u.skeleton, p.used, d.types = skeleton, true, nil
			return u, ""
		}
	}
	return nil, why
}

// ofCompilation is the unit of the number of a compilation; nil where there is none.
func (p *part) ofCompilation(id uint64) *Unit {
	if p.compiled == nil {
		p.compiled = map[uint64]*Unit{}
		for _, u := range p.units {
			if u.ofType() {
				continue
			}
			root, err := u.Root()
			u.known = false // it was read without its skeleton
			if err != nil {
				p.broken = err
				continue
			}
			p.compiled[u.number(root)] = u
		}
	}
	return p.compiled[id]
}

// candidates are the files in which a unit may be, each of which is read once.
func (d *Data) candidates(name, dir string) iter.Seq[*part] {
	return func(yield func(*part) bool) {
		if d.others.Package != nil && !d.packed {
			d.packed = true
			if s := d.others.Package(); s != nil {
				d.packages = []*part{d.openSplit(s)}
			}
		}
		known, is := d.splits[[2]string{name, dir}]
		for _, p := range d.packages {
			if !yield(p) {
				return
			}
		}
		if !is && d.others.Split != nil {
			for s := range d.others.Split(name, dir) {
				known = append(known, d.openSplit(s))
			}
			if d.splits == nil {
				d.splits = map[[2]string][]*part{}
			}
			d.splits[[2]string{name, dir}] = known
		}
		for _, p := range known {
			if !yield(p) {
				return
			}
		}
	}
}

// openSplit reads a file of split units, and puts it behind others. Of one that is damaged nothing is known but that.
func (d *Data) openSplit(section Sections) *part {
	p, err := d.openPart(section, ".dwo")
	if err != nil {
		return &part{broken: err}
	}
	if p.info.Size == 0 {
		return &part{broken: ErrDamaged}
	}
	if p.index, err = readIndex(section); err != nil {
		return &part{broken: err}
	}
	p.shared = d.parts[0].shared
	if err := d.add(p); err != nil {
		return &part{broken: err}
	}
	return p
}

// ofSkeletons are what the first entry of a unit that a skeleton leads to has in the skeleton.
var ofSkeletons = []dwarf.Attr{dwarf.AttrLowpc, dwarf.AttrHighpc, dwarf.AttrRanges, dwarf.AttrStmtList,
	dwarf.AttrCompDir}

// ofSkeleton gives the first entry of the skeleton where that has an attribute of e; else nil.
func (e *Entry) ofSkeleton(name dwarf.Attr) *Entry {
	s := e.unit.skeleton
	if s == nil || int64(e.Offset) != e.unit.entries || !slices.Contains(ofSkeletons, name) {
		return nil
	}
	root, err := s.Root()
	if err != nil || root == nil {
		return nil
	}
	return root
}

// knowSplit sets where the parts of a split unit begin, of which it does not say it: behind the headers of its tables,
// which there were none of before DWARF 5; and what its skeleton knows.
func (u *Unit) knowSplit() {
	header := uint64(0)
	if u.version >= 5 {
		header = uint64(2 * u.offsetSize)
	}
	u.strBase = u.packed.strOffsets + header
	u.rangeBase, u.locBase = u.packed.ranges+header+4, u.packed.loc+header+4
	if s := u.skeleton; s != nil {
		if _, err := s.Root(); err == nil {
			u.addrBase, u.low, u.oldRangeBase = s.addrBase, s.low, s.splitRanges
		}
	}
}

// Why the unit of a skeleton is not known.
const (
	SplitMissing    = "is not there"
	SplitPackage    = "is not there, and PROGRAM.dwp is damaged"
	SplitOther      = "is of another build"
	SplitDamaged    = "is damaged"
	SplitUnreadable = "this user may not read"
)

// A Lost is a file of debug information that is not known.
type Lost struct {
	// Name is its name, as the skeleton has it, and Why is what is wrong: "is not there".
	Name, Why string
}

// mostTold is how many files a message has.
const mostTold = 6

// Tell names files that are not known, and says what to do: "cart.dwo, which is not there: bring it …".
func Tell(list []Lost) string {
	parts := make([]string, 0, mostTold)
	for _, l := range list {
		if part := l.Name + ", which " + l.Why; len(parts) < mostTold && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, ", and ")
	if len(list) > mostTold {
		text += ", and more"
	}
	return text + ": bring it where the compiler put it, or beside the program, or build the program anew"
}

// Lost is the file that has the unit that a skeleton leads to, where that is not known; false where it is, and of
// others.
func (u *Unit) Lost() (Lost, bool) {
	u.whole()
	return Lost{u.split.name, u.split.why}, u.split.why != ""
}

// Split gives the file that has what the unit of an address only refers to, where that is not known; false where it is
// known, or here.
func (d *Data) Split(addr uint64) (Lost, bool) {
	u, err := d.UnitOf(addr)
	if u == nil || err != nil {
		return Lost{}, false
	}
	return u.Lost()
}

// Damaged is Split of a unit that is there, but in which a function was not found because of damage: the file is known
// by its name.
func (d *Data) Damaged(addr uint64) (Lost, bool) {
	u, err := d.UnitOf(addr)
	if u == nil || err != nil || u.skeleton == nil {
		return Lost{}, false
	}
	return Lost{u.skeleton.split.name, SplitDamaged}, true
}

// LostUnits are the files of all units that skeletons lead to and that are not known.
func (d *Data) LostUnits() (out []Lost) {
	units, err := d.headers()
	if err != nil {
		return nil
	}
	for _, u := range slices.Clone(units) { // more are added on the way
		if lost, is := u.Lost(); is {
			out = append(out, lost)
		}
	}
	return out
}

// wrongWith is what is wrong with a file that does not have the unit of a skeleton.
func (d *Data) wrongWith(p *part) string {
	switch {
	case p.broken == nil:
		return SplitOther
	case errors.Is(p.broken, fs.ErrPermission):
		return SplitUnreadable
	case slices.Contains(d.packages, p):
		return SplitPackage
	}
	return SplitDamaged
}

// The package of a program (.dwp) has the units of all its .dwo files in one section, and so of their other sections.
// An index for units (.debug_cu_index) and one for types with units of their own (.debug_tu_index) say for each which
// stretch of each section is its own (DWARF 5, 7.3.5). An index has a table of hashes of signatures, which we do not
// need as the units say theirs, and then a row for each unit:
//
//	               info         abbrev       str_offsets   …
//	offsets        0x1c2        0x182        0x5c
//	sizes          0x90         0x44         0x20

// A packed says where the stretches of a unit begin in the sections of its package; 0 where there is none.
type packed struct{ info, abbrev, strOffsets, loc, ranges uint64 }

// A packageRow is one of the index of a package: where the units are, counted from the begin of their section.
type packageRow struct {
	begin, end uint64
	packed
}

// A packageIndex has the rows for .debug_info and those for .debug_types, in ascending order.
type packageIndex struct{ info, types []packageRow }

// Numbers of sections in an index: those of gcc before DWARF 5 and those of DWARF 5.
const (
	packInfo       = 1
	packTypes      = 2
	packAbbrev     = 3
	packLoc        = 5
	packStrOffsets = 6
	packRanges     = 8 // .debug_macro before DWARF 5
)

// maxPackage bounds the units and the columns of an index.
const (
	maxPackageUnits   = 1 << 20
	maxPackageColumns = 16
)

// readIndex reads the indices of a package; nil where the file is none.
func readIndex(section Sections) (*packageIndex, error) {
	out, found := &packageIndex{}, false
	for _, name := range []string{".debug_cu_index", ".debug_tu_index"} {
		s, err := section(name)
		if err != nil {
			return nil, err
		}
		if s.Size == 0 {
			continue
		}
		b, err := s.Bytes(0, s.Size)
		if err != nil {
			return nil, err
		}
		if err := out.add(&cursor{data: b}); err != nil {
			return nil, err
		}
		found = true
	}
	if !found {
		return nil, nil
	}
	for _, rows := range [][]packageRow{out.info, out.types} {
		slices.SortFunc(rows, func(a, b packageRow) int { return cmp.Compare(a.begin, b.begin) })
	}
	return out, nil
}

// add reads an index.
func (x *packageIndex) add(c *cursor) error {
	version := c.number(2)
	c.number(2)
	columns, units, slots := c.number(4), c.number(4), c.number(4)
	if version != 2 && version != 5 || columns > maxPackageColumns || units > maxPackageUnits ||
		slots > 4*maxPackageUnits {
		return damaged("the index of a package of version %d", version)
	}
	c.take(slots * (8 + 4))
	kinds := make([]uint64, columns)
	for i := range kinds {
		kinds[i] = c.number(4)
	}
	offsets, sizes := c.take(units*columns*4), c.take(units*columns*4)
	if c.failed {
		return damaged("the index of a package is cut off")
	}
	from, length := &cursor{data: offsets}, &cursor{data: sizes}
	for range units {
		x.row(version, kinds, from, length)
	}
	return nil
}

// row reads one.
func (x *packageIndex) row(version uint64, kinds []uint64, from, length *cursor) {
	var row packageRow
	rows := &x.info
	for _, kind := range kinds {
		at, n := from.number(4), length.number(4)
		switch {
		case kind == packInfo, kind == packTypes && version == 2:
			if row.begin, row.end, row.info = at, at+n, at; kind == packTypes {
				rows = &x.types
			}
		case kind == packAbbrev:
			row.abbrev = at
		case kind == packLoc:
			row.loc = at
		case kind == packStrOffsets:
			row.strOffsets = at
		case kind == packRanges && version == 5:
			row.ranges = at
		}
	}
	*rows = append(*rows, row)
}

// inPackage sets what the index of a package says of the unit whose header is at an offset of its part.
func (u *Unit) inPackage(off int64) error {
	p := u.part
	if p.index == nil {
		return nil
	}
	rows, at := p.index.info, uint64(off)
	if off >= p.typesAt {
		rows, at = p.index.types, uint64(off-p.typesAt)
	}
	i, exact := slices.BinarySearchFunc(rows, at, func(r packageRow, at uint64) int { return cmp.Compare(r.begin, at) })
	if !exact {
		i--
	}
	if i < 0 || at >= rows[i].end {
		return damaged("the index of a package lacks the unit at %d", off)
	}
	u.packed = rows[i].packed
	if off >= p.typesAt {
		u.packed.info += uint64(p.typesAt)
	}
	u.abbrevAt += u.packed.abbrev
	return nil
}
