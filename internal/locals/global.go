package locals

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/location"
)

// Variables outside of functions (e.globals), as the function that looks sees them.

// A SourceLine is a line of the source, by the whole name of its file.
type SourceLine struct {
	// File is the whole name, and Number counts from 1; 0: no line.
	File   string
	Number int
}

// A Viewpoint is what looks for a variable outside of functions: the function with an instruction, at a line of its
// source that of the line, or the copy of one that was inlined.
type Viewpoint struct {
	// PC is the instruction, an address of the file.
	PC uint64
	// Line is the line of the source that it is at.
	Line SourceLine
	// Copy is where debug information speaks of the copy; 0: it is none.
	Copy dwarf.Offset
}

// Global gives the variable of a name outside of functions, as a function sees it: that of its own source file and
// namespace, else of the namespaces around it, else one that other files share, else the only one of the name; nil
// where there is none. An AmbiguousError says that there are several, and a LostError that a file can have it whose
// debug information is not known. Of Go it is that of the function's own package, else of main; of others the name has
// its package: "q.Limit". It is where it is for the whole run, so its place refers to no register.
func (f *Finder) Global(from Viewpoint, name string) (*Variable, error) {
	as, err := f.viewOf(from)
	if err != nil {
		as = view{} // another file may have it
	}
	seen := globalSeen{as, name}
	if v, known := f.globals[seen]; known {
		return v, nil
	}
	v, err := f.lookUpGlobal(as, from, name)
	if err != nil {
		return nil, err
	}
	if f.globals == nil {
		f.globals = map[globalSeen]*Variable{}
	}
	f.globals[seen] = v
	return v, nil
}

// A globalSeen is a name as a function sees it.
type globalSeen struct {
	view
	name string
}

// A view is whence variables outside of functions are seen: the unit of a source file, nil where it is not known, and a
// namespace, a class, or a package of Go in it: "std::chrono", "Shelf<int>", "example.com/shop/cart"; "" where it is in
// none. Of Rust it has the function that looks, too, which can have variables of its own.
type view struct {
	home                *dwarfinfo.Unit
	namespace, function string
}

// viewOf is what a function sees.
func (f *Finder) viewOf(from Viewpoint) (v view, err error) {
	e, err := f.functionOf(from)
	if e == nil || err != nil {
		return v, err
	}
	chain := f.Data.Origins(e)
	v.home = homeOf(chain)
	v.namespace, v.function = f.splitName(chain)
	if v.function = joined(v.namespace, v.function); !ofRust(v.home) {
		v.function = ""
	}
	return v, nil
}

// functionOf is the function, or the copy of one, that looks.
func (f *Finder) functionOf(from Viewpoint) (*dwarfinfo.Entry, error) {
	if from.Copy != 0 {
		return f.Data.Entry(from.Copy)
	}
	within, err := f.path(from.PC)
	if err != nil || len(within) == 0 {
		return nil, err
	}
	if from.Line.Number > 0 {
		within, _ = f.upTo(within, from.Line)
	} else {
		within = within[:1]
	}
	for i := len(within) - 1; i > 0; i-- {
		if within[i].Tag != dwarf.TagLexDwarfBlock {
			return within[i], nil
		}
	}
	return within[0], nil
}

// homeOf is the unit of the source file of what has a chain of origins. What is compiled again when it is linked (LTO)
// stands in a unit of no source file, and its origin in that of its own.
func homeOf(chain []*dwarfinfo.Entry) *dwarfinfo.Unit {
	for i := len(chain) - 1; i > 0; i-- {
		root, err := chain[i].Unit().Root()
		if err == nil && root != nil && root.Tag == dwarf.TagCompileUnit {
			return chain[i].Unit()
		}
	}
	return chain[0].Unit()
}

// splitName splits the name of a function or variable into the namespace, class or package that it is in, and the
// rest: "ns::Shelf<int>" and "get". A namespace without a name adds nothing. The arguments of templates stay, as each
// instance has variables of its own; generics of Rust have none.
func (f *Finder) splitName(chain []*dwarfinfo.Entry) (namespace, rest string) {
	name, home := f.namesOf().Of(chain), homeOf(chain)
	switch {
	case ofGo(home):
		return splitGo(name)
	case ofRust(home):
		name = elffile.BareOfSource(name)
	default:
		name = elffile.DemangleShort(name)
	}
	return splitScope(strings.ReplaceAll(name, anonymous+"::", ""))
}

// splitScope splits a name of C++ or Rust at its last "::" that is not within arguments, nor in the name of an
// operator: "S::operator std::string" is of S.
func splitScope(name string) (scope, rest string) {
	depth, from := 0, 0
	for i := 0; i < len(name) && !isOperator(name[from:]); i++ {
		switch name[i] {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			depth = max(depth-1, 0)
		case ':':
			if depth == 0 && strings.HasPrefix(name[i:], "::") {
				from = i + len("::")
			}
		}
	}
	return strings.TrimSuffix(name[:from], "::"), name[from:]
}

// isOperator reports whether a name begins with that of an operator.
func isOperator(name string) bool {
	of, is := strings.CutPrefix(name, "operator")
	return is && strings.Trim(of[:min(1, len(of))], "<>=!+-*/%^&|~,([ ") == ""
}

// joined is a name of C++ or Rust with what it is in.
func joined(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "::" + name
}

// anonymous is how names have a namespace without a name.
const anonymous = "(anonymous namespace)"

// splitGo splits a name of Go into its package and the rest: "example.com/shop/cart" and "(*List[int]).add".
func splitGo(name string) (pkg, rest string) {
	end := len(name)
	if i := strings.IndexAny(name, "[("); i >= 0 {
		end = i
	}
	from := strings.LastIndexByte(name[:end], '/') + 1
	i := strings.IndexByte(name[from:], '.')
	if i < 0 {
		return "", name
	}
	return unescaped(name[:from+i]), name[from+i+1:]
}

// unescaped is the path of a package as the source has it: the linker writes dots in its last part as %2e.
func unescaped(pkg string) string { return strings.ReplaceAll(pkg, "%2e", ".") }

// lookUpGlobal looks for a variable.
func (f *Finder) lookUpGlobal(as view, from Viewpoint, text string) (*Variable, error) {
	want := wantedOf(text)
	g := &globals{Finder: f, wanted: want, known: map[dwarf.Offset]*global{}}
	if as.home != nil {
		if err := g.inUnit(as.home); err != nil {
			return nil, err
		}
		found := g.own(as)
		if found != nil && found.located() && found.arguments == "" && g.onlyInstance(found, g.list) == nil {
			return f.globalAt(found, want.name)
		}
	}
	if err := g.everywhere(as.home); err != nil {
		return nil, err
	}
	if err := g.mayBeLost(as, from); err != nil {
		return nil, err
	}
	found, err := g.seenBy(as)
	if found == nil && err == nil {
		return f.imported(g.declared(as), want.name), nil
	}
	if err != nil {
		return nil, err
	}
	if err := g.mayBeUndescribed(as, found); err != nil {
		return nil, err
	}
	return f.globalAt(found, want.name)
}

// globalAt is the variable that was found; nowhere where the compiler has not kept it.
func (f *Finder) globalAt(g *global, name string) (*Variable, error) {
	v := &Variable{Name: name}
	e := g.entry
	chain := f.Data.Origins(e)
	v.Type, _ = dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset)
	if p, ok := location.OfConstant(dwarfinfo.Attribute(chain, dwarf.AttrConstValue)); ok && !g.located() {
		v.Place = p
		return v, nil
	}
	p, err := placeOf(e, f.Arch, f.Thread)
	v.Place = f.linkedPlace(p)
	return v, err
}

// placeOf is where the entry of a variable says that it is; nowhere also what the linker has left out.
func placeOf(e *dwarfinfo.Entry, arch string, thread func(uint64) (int64, bool)) (location.Place, error) {
	expression, _, err := e.Expression(dwarf.AttrLocation, 0)
	if err != nil {
		return location.Place{}, err
	}
	frame := location.Unframed(arch)
	frame.Address, frame.Thread = e.Unit().IndexedAddress, thread
	return location.Of(expression, frame), nil
}

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
