package sourcename

import (
	"cmp"
	"debug/dwarf"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// The namespaces, classes and functions around an entry.

// holders are the entries of a unit in which functions can stand, by ascending place.
type holders []holder

// A holder is one: entries from its place to below end lie in it. In is the number of the one that has it, -1: none.
type holder struct {
	at, end dwarf.Offset
	in      int
	depth   int
}

// holding are the entries in which functions can stand.
var holding = map[dwarf.Tag]bool{
	dwarf.TagNamespace: true, dwarf.TagClassType: true, dwarf.TagStructType: true, dwarf.TagUnionType: true,
	dwarf.TagModule: true, dwarf.TagSubprogram: true, dwarf.TagLexDwarfBlock: true,
}

// behindAll is behind every entry.
const behindAll = ^dwarf.Offset(0)

// holdersOf are those of a unit; of one that is damaged those before the damage.
func holdersOf(u *dwarfinfo.Unit) (out holders) {
	open := -1
	_ = u.Walk(func(e *dwarfinfo.Entry, depth int) (into bool, err error) {
		for open >= 0 && out[open].depth >= depth {
			out[open].end = e.Offset
			open = out[open].in
		}
		if !holding[e.Tag] || !e.Children {
			return false, nil
		}
		out = append(out, holder{e.Offset, behindAll, open, depth})
		open = len(out) - 1
		return true, nil
	})
	return out
}

// around is the place of the innermost one that has an entry.
func (list holders) around(at dwarf.Offset) (dwarf.Offset, bool) {
	i, _ := slices.BinarySearchFunc(list, at, func(h holder, at dwarf.Offset) int { return cmp.Compare(h.at, at) })
	for i--; i >= 0; i = list[i].in {
		if at < list[i].end {
			return list[i].at, true
		}
	}
	return 0, false
}
