package locals

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// Variables whose debug information is in a file that is not known.

// A LostError says that a variable can be one of a source file whose debug information is in a file of its own that is
// not known.
type LostError struct {
	// Own: it is the source file of the function.
	Own bool
	// Files have that debug information.
	Files []dwarfinfo.Lost
	// Others are the names by which variables of that name can be asked for that are known.
	Others []string
}

func (e *LostError) Error() string {
	text := "some source files of the program have their debug information in files of their own, "
	if e.Own {
		text = "the debug information of this function's source file is in a file of its own, "
	}
	text += dwarfinfo.Tell(e.Files)
	if len(e.Others) > 0 {
		text += fmt.Sprintf("; getattr(e.globals, %q) is one of another file", e.Others[0])
	}
	return text
}

// mayBeLost is a *LostError where the variable that is meant can be one of a file that is not known: that of the
// function itself comes before all others, and any other can have one that it shares. What is found in the function's
// file, or is shared, or is of a file that was named, is the one that is meant.
func (g *globals) mayBeLost(as view, from Viewpoint) error {
	if g.files != nil && len(g.list) > 0 {
		return nil
	}
	lost, own := g.lostOf(as, from)
	if own && g.files == nil {
		return &LostError{true, []dwarfinfo.Lost{lost}, g.namedByFile()}
	}
	if as.home != nil && g.own(as) != nil || g.sharedAround(as) != nil {
		return nil
	}
	all := g.Data.LostUnits()
	if len(all) == 0 {
		return nil
	}
	return &LostError{false, all, g.namedByFile()}
}

// lostOf is the file of the function's source, if that is not known. Of a function whose unit is only a skeleton, home
// is that, or not known.
func (g *globals) lostOf(as view, from Viewpoint) (dwarfinfo.Lost, bool) {
	if as.home != nil {
		return as.home.Lost()
	}
	return g.Data.Split(from.PC)
}

// namedByFile are the names of all variables with their source files.
func (g *globals) namedByFile() (out []string) {
	for _, one := range g.list {
		if one.defined {
			out = append(out, g.inFile(one))
		}
	}
	slices.Sort(out)
	return out
}

// An UndescribedError says that the variable that a function means can be one of which debug information says nothing:
// the function's source file has none of variables. Those that are known of the name are local to other files, or the
// symbol table has one besides that is local to some file, or there is no symbol table.
type UndescribedError struct {
	// Others are the names by which variables of that name can be asked for that are known.
	Others []string
}

func (e *UndescribedError) Error() string {
	text := "the source file of this function has no debug information of variables, and can have one of that name"
	if len(e.Others) > 0 {
		text += fmt.Sprintf("; getattr(e.globals, %q) is one of another file", e.Others[0])
	}
	return text + "; build it with -g"
}

// mayBeUndescribed is an *UndescribedError where the variable that was found can be another one than the one that is
// meant, of which debug information says nothing.
func (g *globals) mayBeUndescribed(as view, found *global) error {
	if g.Statics == nil || g.said || g.files != nil || found.home == as.home || ofGo(found.home) || g.described(as) {
		return nil
	}
	list, known := g.Statics(g.name)
	if list = slices.DeleteFunc(list, g.speaksOf); known && len(list) == 0 && found.shared {
		return nil // its own would be in the table, unless the compiler has left it out
	}
	return &UndescribedError{g.namedByFile()}
}

// described reports whether debug information tells of the variables of the function's source file: gcc -g1 tells of no
// static ones.
func (g *globals) described(as view) bool {
	if as.home == nil {
		return false
	}
	root, err := as.home.Root()
	if err != nil || root == nil {
		return false
	}
	producer, _ := root.Val(dwarf.AttrProducer).(string)
	return ofGo(as.home) || !slices.ContainsFunc(strings.Fields(producer), leastInfo) && g.hasTypes(as)
}

// leastInfo reports whether a flag of a compiler asks for functions and lines alone.
func leastInfo(flag string) bool { return flag == "-g1" || flag == "-ggdb1" || flag == "-gmlt" }

// hasTypes reports whether something in the unit of the function has a type.
func (g *globals) hasTypes(as view) (has bool) {
	root, err := as.home.Root()
	if err != nil || root == nil {
		return false
	}
	_ = g.Data.EachChild(root, func(e *dwarfinfo.Entry) (bool, error) { // what is damaged has none
		has = has || e.Has(dwarf.AttrType)
		return !has, nil
	})
	return has
}

// speaksOf reports whether debug information speaks of the variable at an address, of one that each thread has at an
// offset.
func (g *globals) speaksOf(addr uint64) bool {
	asIs := func(offset uint64) (int64, bool) { return int64(offset), true }
	return slices.ContainsFunc(g.list, func(one *global) bool {
		p, err := placeOf(one.entry, g.Arch, asIs)
		return err == nil && p.Value != nil && mentions(p.Value, int64(addr))
	})
}

// mentions reports whether a tree has an address in it.
func mentions(e *location.Expr, addr int64) bool {
	if (e.Op == location.Static || e.Op == location.Const) && e.N == addr {
		return true
	}
	return slices.ContainsFunc(e.Args, func(a *location.Expr) bool { return mentions(a, addr) })
}
