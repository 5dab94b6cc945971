package locals

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// Variables of blocks in which the line stands, though the instruction does not lie there.
//
// An optimizer takes instructions out of their blocks, so that an instruction of a line need not lie in the block that
// the line stands in:
//
//	int x = 1;
//	{
//	        int x = y * 10;         line 48; an instruction of it lies in the function, not in the block
//	        printf("%d\n", x);
//	}
//	printf("%d\n", x);
//
// At line 48 the inner x is in sight. So the blocks count of which the source has the line: those whose other
// instructions, or declarations, are of lines before and behind it. Their variables have the value that their list of
// places gives at the instruction, or none.

// scattered adds the variables of blocks in which the line stands, though the instruction does not lie there. What the
// compiler has left out wholly only the origin of the function has.
func (w *walk) scattered(within []*dwarfinfo.Entry) error {
	function := within[0]
	for _, e := range within {
		if e.Tag != dwarf.TagLexDwarfBlock {
			function = e
		}
	}
	s := &scattered{walk: w, within: within, found: map[string]elsewhere{}, copies: map[dwarf.Offset]bool{}}
	for _, e := range w.Data.Origins(function) {
		if err := s.in(e, s.depthOf(function), 0); err != nil {
			return err
		}
	}
	for _, name := range s.names {
		w.see(s.found[name].Variable, s.found[name].seen)
	}
	return nil
}

// scattered looks for variables in the blocks of a function.
type scattered struct {
	*walk
	within []*dwarfinfo.Entry
	found  map[string]elsewhere
	names  []string
	// copies are the blocks of the origin of the function of which this one has copies.
	copies map[dwarf.Offset]bool
	steps  int
}

// elsewhere is a variable of a block in which the instruction does not lie; its depth is that of the innermost one
// around it in which the instruction lies.
type elsewhere struct {
	Variable
	seen
}

// depthOf says which of the blocks around the instruction an entry is; -1: none.
func (s *scattered) depthOf(e *dwarfinfo.Entry) int {
	return slices.IndexFunc(s.within, func(x *dwarfinfo.Entry) bool { return x.Offset == e.Offset })
}

// in goes over a block; outer is the innermost one around it that has the instruction.
func (s *scattered) in(e *dwarfinfo.Entry, outer, depth int) error {
	if depth > maxDepth {
		return nil
	}
	return s.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		if s.steps++; s.steps > maxSteps {
			return false, nil
		}
		switch kid.Tag {
		case dwarf.TagLexDwarfBlock:
			return true, s.block(kid, outer, depth)
		case dwarf.TagVariable, dwarf.TagFormalParameter:
			return true, s.add(kid, outer)
		}
		return true, nil
	})
}

// anywhere is the depth of blocks of which nobody knows where they stand: the compiler has left them out. Whether a
// variable of theirs hides one of an outer block at the line is not known either, and so neither is its value.
const anywhere = -1

// block goes into an inner block if the line stands in it, as far as that is known.
func (s *scattered) block(e *dwarfinfo.Entry, outer, depth int) error {
	if s.copies[e.Offset] {
		return nil
	}
	if of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		s.copies[of] = true
	}
	if at := s.depthOf(e); at >= 0 {
		return s.in(e, at, depth+1)
	}
	first, last, known, err := s.blockLines(e, s.source)
	switch {
	case err != nil:
		return err
	case !known:
		return s.in(e, anywhere, depth+1)
	case s.source.Number < first || s.source.Number > last:
		return nil
	}
	return s.in(e, outer, depth+1)
}

func (s *scattered) add(e *dwarfinfo.Entry, outer int) error {
	chain := s.Data.Origins(e)
	v := s.named(e, chain)
	name, escaped := strings.CutPrefix(v.Name, "&")
	v.Name = name
	declared, _ := dwarfinfo.Attribute(chain, dwarf.AttrDeclLine).(int64)
	before, known := s.found[v.Name]
	as := seen{outer, origin(chain), declared, false}
	if v.Name == "" || s.hidden(v.Name, as) || declared > int64(s.source.Number) ||
		known && before.declared >= declared {
		return nil
	}
	if i := s.index(v.Name); i >= 0 && outer == anywhere {
		s.scope.Variables[i].Place = location.Place{}
		return nil
	}
	place, listed, err := s.place(e, chain)
	if err != nil {
		return err
	}
	if listed {
		v.Place = place
	}
	if escaped {
		v = s.escaped(v)
	}
	if !known {
		s.names = append(s.names, v.Name)
	}
	s.found[v.Name] = elsewhere{v, as}
	return nil
}

// hidden reports whether a variable of this name is in sight that is this one, of a block further within, or declared
// between this one and the line.
func (s *scattered) hidden(name string, v seen) bool {
	w, ok := s.seen[name]
	return ok && (w.origin == v.origin || w.depth > v.depth && v.depth != anywhere ||
		w.declared >= v.declared && w.declared <= int64(s.source.Number))
}

// origin is where the source of a function has what an entry, the first of a chain of origins, describes.
func origin(chain []*dwarfinfo.Entry) dwarf.Offset { return chain[len(chain)-1].Offset }

// blockLines gives the first and the last line of a file on which a block stands, by its instructions, without those of
// functions that were inlined into it, and by its declarations; not known: it has no instructions.
func (f *Finder) blockLines(e *dwarfinfo.Entry, source SourceLine) (first, last int, known bool, err error) {
	own, err := e.Ranges()
	if err != nil || len(own) == 0 {
		return 0, 0, false, err
	}
	b := &blockLines{finder: f, source: source}
	if err := b.within(e, 0); err != nil {
		return 0, 0, false, err
	}
	rows, err := f.tablesOf().Stretches(e.Unit())
	if err != nil {
		return 0, 0, false, err
	}
	for _, r := range own {
		for _, row := range rows.Between(r[0], r[1]) {
			if row.File == source.File && !b.isForeign(row.Addr) {
				b.add(row.Line)
				known = true
			}
		}
	}
	return b.first, b.last, known, nil
}

// blockLines collects the lines of a block.
type blockLines struct {
	finder      *Finder
	source      SourceLine
	first, last int
	// foreign are the instructions of functions that were inlined into the block.
	foreign [][2]uint64
	steps   int
}

func (b *blockLines) add(line int) {
	if b.first == 0 || line < b.first {
		b.first = line
	}
	b.last = max(b.last, line)
}

func (b *blockLines) isForeign(pc uint64) bool {
	return slices.ContainsFunc(b.foreign, func(r [2]uint64) bool { return pc >= r[0] && pc < r[1] })
}

func (b *blockLines) within(e *dwarfinfo.Entry, depth int) error {
	if depth > maxDepth {
		return nil
	}
	return b.finder.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		if b.steps++; b.steps > maxSteps {
			return false, nil
		}
		switch kid.Tag {
		case dwarf.TagLexDwarfBlock:
			return true, b.within(kid, depth+1)
		case dwarf.TagInlinedSubroutine:
			ranges, err := kid.Ranges()
			b.foreign = append(b.foreign, ranges...)
			return true, err
		case dwarf.TagVariable:
			chain := b.finder.Data.Origins(kid)
			line, _ := dwarfinfo.Attribute(chain, dwarf.AttrDeclLine).(int64)
			if line > 0 && b.finder.declaredIn(chain, b.source.File) {
				b.add(int(line))
			}
		}
		return true, nil
	})
}
