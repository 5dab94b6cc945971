// Package sourcename tells the names of functions as debug information has them: that of the linker where it is said,
// else that of the source with the namespaces and classes around it. g++ says no name of the linker of what is local to
// a file: static functions, and all of a namespace without a name.
//
//	namespace ns { static int twice(int); namespace { struct box { int get(); }; } }
//
// are ns::twice and ns::(anonymous namespace)::box::get.
package sourcename

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
)

// Teller, the name of a function by its debug information.

// A Teller tells those of one file. It belongs to one goroutine.
type Teller struct {
	data *dwarfinfo.Data
	// units are what stands around the entries of units that were asked for.
	units map[*dwarfinfo.Unit]holders
}

// New prepares to tell names.
func New(d *dwarfinfo.Data) *Teller { return &Teller{d, map[*dwarfinfo.Unit]holders{}} }

// mostUnits is of how many units it is kept what stands around their entries.
const mostUnits = 16

// Of is the name of a function by its chain of origins; "" where it has none.
func (n *Teller) Of(chain []*dwarfinfo.Entry) string {
	if text := linker(chain); text != "" {
		return text
	}
	own, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
	declared := chain[len(chain)-1]
	made, _ := dwarfinfo.Attribute(chain, dwarf.AttrExternal).(bool)
	if own == "" || made && (declared.Tag == dwarf.TagSubprogram || !n.inClass(declared)) {
		return own // main, and what has linkage of C
	}
	if !ofCPP(declared.Unit()) {
		return own
	}
	return n.within(declared, 0) + spelled(own)
}

// IsClass reports whether an entry is a class of C++, or what C has as one.
func IsClass(e *dwarfinfo.Entry) bool {
	return e.Tag == dwarf.TagClassType || e.Tag == dwarf.TagStructType || e.Tag == dwarf.TagUnionType
}

// inClass reports whether an entry of C++ lies in a class.
func (n *Teller) inClass(e *dwarfinfo.Entry) bool {
	if !ofCPP(e.Unit()) {
		return false
	}
	around := n.around(e)
	return around != nil && IsClass(around)
}

// linker is the name of the linker; "" where it is not said.
func linker(chain []*dwarfinfo.Entry) string {
	for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, attrMIPSLinkageName} {
		if text, _ := dwarfinfo.Attribute(chain, a).(string); text != "" {
			return text
		}
	}
	return ""
}

// attrMIPSLinkageName is DW_AT_linkage_name before DWARF 4.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// ofCPP reports whether the source of a unit is one of C++ (DW_LANG_C_plus_plus…). Only there names lie in each other
// and the linker's are left out.
func ofCPP(u *dwarfinfo.Unit) bool {
	root, err := u.Root()
	if err != nil || root == nil {
		return false
	}
	switch language, _ := root.Val(dwarf.AttrLanguage).(int64); language {
	case 0x04, 0x1a, 0x21, 0x2b, 0x3a:
		return true
	}
	return false
}

// maxDepth bounds how deep names lie within others: foreign files can lead anywhere.
const maxDepth = 32

// within is what stands in front of the name of an entry: "ns::box::".
func (n *Teller) within(e *dwarfinfo.Entry, depth int) string {
	if depth > maxDepth {
		return ""
	}
	around := n.around(e)
	if around == nil {
		return ""
	}
	chain := n.data.Origins(around)
	declared := chain[len(chain)-1]
	name, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
	switch around.Tag {
	case dwarf.TagLexDwarfBlock, dwarf.TagModule:
		return n.within(around, depth+1)
	case dwarf.TagNamespace:
		if name == "" {
			name = "(anonymous namespace)"
		}
	case dwarf.TagSubprogram:
		if mangled := linker(chain); strings.HasPrefix(mangled, "_Z") {
			return strings.TrimSuffix(elffile.DemangleShort("_ZZ"+mangled[len("_Z"):]+"E1x"), "x")
		}
	default:
		if name == "" {
			name = n.nameless(around, depth)
		}
	}
	return n.within(declared, depth+1) + spelled(name) + "::"
}

// around is the entry in which another one lies; nil: none.
func (n *Teller) around(e *dwarfinfo.Entry) *dwarfinfo.Entry {
	known, is := n.units[e.Unit()]
	if !is {
		known = holdersOf(e.Unit())
		if len(n.units) >= mostUnits {
			clear(n.units)
		}
		n.units[e.Unit()] = known
	}
	at, is := known.around(e.Offset)
	if !is {
		return nil
	}
	out, err := n.data.Entry(at)
	if err != nil {
		return nil
	}
	return out
}
