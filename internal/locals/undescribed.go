package locals

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

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
