package locals

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// Global gives the variable of a name outside of functions, as the source file of an instruction sees it: its own one,
// else that of another file; nil where there is none. Of Go the package main may be left out. It is where it is for the
// whole run, so its place refers to no register.
func (f *Finder) Global(pc uint64, name string) (*Variable, error) {
	own, err := f.Data.UnitOf(pc)
	if err != nil {
		own = nil // another file may have it
	}
	seen := globalSeen{own, name}
	if v, known := f.globals[seen]; known {
		return v, nil
	}
	v, err := f.lookUpGlobal(own, name)
	if err != nil {
		return nil, err
	}
	if f.globals == nil {
		f.globals = map[globalSeen]*Variable{}
	}
	f.globals[seen] = v
	return v, nil
}

// A globalSeen is a name as a source file, own, sees it.
type globalSeen struct {
	own  *dwarfinfo.Unit
	name string
}

func (f *Finder) lookUpGlobal(own *dwarfinfo.Unit, name string) (*Variable, error) {
	units, err := f.Data.Units()
	if err != nil {
		return nil, err
	}
	if own != nil {
		if v, err := f.globalIn(own, name); v != nil || err != nil {
			return v, err
		}
	}
	for _, u := range units {
		if v, err := f.globalIn(u, name); v != nil && err == nil { // a unit that is damaged has none
			return v, nil
		}
	}
	return nil, nil
}

// globalIn looks for it in one unit.
func (f *Finder) globalIn(u *dwarfinfo.Unit, name string) (found *Variable, err error) {
	root, err := u.Root()
	if err != nil || root == nil {
		return nil, err
	}
	err = f.Data.EachChild(root, func(e *dwarfinfo.Entry) (bool, error) {
		if e.Tag != dwarf.TagVariable || e.Val(dwarf.AttrLocation) == nil {
			return true, nil
		}
		chain := f.Data.Origins(e)
		if n, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string); n != name && n != "main."+name {
			return true, nil
		}
		expression, _, err := e.Expression(dwarf.AttrLocation, 0)
		if err != nil {
			return false, err
		}
		frame := location.Unframed(f.Arch)
		frame.Address = u.IndexedAddress
		found = &Variable{Name: name, Place: location.Of(expression, frame)}
		found.Type, _ = dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
		return false, nil
	})
	return found, err
}
