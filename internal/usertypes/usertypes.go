// Package usertypes brings the types of a program, which its debug information describes, into the form of the kernel's
// types, so that a compiler that follows pointers and fields of the one follows those of the other.
//
// What is read is what a script comes to. A struct is added with what lies in it; what its pointers lead to is
// declared, and defined when it is asked for (kernel.BTF.AddTypes).
//
// Classes of C++ are structs, their bases members without a name: the fields of a base are found as if they were the
// class's own. References are pointers that are known to be such (kernel.IsReference). Strings of the languages are
// marked (kernel.TextView), see texts.go.
package usertypes

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/startrace/startrace/internal/cpplib"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
)

// Types of a program by their places or names.

// Types are those of one program.
type Types struct {
	// mu guards all: types are asked for while a script is compiled, and while values are shown.
	mu   sync.Mutex
	data *dwarfinfo.Data
	btf  *kernel.BTF
	// strings are those of C++ of which nobody says what lies in them.
	strings cpplib.Strings
	// known are the types that were added, by their place in the debug information; declared the structs of which only
	// the name was, and undefined the place of each such.
	known, declared map[dwarf.Offset]kernel.TypeID
	undefined       map[kernel.TypeID]dwarf.Offset
	// golang tells of the types of values of a program of Go; nil of others.
	golang *goProgram
}

// New makes types of a program's debug information, which go behind those of btf.
func New(data *dwarfinfo.Data, btf *kernel.BTF) *Types {
	return &Types{data: data, btf: btf, strings: cpplib.Strings{Data: data}, known: map[dwarf.Offset]kernel.TypeID{},
		declared: map[dwarf.Offset]kernel.TypeID{}, undefined: map[kernel.TypeID]dwarf.Offset{}}
}

// At gives the type at a place in the debug information.
func (t *Types) At(off dwarf.Offset) (kernel.TypeID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.add(off)
}

// add is At, for one who holds the lock.
func (t *Types) add(off dwarf.Offset) (kernel.TypeID, error) {
	if id, ok := t.known[off]; ok {
		return id, nil
	}
	c := &conversion{t: t, known: map[dwarf.Offset]kernel.TypeID{}, declared: map[dwarf.Offset]kernel.TypeID{},
		open: map[dwarf.Offset]bool{}}
	var id kernel.TypeID
	err := t.btf.AddTypes(func(b *kernel.TypeBuilder) {
		c.out = b
		if t.golang != nil {
			b.OfGo(t.golang)
		}
		id = c.at(off, whole, 0)
	}, t.define)
	if c.err != nil {
		err = c.err
	}
	if err != nil {
		return 0, err
	}
	for off, id := range c.known {
		t.known[off] = id
	}
	for off, id := range c.declared {
		t.declared[off], t.undefined[id] = id, off
	}
	return id, nil
}

// define gives the definition of a type that is only declared.
func (t *Types) define(id kernel.TypeID) (kernel.TypeID, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	off, ok := t.undefined[id]
	if !ok {
		return 0, false
	}
	if off, ok = t.definitionOf(off); !ok {
		return 0, false
	}
	defined, err := t.add(off)
	return defined, err == nil
}

// definitionOf gives the place where the struct at a place is defined: there, or, where the unit only declares it, in
// another one that has it by that name.
func (t *Types) definitionOf(off dwarf.Offset) (dwarf.Offset, bool) {
	e, err := t.data.Entry(off)
	if err != nil || e == nil {
		return 0, false
	}
	if e.Val(dwarf.AttrDeclaration) == nil {
		return off, true
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	if name == "" {
		return 0, false
	}
	found, ok, err := t.along([]dwarf.Tag{e.Tag}, append(t.scopeOf(e), name), false)
	return found, ok && err == nil
}

// scopeOf are the names of the namespaces and classes that an entry stands in.
func (t *Types) scopeOf(e *dwarfinfo.Entry) (names []string) {
	found := errors.New("found")
	err := e.Unit().Walk(func(k *dwarfinfo.Entry, depth int) (into bool, err error) {
		if names = names[:min(depth-1, len(names))]; k.Offset >= e.Offset {
			return false, found
		}
		if into = slices.Contains(scopes, k.Tag); into {
			names = append(names, nameOf(k))
		}
		return into, nil
	})
	if !errors.Is(err, found) {
		return nil // damaged
	}
	return names
}

// spelled says which tags a type has by the word in front of its name.
var spelled = map[string][]dwarf.Tag{
	"struct": {dwarf.TagStructType, dwarf.TagClassType}, "class": {dwarf.TagStructType, dwarf.TagClassType},
	"union": {dwarf.TagUnionType}, "enum": {dwarf.TagEnumerationType},
	"": {dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType,
		dwarf.TagEnumerationType},
}

// Named gives the type of a name as the source writes it: "struct order", "order_t", "main.Order". false: no unit has
// one outside of functions. Those in namespaces and classes of C++ are a::b::c.
func (t *Types) Named(name string) (id kernel.TypeID, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	word, rest, _ := strings.Cut(name, " ")
	tags, known := spelled[word]
	if rest = strings.TrimSpace(rest); !known || rest == "" {
		tags, rest = spelled[""], name
	}
	off, ok, err := t.named(tags, rest, true)
	if !ok {
		return 0, false, err
	}
	id, err = t.add(off)
	return id, err == nil, err
}

// An AmbiguousError says that several files of a program's source have different types of one name.
type AmbiguousError struct {
	// Name is that of the types, and Sizes are how many bytes two of them have.
	Name  string
	Sizes [2]int
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is the name of different types in its source files, one of %d bytes and one of %d: "+
		"e.args and e.vars have the one of their function", e.Name, e.Sizes[0], e.Sizes[1])
}

// named looks for the definition of a type by its name in all units: the first one, or the only one, since in C it can
// be another one in each.
func (t *Types) named(tags []dwarf.Tag, name string, only bool) (found dwarf.Offset, ok bool, err error) {
	path := strings.Split(name, "::")
	if strings.ContainsAny(name, "<(") { // of what a template was made for has names, too
		path = []string{name}
	}
	return t.along(tags, path, only)
}

// along is named by the names of the namespaces and classes around, and that of the type.
func (t *Types) along(tags []dwarf.Tag, path []string, only bool) (found dwarf.Offset, ok bool, err error) {
	units, err := t.data.Units()
	if err != nil {
		return 0, false, nil // there are none
	}
	var first *dwarfinfo.Entry
	for _, u := range units {
		root, err := u.Root()
		if err != nil {
			continue
		}
		e, err := t.within(root, tags, path)
		switch {
		case e == nil || err != nil: // a unit that is damaged has none
		case first == nil:
			first = e
		case t.shapeOf(e) != t.shapeOf(first):
			sizes := [2]int{number(first, dwarf.AttrByteSize), number(e, dwarf.AttrByteSize)}
			return 0, false, &AmbiguousError{strings.Join(path, "::"), sizes}
		}
		if first != nil && !only {
			break
		}
	}
	if first == nil {
		return 0, false, nil
	}
	return first.Offset, true, nil
}

// shapeOf is what tells types of one name from each other: their size, and the names and places of their members.
func (t *Types) shapeOf(e *dwarfinfo.Entry) string {
	var b strings.Builder
	fmt.Fprint(&b, e.Tag, " ", number(e, dwarf.AttrByteSize))
	err := t.data.EachChild(e, func(m *dwarfinfo.Entry) (bool, error) {
		if first, size, ok := t.place(m); ok && m.Tag == dwarf.TagMember {
			fmt.Fprint(&b, " ", nameOf(m), first, size)
		}
		return b.Len() < maxEntries, nil
	})
	if err != nil {
		return "" // what is damaged is like nothing but itself
	}
	return b.String()
}

// scopes are what types can stand in.
var scopes = []dwarf.Tag{dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType}

// within looks for a definition in a unit, or in namespaces and classes of it, along a path of names.
func (t *Types) within(e *dwarfinfo.Entry, tags []dwarf.Tag, path []string) (found *dwarfinfo.Entry, err error) {
	err = t.data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		if kid.Val(dwarf.AttrName) != path[0] {
			return true, nil
		}
		switch {
		case len(path) > 1 && slices.Contains(scopes, kid.Tag):
			inner, err := t.within(kid, tags, path[1:])
			found = inner
			return inner == nil, err
		case len(path) == 1 && slices.Contains(tags, kid.Tag) && kid.Val(dwarf.AttrDeclaration) == nil:
			found = kid
		case len(path) == 1 && slices.Contains(tags, kid.Tag):
			found = t.data.InUnitOfItsOwn(kid)
		}
		return found == nil, nil
	})
	return found, err
}
