package kernel

import (
	"fmt"
	"slices"
	"strings"
)

// Types of programs of Go in the form of BTF: maps, channels, interfaces, times, embedded fields.
//
// What a program of Go says of its types besides what BTF can: which pointers are maps and channels, which structs are
// times, which members are embedded, and where its runtime keeps the descriptions of types that interfaces lead to.

// A GoForm says what a type of Go is that C has not.
type GoForm uint8

// The forms. A map and a channel are pointers to structs of the runtime, a duration is an int, the others are structs.
// A slice is one whatever its name is: []byte, net.IP.
const (
	GoMap GoForm = iota + 1
	GoChannel
	GoInterface
	GoTime
	GoDuration
	GoSlice
)

// A GoType is a type of Go, and the Name that the source gives it: map[string]int.
type GoType struct {
	// Form is what it is.
	Form GoForm
	// Name is the one in the source; of a struct of the runtime it is that of the struct.
	Name string
}

// A GoRuntime says where a program has the descriptions of its types, from First to before End, as addresses in its
// file, which Moves if the loader chooses where it is.
type GoRuntime struct {
	// Path is the file.
	Path string
	// First and End are addresses in it.
	First, End uint64
	// Moves: the loader adds something to these.
	Moves bool
}

// A GoDynamic is a type that values of an interface have: its description lies At bytes behind the first one.
type GoDynamic struct {
	// Type is the type's number.
	Type TypeID
	// At is in bytes.
	At uint64
}

// A GoProgram tells of the types that values of a program of Go have when it runs.
type GoProgram interface {
	// Runtime is where their descriptions are.
	Runtime() GoRuntime
	// Dynamic gives those of some names, as *errors.errorString, that the program has values of.
	Dynamic(names []string) map[string]GoDynamic
}

// goTypes are what a program of Go says of some of its types; nothing of one in another language.
type goTypes struct {
	program GoProgram
	forms   map[TypeID]GoType
	// embedded are the names of the members of a struct that have no name of their own in the source.
	embedded map[TypeID][]string
}

// Go says what a type of Go is.
func (t *TypeBuilder) Go(id TypeID, is GoType) { t.golang.forms[id] = is }

// Embedded says which members of a struct of Go are embedded.
func (t *TypeBuilder) Embedded(id TypeID, names []string) { t.golang.embedded[id] = names }

// OfGo says that the types are those of a program of Go.
func (t *TypeBuilder) OfGo(p GoProgram) { t.golang.program = p }

// GoTypeOf gives what a type of Go is that C has not; false of others.
func GoTypeOf(b *BTF, id TypeID) (GoType, bool) {
	p := programOf(b, id)
	if p == nil {
		return GoType{}, false
	}
	is, ok := p.golang.forms[id]
	return is, ok
}

// GoProgramOf gives the program of Go that a type is of; nil for others, and where nobody knows where it has the
// descriptions of its types.
func GoProgramOf(b *BTF, id TypeID) GoProgram {
	if p := programOf(b, id); p != nil {
		return p.golang.program
	}
	return nil
}

// A promotion looks for a member of the structs that are embedded in one, level by level.
type promotion struct {
	b    *BTF
	name string
	seen map[TypeID]bool
	// found are the ways to members of the name in one level, and left bounds how many structs are looked at.
	found [][]string
	left  int
}

// An embeddedStruct is a struct, and the members that lead to it.
type embeddedStruct struct {
	id  TypeID
	way []string
}

// Promoted gives the members that lead to one of a name, which a struct of Go has from structs that are embedded in it:
// those that lie least deep. An error says that several lie there. nil: there is none.
func Promoted(b *BTF, id TypeID, name string) ([]string, error) {
	p := promotion{b: b, name: name, seen: map[TypeID]bool{}, left: 1 << 10}
	level := p.inside(embeddedStruct{id: b.Skip(id)})
	for len(level) > 0 && p.left > 0 {
		level = p.look(level)
		switch {
		case len(p.found) == 1:
			return p.found[0], nil
		case len(p.found) > 1:
			first, second := strings.Join(p.found[0], "."), strings.Join(p.found[1], ".")
			return nil, fmt.Errorf("%s has several fields %s at one depth: write %s or %s", b.TypeName(id), name, first,
				second)
		}
	}
	return nil, nil
}

// look notes what a level has of the name, and gives the next one. A struct that a level before had is not looked at.
func (p *promotion) look(level []embeddedStruct) (next []embeddedStruct) {
	for _, s := range level {
		if p.left--; p.left < 0 {
			return nil
		}
		if _, ok := p.b.find(s.id, p.name); ok {
			p.found = append(p.found, append(slices.Clone(s.way), p.name))
		}
	}
	for _, s := range level {
		p.seen[s.id] = true
	}
	for _, s := range level {
		for _, inner := range p.inside(s) {
			if !p.seen[inner.id] {
				next = append(next, inner)
			}
		}
	}
	return next
}

// inside gives the structs that are embedded in one, also by a pointer. Of an interface the methods are promoted, and
// nothing of what it is made of.
func (p *promotion) inside(s embeddedStruct) (out []embeddedStruct) {
	of := programOf(p.b, s.id)
	if of == nil {
		return nil
	}
	for _, name := range of.golang.embedded[s.id] {
		f, ok := p.b.find(s.id, name)
		if !ok {
			continue
		}
		id := p.b.Skip(f.Type)
		t, err := p.b.Type(id)
		if err == nil && t.Kind == KindPtr {
			id = p.b.Skip(t.Elem)
			t, err = p.b.Type(id)
		}
		if _, special := GoTypeOf(p.b, id); err == nil && t.Kind == KindStruct && !special {
			out = append(out, embeddedStruct{id, append(slices.Clone(s.way), name)})
		}
	}
	return out
}
