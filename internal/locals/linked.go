package locals

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// linked says where variables are in a process. A finder without it knows those of its file alone.
type linked struct {
	// Thread gives how far behind the address of a thread a variable of its own lies; nil: it is not known.
	Thread func(offset uint64) (int64, bool)
	// Slot gives the word that has the address of a variable of which another file may have the one that is meant, by
	// the address that this file has for it.
	Slot func(address uint64) (word uint64, ok bool)
	// Import gives where a variable is that this file uses and another one has, by the linker's name for it: its
	// address, or the word that has it.
	Import func(name string) (at uint64, word, ok bool)
}

// imported is a variable that another file has; nil where it is not known where it is.
func (f *Finder) imported(g *global, name string) *Variable {
	if g == nil || f.Import == nil {
		return nil
	}
	v := &Variable{Name: name}
	chain := f.Data.Origins(g.entry)
	v.Type, _ = dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
	if linked, ok := dwarfinfo.Attribute(chain, dwarf.AttrLinkageName).(string); ok {
		name = linked
	}
	at, word, ok := f.Import(name)
	switch v.Place.Kind = location.Memory; {
	case !ok:
		return nil
	case word:
		v.Place.Value = location.LoadAt(at)
	default:
		v.Place.Value = location.StaticAt(at)
	}
	return v
}

// linkedPlace is the place of a variable in the process, where the dynamic linker may have taken that of another file.
func (f *Finder) linkedPlace(p location.Place) location.Place {
	if f.Slot == nil || p.Kind != location.Memory || p.Value.Op != location.Static {
		return p
	}
	if word, ok := f.Slot(uint64(p.Value.N)); ok {
		p.Value = location.LoadAt(word)
	}
	return p
}
