package locals

import (
	"debug/dwarf"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/sourceline"
	"github.com/startrace/startrace/internal/sourcename"
)

// All variables of a name outside of functions, and which is meant; the message when there are several.

// wanted is the name of a variable as a script has it: "limit", "n1::limit", "most<int>", "cart.Limit" of Go,
// "@a.c:limit".
type wanted struct {
	name string
	// arguments are those of a template of variables that were named: "<int>".
	arguments string
	// files are the source files that were named; nil: any.
	files *sourceline.Files
	// within is the namespace or package that was named, or the end of it; said: one was, perhaps the outermost; whole:
	// it is no end of one, as of "::n1::limit".
	within      string
	said, whole bool
	// packaged: the name is one of Go with its package.
	packaged bool
}

func wantedOf(text string) (w wanted) {
	if file, name, ok := strings.Cut(strings.TrimPrefix(text, "@"), ":"); ok && text[0] == '@' {
		w.files, text = sourceline.FilesOf(file), name
	}
	scope, name := splitScope(text)
	w.name = name
	if at := strings.IndexByte(name, '<'); at > 0 && !isOperator(name) {
		w.name, w.arguments = name[:at], name[at:]
	}
	if len(name) < len(text) {
		w.within, w.whole = strings.CutPrefix(scope, "::")
		w.said, w.whole = true, w.whole || scope == ""
	} else if i := strings.LastIndexByte(w.name, '.'); i >= 0 {
		w.within, w.name, w.said, w.packaged = w.name[:i], w.name[i+1:], true, true
	}
	return w
}

// globals are the variables of a name outside of functions.
type globals struct {
	*Finder
	wanted
	list []*global
	// known are they by where they are declared.
	known map[dwarf.Offset]*global
}

// A global is one of them.
type global struct {
	view
	// arguments are those of a template of variables: "<int>"; "": it is of none.
	arguments string
	// entry has where it is, if it is anywhere.
	entry *dwarfinfo.Entry
	// at are the entries that speak of it.
	at []dwarf.Offset
	// defined: its home has it, and does not only declare that another file has; shared: other files can mean it.
	defined, shared bool
}

// located reports whether its entry says where it is.
func (g *global) located() bool {
	p, err := placeOf(g.entry, runtime.GOARCH, nil) // which registers there are is no matter here
	return g.entry.Has(dwarf.AttrLocation) && (err != nil || p.Kind != location.Nowhere)
}

// everywhere looks into all units but one. One that is damaged has none.
func (g *globals) everywhere(but *dwarfinfo.Unit) error {
	units, err := g.Data.Units()
	if err != nil {
		return err
	}
	name := g.Data.Sought(g.name)
	for _, u := range units {
		if u != but && u.MayName(name) {
			_ = g.inUnit(u)
		}
	}
	var lost []dwarf.Offset
	for _, one := range g.list {
		if one.defined && !one.located() {
			lost = append(lost, one.at...)
		}
	}
	for _, u := range units {
		if len(lost) > 0 && u.MayRefer(dwarf.AttrAbstractOrigin, lost) {
			_ = g.linked(u, lost)
		}
	}
	return nil
}

// inUnit looks into one unit.
func (g *globals) inUnit(u *dwarfinfo.Unit) error {
	root, err := u.Root()
	if err != nil || root == nil {
		return err
	}
	return g.in(root, ofGo(u), 0)
}

// in goes over a namespace.
func (g *globals) in(e *dwarfinfo.Entry, isGo bool, depth int) error {
	return g.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		switch {
		case kid.Tag == dwarf.TagNamespace && depth < maxDepth:
			return true, g.in(kid, isGo, depth+1)
		case sourcename.IsClass(kid) && !isGo && depth < maxDepth:
			return true, g.in(kid, isGo, depth+1)
		case isConstantMember(kid):
			g.variable(kid, isGo)
		case kid.Tag == dwarf.TagVariable:
			g.variable(kid, isGo)
		}
		return true, nil
	})
}

// isConstantMember reports whether an entry is a member of a class that all objects share and of which the class says
// the value. There need be no other entry of it. Compilers have it as a member or, since DWARF 5, as a variable.
func isConstantMember(e *dwarfinfo.Entry) bool {
	return (e.Tag == dwarf.TagMember || e.Tag == dwarf.TagVariable) && e.Has(dwarf.AttrConstValue) &&
		e.Has(dwarf.AttrDeclaration)
}

// variable notes one if it has the name.
func (g *globals) variable(e *dwarfinfo.Entry, isGo bool) {
	chain := g.Data.Origins(e)
	name, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
	if isGo {
		if !strings.HasSuffix(name, "."+g.name) {
			return
		}
		_, name = splitGo(name)
	}
	if name != g.name {
		return
	}
	declared := chain[len(chain)-1].Offset
	one := g.known[declared]
	if one == nil {
		one = &global{view: view{home: homeOf(chain)}, entry: e}
		one.namespace, name = g.splitName(chain)
		if _, arguments, is := strings.Cut(name, "<"); is {
			one.arguments = "<" + arguments
		}
		if !g.means(one, chain) {
			return
		}
		g.known[declared] = one
		g.list = append(g.list, one)
	}
	one.at = append(one.at, e.Offset)
	one.defined = one.defined || !e.Has(dwarf.AttrDeclaration) || isConstantMember(e)
	if external, _ := dwarfinfo.Attribute(chain, dwarf.AttrExternal).(bool); external || isGo || ofRust(one.home) {
		one.shared = true
	}
	if !one.located() && !e.Has(dwarf.AttrDeclaration) {
		one.entry = e
	}
}

// ofRust reports whether the source of a unit is one of Rust (DW_LANG_Rust). A crate is compiled in several units.
func ofRust(u *dwarfinfo.Unit) bool {
	root, err := u.Root()
	if err != nil || root == nil {
		return false
	}
	language, _ := root.Val(dwarf.AttrLanguage).(int64)
	return language == 0x1c
}

// linked looks for where variables are in a unit of what was compiled again when it was linked (LTO): it has them in
// the functions that use them, and refers to the units of the source for the rest.
func (g *globals) linked(u *dwarfinfo.Unit, lost []dwarf.Offset) error {
	return u.Walk(func(e *dwarfinfo.Entry, _ int) (into bool, err error) {
		of, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if e.Tag == dwarf.TagVariable && e.Has(dwarf.AttrLocation) && slices.Contains(lost, of) {
			g.variable(e.Keep(), false)
		}
		return true, nil
	})
}

// means reports whether a variable of the name is one in the file and namespace that were named.
func (g *globals) means(one *global, chain []*dwarfinfo.Entry) bool {
	if g.files != nil {
		if file, _ := g.tablesOf().Declared(chain); !g.files.Is(file) && !g.files.Is(unitName(one.home)) {
			return false
		}
	}
	if g.arguments != "" && !sameName(one.arguments, g.arguments) {
		return false
	}
	switch {
	case !g.said || g.isWithin(one):
		return true
	case g.packaged:
		return strings.HasSuffix(one.namespace, "/"+g.within) || packageName(one.home) == g.within
	case g.whole || g.within == "":
		return false
	}
	for scope, rest := one.namespace, ""; scope != ""; {
		var last string
		scope, last = splitScope(scope)
		if rest = strings.TrimSuffix(joined(last, rest), "::"); sameName(rest, g.within) {
			return true
		}
	}
	return false
}

// isWithin reports whether a variable is in the namespace that was named, and not only in one of which that is the end.
func (g *globals) isWithin(one *global) bool { return sameName(one.namespace, g.within) }

// sameName reports whether a name is that which a script has. It can have other spaces, and no arguments of templates.
func sameName(name, said string) bool {
	if !strings.Contains(said, "<") {
		name = elffile.BareOfSource(name)
	}
	return strings.ReplaceAll(name, " ", "") == strings.ReplaceAll(said, " ", "")
}

// attrGoPackageName is the name of a package in the source, which need not be the end of its path.
const attrGoPackageName = dwarf.Attr(0x2905)

func packageName(u *dwarfinfo.Unit) string {
	root, err := u.Root()
	if err != nil || root == nil || !ofGo(u) {
		return ""
	}
	name, _ := root.Val(attrGoPackageName).(string)
	return name
}

// own is the one that a function means of those of its source file, the innermost; nil where that has none. Of Go main
// may be such a file, and the function one of another package that was made for it.
func (g *globals) own(as view) *global {
	in := around(as)
	if ofGo(as.home) {
		in = in[:1]
	}
	for _, namespace := range in {
		for _, one := range g.list {
			switch {
			case one.home != as.home || one.namespace != namespace:
			case one.defined:
				return one
			default:
				return g.sharedIn(namespace) // it is of another file
			}
		}
	}
	return nil
}

// around are a namespace and those around it, the innermost first. A function of Rust is one, of its own variables.
func around(as view) (out []string) {
	if as.home != nil && ofGo(as.home) {
		return []string{as.namespace, "main"}
	}
	if as.function != "" {
		out = append(out, as.function)
	}
	for at := as.namespace; at != ""; at, _ = splitScope(at) {
		out = append(out, at)
	}
	return append(out, "")
}

// sharedIn is one that is shared, of a namespace; nil where it has none. All of them are one variable, but for the
// instances of a template.
func (g *globals) sharedIn(namespace string) *global {
	for _, one := range g.list {
		if one.shared && one.defined && one.namespace == namespace {
			return g.placed(one)
		}
	}
	return nil
}

// placed is the one of which it is known where it is, of those that are the same as a variable that is shared.
func (g *globals) placed(one *global) *global {
	for _, other := range g.list {
		if !one.located() && other.defined && other.sameShared(one) {
			one = other
		}
	}
	return one
}

// sameShared reports whether two are one variable, which is shared.
func (g *global) sameShared(other *global) bool {
	return g.shared && other.shared && g.namespace == other.namespace && g.arguments == other.arguments
}

// seenBy is the one that a function means; nil where there is none.
func (g *globals) seenBy(as view) (found *global, err error) {
	if as.home != nil {
		found = g.own(as)
	}
	if found == nil {
		found = g.sharedAround(as)
	}
	rest := g.distinct()
	if found != nil {
		return found, g.onlyInstance(found, rest)
	}
	if len(rest) > 1 && g.said {
		exact := slices.DeleteFunc(slices.Clone(rest), func(one *global) bool { return !g.isWithin(one) })
		if len(exact) > 0 {
			rest = exact
		}
	}
	switch {
	case len(rest) == 0:
		return nil, nil
	case len(rest) == 1 && (g.said || as.home == nil || !ofGo(as.home) || !ofGo(rest[0].home)):
		return rest[0], nil
	}
	return nil, g.ambiguous(rest)
}

// onlyInstance refuses a variable where a template has other instances, of which a function may mean any. Of those that
// are local to a file g++ does not say the arguments: they are several of one name in one namespace.
func (g *globals) onlyInstance(found *global, all []*global) error {
	several := slices.DeleteFunc(slices.Clone(all), func(one *global) bool {
		return one.namespace != found.namespace || found.arguments == "" && !one.localBeside(found)
	})
	if len(several) < 2 {
		return nil
	}
	return g.ambiguous(several)
}

// localBeside reports whether two are local to the same file.
func (g *global) localBeside(other *global) bool {
	return g.home == other.home && !g.shared && !other.shared
}

// sharedAround is one that is shared, of the innermost namespace that has one; nil where none has.
func (g *globals) sharedAround(as view) *global {
	for _, namespace := range around(as) {
		if found := g.sharedIn(namespace); found != nil {
			return found
		}
	}
	return nil
}

// declared is one that another file of the process has, as the source of a function declares it; nil where none does.
func (g *globals) declared(as view) *global {
	for _, namespace := range around(as) {
		for _, one := range g.list {
			if one.shared && !one.defined && one.namespace == namespace {
				return one
			}
		}
	}
	return nil
}

// distinct are those that are not the same variable. Go has copies of none.
func (g *globals) distinct() (out []*global) {
	for _, one := range g.list {
		if one.defined && !slices.ContainsFunc(out, one.sameShared) {
			if one.shared {
				one = g.placed(one)
			}
			out = append(out, one)
		}
	}
	return out
}

// An AmbiguousError says that there are several variables of a name, and that none is of the function's own source
// file, namespace or package.
type AmbiguousError struct {
	// Names are those by which they can be asked for.
	Names []string
}

// mostNamed is how many names a message has.
const mostNamed = 6

func (e *AmbiguousError) Error() string {
	names, verb, more := e.Names, "are", ""
	if len(names) > mostNamed {
		names, more = names[:mostNamed], " and more"
	}
	if len(e.Names) == 1 {
		verb = "is"
	}
	way := fmt.Sprintf("getattr(e.globals, %q) names one", names[0])
	if len(names) > 1 && names[0] == names[1] {
		way = "debug information does not tell them apart"
	}
	return fmt.Sprintf("there %s %s%s, and none is of the source file, namespace or package of this function; %s",
		verb, strings.Join(names, " and "), more, way)
}

// ambiguous names some variables, with the source file as far as that tells them apart.
func (g *globals) ambiguous(list []*global) error {
	ways := []func(*global) string{
		g.qualified,
		g.inFile,
		func(one *global) string { return "@" + unitName(one.home) + ":" + g.qualified(one) },
	}
	err := &AmbiguousError{}
	for _, one := range list {
		name := ""
		for _, way := range ways {
			name = way(one)
			if !slices.ContainsFunc(list, func(o *global) bool { return o != one && way(o) == name }) {
				break
			}
		}
		err.Names = append(err.Names, name)
	}
	slices.Sort(err.Names)
	return err
}

// inFile is the name of a variable with its source file.
func (g *globals) inFile(one *global) string {
	return "@" + path.Base(unitName(one.home)) + ":" + g.qualified(one)
}

// unitName is the name of the source file of a unit.
func unitName(u *dwarfinfo.Unit) string {
	root, err := u.Root()
	if err != nil || root == nil {
		return ""
	}
	name, _ := root.Val(dwarf.AttrName).(string)
	return path.Clean(name)
}

// qualified is the name of a variable with its namespace or package.
func (g *globals) qualified(one *global) string {
	if ofGo(one.home) {
		return one.namespace + "." + g.name
	}
	return joined(one.namespace, g.name+one.arguments)
}
