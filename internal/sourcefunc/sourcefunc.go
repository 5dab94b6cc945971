// Package sourcefunc finds functions of programs as their source has them: by their names, and by the file in which
// they are defined. A function has code of its own, or the compiler has put its code into the functions that call it
// (inlined), or both.
//
// Little is read of what is not asked for: first the names of files in front of the tables of lines, and which units
// can have a name at all; then of these units the functions; and only where some of them were inlined the units that
// can have their copies.
package sourcefunc

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/sourceline"
	"github.com/startrace/startrace/internal/sourcename"
)

// Functions by their names and by the file that defines them.

// A Query says which functions are wanted.
type Query struct {
	// Name reports whether a function is wanted by its name: that of the linker where it is known, else that of the
	// source.
	Name func(name string) bool
	// Text is the name, where it is one and no pattern.
	Text string
	// Files are those in which the functions are defined; nil: any. Without them only functions are given that were
	// inlined, and nothing of their own code.
	Files *sourceline.Files
}

// A Function is one that was found.
type Function struct {
	// Name is that of the linker where it is known, else that of the source.
	Name string
	// File and Line are where it is defined, by the whole name of the file; "" where that is not known.
	File string
	Line int
	// Bodies are the addresses at which code of its own begins: several of one that the compiler has cloned.
	Bodies []uint64
	// Copies are those that were inlined, by ascending address.
	Copies []Copy
}

// A Copy is the code of a function in one that called it.
type Copy struct {
	// Entry is the address at which it begins, and View which of the moments at it (dwarfinfo.EntryView). A copy that
	// the compiler has copied again, as with a loop that it has unrolled, is there once for each place: Several.
	Entry, View uint64
	Several     bool
	// First: its first statement stands where it begins, so that nothing of it is in front of that.
	First bool
	// File and Line are where the call stands, by the whole name of the file; "" where that is not known.
	File string
	Line int
	// Place is where debug information speaks of it, and Around where of the function that has its code. Within is the
	// Place of the copy of which it is a call; 0 where that is no copy.
	Place, Around, Within dwarf.Offset
	// Body is where the same function begins that was not inlined; 0 where there is none.
	Body uint64
	of   dwarf.Offset // where debug information speaks of the function
}

// Find gives the functions that are wanted, those without any code left out. Files that nobody knows are an error.
func Find(d *dwarfinfo.Data, q Query) ([]*Function, error) {
	units, err := d.Units()
	if err != nil {
		return nil, err
	}
	s := &search{Query: q, data: d, tables: sourceline.NewTables(d), names: sourcename.New(d),
		named: map[name]*Function{}, origins: map[dwarf.Offset]*Function{}, own: map[dwarf.Offset]uint64{},
		owners: map[uint64]dwarf.Offset{}, dirs: map[*Function]map[string]bool{}}
	if q.Text != "" {
		s.text = d.Sought(lastName(q.Text))
	}
	for _, u := range units {
		if err := s.functionsOf(u); err != nil {
			s.wrong = err // one unit is damaged: the others tell
		}
	}
	if len(s.origins) > 0 {
		list := s.originList()
		for _, u := range units {
			if !u.MayRefer(dwarf.AttrAbstractOrigin, list) {
				continue
			}
			if err := s.copiesIn(u); err != nil {
				s.wrong = err
			}
		}
	}
	return s.result()
}

// name tells functions apart: static ones of several files have one name.
type name struct{ name, file string }

// A search is one for the functions of a query.
type search struct {
	Query
	data   *dwarfinfo.Data
	tables *sourceline.Tables
	names  *sourcename.Teller
	text   *dwarfinfo.Sought // of the query's Text, nil where it has none
	named  map[name]*Function
	list   []*Function
	// origins are the functions by where debug information speaks of them as the source has them, without code.
	origins map[dwarf.Offset]*Function
	// own is where the code of an origin's own begins.
	own map[dwarf.Offset]uint64
	// owners say which entry has the function that begins at an address: of an inline function of C++ each unit has
	// one, and the linker keeps the code of one.
	owners map[uint64]dwarf.Offset
	// dirs are the folders of the package, of functions of which debug information does not say the file.
	dirs map[*Function]map[string]bool
	// known: a file is one of those of the query.
	known bool
	wrong error
}

// holders are the entries in which functions stand, besides functions.
var holders = map[dwarf.Tag]bool{
	dwarf.TagNamespace: true, dwarf.TagClassType: true, dwarf.TagStructType: true, dwarf.TagUnionType: true,
	dwarf.TagModule: true, dwarf.TagLexDwarfBlock: true,
}

// functionsOf notes the functions of a unit.
func (s *search) functionsOf(u *dwarfinfo.Unit) error {
	var files []bool
	if s.Files != nil {
		var err error
		if files, err = s.Files.In(s.tables, u); err != nil {
			return err
		}
		any := false
		for _, is := range files {
			any = any || is
		}
		if !any {
			return nil
		}
		s.known = true
	}
	if s.text != nil && !u.MayName(s.text) {
		return nil
	}
	g := &goFiles{search: s}
	err := u.Walk(func(e *dwarfinfo.Entry, depth int) (into bool, err error) {
		if e.Tag == dwarf.TagSubprogram {
			s.function(e, g)
			return true, nil // classes within functions have functions
		}
		return holders[e.Tag], nil
	})
	g.settle(u, files)
	return err
}

// function notes a function if it is wanted.
func (s *search) function(e *dwarfinfo.Entry, g *goFiles) {
	// What is compiled again when it is linked (LTO) does not say that it was inlined.
	abstract := e.Has(dwarf.AttrInline) || !hasCode(e) && !e.Has(dwarf.AttrDeclaration)
	if !abstract && (s.Files == nil || e.Has(dwarf.AttrAbstractOrigin) || !hasCode(e)) {
		return
	}
	if s.Files != nil {
		g.see(e)
	}
	chain := s.data.Origins(e.Keep())
	if !s.mayBe(chain) {
		return
	}
	is := s.names.Of(chain)
	if is == "" || !s.Name(is) {
		return
	}
	file, line := s.tables.Declared(chain)
	if s.Files != nil && file != "" && !s.Files.Is(file) {
		return
	}
	fn := s.of(is, file, line)
	switch {
	case abstract && s.Files != nil && file == "":
		g.unsaid = append(g.unsaid, inFile{e.Offset, fn})
		return
	case abstract:
		s.origins[e.Offset] = fn
		return
	}
	s.body(fn, e)
}

// mayBe reports whether a function can have the wanted name, by that of the source, which is a part of it.
func (s *search) mayBe(chain []*dwarfinfo.Entry) bool {
	short, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
	return s.Text == "" || partOf(s.Text, short)
}

// of is the function of a name in a file.
func (s *search) of(is, file string, line int) *Function {
	key := name{is, file}
	fn := s.named[key]
	if fn == nil {
		fn = &Function{Name: is, File: file, Line: line}
		s.named[key] = fn
		s.list = append(s.list, fn)
	}
	return fn
}

// body notes code of a function's own.
func (s *search) body(fn *Function, e *dwarfinfo.Entry) {
	if at, ok := entryOf(e); ok && s.owns(at, e.Offset) {
		fn.Bodies = append(fn.Bodies, at)
	}
}

// owns reports whether an entry is the one that has the function at an address.
func (s *search) owns(at uint64, e dwarf.Offset) bool {
	if owner, known := s.owners[at]; known {
		return owner == e
	}
	s.owners[at] = e
	return true
}

// hasCode reports whether an entry says where its code is.
func hasCode(e *dwarfinfo.Entry) bool {
	return e.Has(dwarf.AttrLowpc) || e.Has(dwarf.AttrRanges) || e.Has(dwarf.AttrEntrypc)
}

// entryOf is the address at which the code of an entry begins: what it says of that itself, as gcc does of what was
// inlined, of which the lowest address need not be the first; else that of its first range (DWARF 5, 2.18). What the
// linker has left out begins nowhere.
func entryOf(e *dwarfinfo.Entry) (uint64, bool) {
	low, hasLow := e.Low()
	if e.Has(dwarf.AttrLowpc) && !hasLow {
		return 0, false
	}
	switch at := e.Val(dwarf.AttrEntrypc).(type) {
	case uint64:
		return at, !dwarfinfo.NoAddress(at)
	case int64:
		if hasLow {
			return low + uint64(at), true
		}
	}
	if hasLow {
		return low, true
	}
	ranges, err := e.Ranges()
	if err != nil || len(ranges) == 0 {
		return 0, false
	}
	return ranges[0][0], true
}
