package signature

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/cpplib"
	"github.com/startrace/startrace/internal/dwarfinfo"
)

// How structs and classes of C++ are passed: by value, or by the address of a copy.

// byAddress is the Kind of a class of C++ of which a copy's address is passed.
const byAddress = "class that is passed by its address"

// DW_AT_defaulted, which debug/dwarf has no name for, and its value for a function that is "= default" in its class.
const (
	attrDefaulted    = dwarf.Attr(0x8b)
	attrDeleted      = dwarf.Attr(0x8a)
	defaultedInClass = 1
)

// DW_CC_pass_by_reference and DW_CC_pass_by_value: clang says of each class how it is passed.
const (
	passedByReference = 4
	passedByValue     = 5
)

// A class is a struct, a union or a class that is being read, with what tells how it is passed.
type class struct {
	*dwarf.StructType
	// copies and deleted count the copy and move constructors, and those of them that are deleted.
	copies, deleted int
	// special: it has a destructor, or a copy or move constructor, of its own, or virtual functions or bases.
	special bool
	// needed is the largest alignment, in bytes, of the types of the members that were read so far, said that which the
	// source gives to members themselves. packed is set once one lies where it could not lie unless the struct is
	// packed.
	needed, said int64
	packed       bool
}

// composite reads a struct, a class or a union. It is Incomplete where nothing promises how it is passed.
func (f *finder) composite(e *dwarfinfo.Entry, c dwarf.CommonType, sized bool, depth int) (
	dwarf.Type, error) {
	c.Name, _ = e.Val(dwarf.AttrName).(string)
	s := &class{StructType: &dwarf.StructType{CommonType: c, StructName: c.Name, Kind: "struct"}}
	if e.Tag == dwarf.TagUnionType {
		s.Kind = "union"
	}
	if f.strings.Declared(e) {
		s.Kind, s.ByteSize, s.needed = byAddress, cpplib.StringSize, 8
		f.alignments[s.StructType] = s.alignment(e)
		return s.StructType, nil
	}
	s.Incomplete = !sized || e.Val(dwarf.AttrDeclaration) != nil || f.language == langRust
	err := f.children(e, func(m *dwarfinfo.Entry) error {
		switch m.Tag {
		case dwarf.TagMember, dwarf.TagInheritance:
			return f.member(s, m, depth)
		case dwarf.TagSubprogram:
			return f.method(s, m)
		case dwarf.TagVariantPart:
			s.Incomplete = true
		}
		return nil
	})
	if f.cpp() {
		f.judge(s, e)
	}
	f.alignments[s.StructType] = s.alignment(e)
	return s.StructType, err
}

// judge says how a class of C++ is passed: by the address of a copy, if copying it or ending it takes a function that
// is not trivial (Itanium C++ ABI, 1.1, "non-trivial for the purposes of calls"). clang says it, and gcc from 8 on says
// of each function whether it is one that the compiler made.
func (f *finder) judge(s *class, e *dwarfinfo.Entry) {
	switch convention, _ := e.Val(dwarf.AttrCalling).(int64); {
	case convention == passedByReference: // whatever is in it
		s.Kind, s.Incomplete = byAddress, s.ByteSize == 0
		return
	case convention == passedByValue:
		return
	}
	switch {
	case !s.special && s.copies == 0:
	case !f.tellsDefaulted():
		s.Incomplete = true
	case s.special || s.copies > 0 && s.copies == s.deleted:
		s.Kind = byAddress
	}
}

// tellsDefaulted reports whether the compiler is a gcc that has DW_AT_defaulted.
func (f *finder) tellsDefaulted() bool {
	producer := f.producer()
	words := strings.Fields(producer) // as GNU C++17 12.2.0 -mtune=…
	if len(words) < 3 || words[0] != "GNU" || strings.Contains(producer, "-gstrict-dwarf") {
		return false
	}
	major, _, _ := strings.Cut(words[2], ".")
	return len(major) > 1 || major >= "8"
}

// member adds one, or a base.
func (f *finder) member(s *class, m *dwarfinfo.Entry, depth int) error {
	if static, _ := m.Val(dwarf.AttrExternal).(bool); static {
		return nil
	}
	if virtual(m) {
		s.special = true
		return nil
	}
	t, err := f.next(m, depth)
	field := &dwarf.StructField{Type: t}
	var plain bool
	if field.ByteOffset, plain = m.Val(dwarf.AttrDataMemberLoc).(int64); !plain &&
		m.Val(dwarf.AttrDataMemberLoc) != nil || t == nil {
		s.Incomplete = true
		return err
	}
	field.DataBitOffset, _ = m.Val(dwarf.AttrDataBitOffset).(int64)
	field.BitSize, _ = m.Val(dwarf.AttrBitSize).(int64)
	field.BitOffset, _ = m.Val(dwarf.AttrBitOffset).(int64)
	field.ByteSize, _ = m.Val(dwarf.AttrByteSize).(int64)
	s.Field = append(s.Field, field)
	if field.BitSize == 0 {
		f.align(s, m, field)
	}
	s.special = s.special || passedByAddress(t)
	return err
}

// passedByAddress reports whether t is a class that is passed so, or an array of such.
func passedByAddress(t dwarf.Type) bool {
	if a, ok := t.(*dwarf.ArrayType); ok {
		t = a.Type
	}
	in, ok := t.(*dwarf.StructType)
	return ok && in.Kind == byAddress
}

// method notes a function of a class that matters: those that the compiler made itself are as the members are.
func (f *finder) method(s *class, m *dwarfinfo.Entry) error {
	name, _ := m.Val(dwarf.AttrName).(string)
	artificial, _ := m.Val(dwarf.AttrArtificial).(bool)
	defaulted, _ := m.Val(attrDefaulted).(int64)
	deleted, _ := m.Val(attrDeleted).(bool)
	made := artificial || defaulted == defaultedInClass || deleted
	bare, _, _ := strings.Cut(s.StructName, "<")
	switch {
	case virtual(m):
		s.special = true
	case strings.HasPrefix(name, "~"):
		s.special = s.special || !made || deleted
	case name == bare && bare != "":
		copies, err := f.copies(m, s)
		if err != nil || !copies {
			return err
		}
		s.copies++
		s.special = s.special || !made
		if deleted {
			s.deleted++
		}
	}
	return nil
}

// virtual reports whether a function or a base is virtual.
func virtual(e *dwarfinfo.Entry) bool {
	kind, _ := e.Val(dwarf.AttrVirtuality).(int64)
	return kind != 0
}

// copies reports whether a constructor takes another object of the class: behind the object itself, its first
// parameter is a reference to one.
func (f *finder) copies(m *dwarfinfo.Entry, s *class) (is bool, err error) {
	n := 0
	err = f.children(m, func(p *dwarfinfo.Entry) error {
		if p.Tag != dwarf.TagFormalParameter {
			return nil
		}
		if n++; n == 2 {
			is, err = f.refersTo(p, s.StructName)
		}
		return err
	})
	return is, err
}

// refersTo reports whether the type of an entry is a reference to a class of a name.
func (f *finder) refersTo(e *dwarfinfo.Entry, name string) (bool, error) {
	reference := false
	for range deepest {
		off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return false, nil
		}
		var err error
		if e, err = f.data.Entry(off); err != nil || e == nil {
			return false, err
		}
		switch {
		case e.Tag == dwarf.TagReferenceType || e.Tag == dwarf.TagRvalueReferenceType:
			reference = true
		case !namesAndQualifiers[e.Tag]:
			other, _ := e.Val(dwarf.AttrName).(string)
			return reference && other == name, nil
		}
	}
	return false, nil
}
