package locals

import (
	"debug/dwarf"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/location"
)

// Global gives the variable of a name outside of functions, as the source file of an instruction sees it: its own one,
// else that of another file; nil where there is none. Of Go the package main may be left out. Of C++ it is the one of
// the namespace that the function is in, else of those around it, else of any other: an AmbiguousError where several
// such have it. It is where it is for the whole run, so its place refers to no register.
func (f *Finder) Global(pc uint64, name string) (*Variable, error) {
	own, err := f.Data.UnitOf(pc)
	if err != nil {
		own = nil // another file may have it
	}
	seen := globalSeen{own, f.namespaceAt(pc), name}
	if v, known := f.globals[seen]; known {
		return v, nil
	}
	v, err := f.lookUpGlobal(seen)
	if err != nil {
		return nil, err
	}
	if f.globals == nil {
		f.globals = map[globalSeen]*Variable{}
	}
	f.globals[seen] = v
	return v, nil
}

// A globalSeen is a name as a namespace of a source file, own, sees it.
type globalSeen struct {
	own             *dwarfinfo.Unit
	namespace, name string
}

func (f *Finder) lookUpGlobal(as globalSeen) (*Variable, error) {
	units, err := f.Data.Units()
	if err != nil {
		return nil, err
	}
	if as.own != nil {
		if v, err := f.globalIn(as.own, as); v != nil || err != nil {
			return v, err
		}
	}
	var ambiguous error
	for _, u := range units {
		v, err := f.globalIn(u, as)
		if v != nil && err == nil { // a unit that is damaged has none
			return v, nil
		}
		if several := (*AmbiguousError)(nil); errors.As(err, &several) {
			ambiguous = err
		}
	}
	return nil, ambiguous
}

// globalIn looks for it in one unit.
func (f *Finder) globalIn(u *dwarfinfo.Unit, as globalSeen) (*Variable, error) {
	root, err := u.Root()
	if err != nil || root == nil {
		return nil, err
	}
	g := &globals{Finder: f, name: as.name, declared: map[dwarf.Offset]string{}}
	if err := g.in(root, "", 0); err != nil {
		return nil, err
	}
	found := g.byNamespace()
	for namespace := as.namespace; ; {
		if e := found[namespace]; e != nil {
			return f.globalAt(e, as.name)
		}
		if namespace == "" {
			break
		}
		cut := max(strings.LastIndex(namespace, "::"), 0)
		namespace = namespace[:cut]
	}
	switch names := slices.Sorted(maps.Keys(found)); len(names) {
	case 0:
		return nil, nil
	case 1:
		return f.globalAt(found[names[0]], as.name)
	default:
		return nil, &AmbiguousError{as.name, names}
	}
}

// An AmbiguousError says that several namespaces have a variable of a name, and that of the function none.
type AmbiguousError struct {
	// Name is that of the variable, and Namespaces are those that have it; "" is the outermost.
	Name       string
	Namespaces []string
}

func (e *AmbiguousError) Error() string {
	names := make([]string, len(e.Namespaces))
	for i, n := range e.Namespaces {
		names[i] = strings.TrimPrefix(n+"::"+e.Name, "::")
	}
	return "there are " + strings.Join(names, " and ") + ", and none is of the namespace of this function"
}

// globals looks for what is called so outside of functions.
type globals struct {
	*Finder
	name string
	// defined are the definitions, and within their namespaces.
	defined []*dwarfinfo.Entry
	within  []string
	// declared are the namespaces of declarations: gcc has the definition behind them, in none.
	declared map[dwarf.Offset]string
}

// in goes over a namespace.
func (g *globals) in(e *dwarfinfo.Entry, namespace string, depth int) error {
	return g.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		name, _ := kid.Val(dwarf.AttrName).(string)
		switch {
		case kid.Tag == dwarf.TagNamespace && depth < maxDepth:
			return true, g.in(kid, strings.TrimPrefix(namespace+"::"+name, "::"), depth+1)
		case kid.Tag != dwarf.TagVariable:
		case kid.Val(dwarf.AttrLocation) == nil:
			if name == g.name {
				g.declared[kid.Offset] = namespace
			}
		case g.isNamed(g.Data.Origins(kid)):
			g.defined, g.within = append(g.defined, kid), append(g.within, namespace)
		}
		return true, nil
	})
}

func (g *globals) isNamed(chain []*dwarfinfo.Entry) bool {
	n, _ := dwarfinfo.Attribute(chain, dwarf.AttrName).(string)
	return n == g.name || n == "main."+g.name
}

// byNamespace are the definitions by their namespaces, of which the first counts that has one.
func (g *globals) byNamespace() map[string]*dwarfinfo.Entry {
	out := map[string]*dwarfinfo.Entry{}
	for i, e := range g.defined {
		namespace := g.within[i]
		for _, origin := range g.Data.Origins(e) {
			if of, ok := g.declared[origin.Offset]; ok {
				namespace = of
			}
		}
		if out[namespace] == nil {
			out[namespace] = e
		}
	}
	return out
}

// globalAt is the variable that an entry defines.
func (f *Finder) globalAt(e *dwarfinfo.Entry, name string) (*Variable, error) {
	expression, _, err := e.Expression(dwarf.AttrLocation, 0)
	if err != nil {
		return nil, err
	}
	frame := location.Unframed(f.Arch)
	frame.Address = e.Unit().IndexedAddress
	v := &Variable{Name: name, Place: location.Of(expression, frame)}
	v.Type, _ = dwarfinfo.Attribute(f.Data.Origins(e), dwarf.AttrType).(dwarf.Offset)
	return v, nil
}

// namespaceAt is the namespace, or the class, of the function that has an instruction: "std::chrono"; "" where it is in
// none.
func (f *Finder) namespaceAt(pc uint64) string {
	within, err := f.path(pc)
	if err != nil || len(within) == 0 {
		return ""
	}
	name := elffile.BareOfSource(f.namesOf().Of(f.Data.Origins(within[0])))
	return name[:max(strings.LastIndex(name, "::"), 0)]
}
