package signature

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Types of C and C++ as arguments: pointers, enums, arrays, vectors, `const` and typedef. What debug/dwarf makes of
// them it reads with all that they lead to, and it fails for good at an encoding that it does not know, also behind a
// pointer; it says neither what an enum is made of nor what a class has besides its members.

// The encodings (DW_ATE_…) and tags that debug/dwarf has no names for.
const (
	encodingAddress, encodingBool, encodingComplex, encodingFloat = 1, 2, 3, 4
	encodingSigned, encodingSignedChar                            = 5, 6
	encodingUnsigned, encodingUnsignedChar, encodingDecimal       = 7, 8, 0xf
	encodingUTF, encodingUCS, encodingASCII, encodingComplexInt   = 0x10, 0x11, 0x12, 0x80

	tagAtomic = dwarf.Tag(0x47)
)

// namesAndQualifiers are the tags of types that are passed as those behind them. Of what _Atomic does to the alignment
// of a struct nothing is said (named).
var namesAndQualifiers = map[dwarf.Tag]bool{
	dwarf.TagTypedef: true, dwarf.TagConstType: true, dwarf.TagVolatileType: true, dwarf.TagRestrictType: true,
	tagAtomic: true,
}

// mostTypes bounds what is read for one function: foreign files can lead anywhere.
const mostTypes = 4096

// typeAt reads the type at a place; nil where it is of a kind that is not known.
func (f *finder) typeAt(off dwarf.Offset, depth int) (dwarf.Type, error) {
	e, err := f.data.Entry(off)
	if err != nil {
		return nil, err
	}
	if f.types++; e == nil || depth > deepest || f.types > mostTypes {
		return nil, nil
	}
	size, sized := e.Val(dwarf.AttrByteSize).(int64)
	common := dwarf.CommonType{ByteSize: size}
	switch e.Tag {
	case dwarf.TagBaseType:
		return f.baseType(e, common), nil
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		return pointer(), nil
	case dwarf.TagUnspecifiedType:
		if name, _ := e.Val(dwarf.AttrName).(string); strings.Contains(name, "nullptr") {
			return pointer(), nil
		}
		return nil, nil
	case dwarf.TagPtrToMemberType:
		return f.toMember(e)
	case dwarf.TagEnumerationType:
		return f.enum(e, common, depth)
	case dwarf.TagArrayType:
		return f.array(e, depth)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		return f.composite(e, common, sized, depth)
	}
	if namesAndQualifiers[e.Tag] {
		return f.named(e, depth)
	}
	return nil, nil
}

// next is the type that an entry names; void where it names none.
func (f *finder) next(e *dwarfinfo.Entry, depth int) (dwarf.Type, error) {
	switch off := e.Val(dwarf.AttrType).(type) {
	case dwarf.Offset:
		return f.typeAt(off, depth+1)
	case nil:
		if !e.Has(dwarf.AttrType) {
			return &dwarf.VoidType{}, nil
		}
	}
	return nil, nil // it stands in another file, or its unit is not there
}

// named is the type behind a name or a qualifier.
func (f *finder) named(e *dwarfinfo.Entry, depth int) (dwarf.Type, error) {
	t, err := f.next(e, depth)
	if s, is := t.(*dwarf.StructType); is && e.Tag == tagAtomic {
		s.Incomplete = true
	}
	return t, err
}

func pointer() *dwarf.PtrType {
	return &dwarf.PtrType{CommonType: dwarf.CommonType{ByteSize: 8}}
}

// baseType is one that has no parts. An int of which some bits mean nothing (_BitInt(7)) is none that is known, nor are
// decimal floats and complex ints of arm64, on whose places compilers do not agree.
func (f *finder) baseType(e *dwarfinfo.Entry, c dwarf.CommonType) dwarf.Type {
	c.Name, _ = e.Val(dwarf.AttrName).(string)
	encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
	if bits, has := e.Val(dwarf.AttrBitSize).(int64); has && bits != 8*c.ByteSize || c.ByteSize > 32 {
		return nil
	}
	basic := dwarf.BasicType{CommonType: c}
	switch encoding {
	case encodingDecimal, encodingComplexInt:
		if f.arch != "amd64" {
			return nil
		}
	}
	switch encoding {
	case encodingFloat, encodingDecimal:
		return &dwarf.FloatType{BasicType: basic}
	case encodingComplex:
		return &dwarf.ComplexType{BasicType: basic}
	case encodingComplexInt:
		return twoOf(c.ByteSize / 2)
	}
	if c.ByteSize > 16 || c.ByteSize > 8 && f.language == langRust { // where the halves lie nothing promises there
		return nil
	}
	switch encoding {
	case encodingSigned, encodingSignedChar:
		return &dwarf.IntType{BasicType: basic}
	case encodingUnsigned, encodingUnsignedChar, encodingUTF, encodingUCS, encodingASCII:
		return &dwarf.UintType{BasicType: basic}
	case encodingBool:
		return &dwarf.BoolType{BasicType: basic}
	case encodingAddress:
		return pointer()
	}
	return nil
}

// twoOf is a struct of two ints: what complex ints and pointers to functions of classes are to the ABI.
func twoOf(size int64) dwarf.Type {
	if size > 8 {
		return nil
	}
	half := &dwarf.IntType{BasicType: dwarf.BasicType{CommonType: dwarf.CommonType{ByteSize: size}}}
	return &dwarf.StructType{CommonType: dwarf.CommonType{ByteSize: 2 * size}, Kind: "struct",
		Field: []*dwarf.StructField{{Type: half}, {Type: half, ByteOffset: size}}}
}

// toMember is a pointer to a member of a class: a distance, or, of a function, two words (Itanium C++ ABI, 2.3).
func (f *finder) toMember(e *dwarfinfo.Entry) (dwarf.Type, error) {
	for range deepest {
		off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return nil, nil
		}
		var err error
		if e, err = f.data.Entry(off); err != nil || e == nil {
			return nil, err
		}
		switch {
		case e.Tag == dwarf.TagSubroutineType:
			return twoOf(8), nil
		case !namesAndQualifiers[e.Tag]:
			return &dwarf.IntType{BasicType: dwarf.BasicType{CommonType: dwarf.CommonType{ByteSize: 8}}}, nil
		}
	}
	return nil, nil
}

// enum is the int that an enum is made of. Where that is not said, a value below 0 tells that it is signed.
func (f *finder) enum(e *dwarfinfo.Entry, c dwarf.CommonType, depth int) (dwarf.Type, error) {
	if e.Val(dwarf.AttrType) != nil {
		t, err := f.next(e, depth)
		if t != nil && t.Size() != c.ByteSize && c.ByteSize != 0 {
			return nil, err
		}
		return t, err
	}
	negative := false
	err := f.children(e, func(v *dwarfinfo.Entry) error {
		n, _ := v.Val(dwarf.AttrConstValue).(int64)
		negative = negative || n < 0
		return nil
	})
	if c.ByteSize == 0 || c.ByteSize > 8 {
		return nil, err // it is declared only
	}
	basic := dwarf.BasicType{CommonType: c}
	if negative {
		return &dwarf.IntType{BasicType: basic}, err
	}
	return &dwarf.UintType{BasicType: basic}, err
}

// array has a Count of -1 where its length is not said.
func (f *finder) array(e *dwarfinfo.Entry, depth int) (dwarf.Type, error) {
	var dims []int64
	err := f.children(e, func(d *dwarfinfo.Entry) error {
		count, ok := d.Val(dwarf.AttrCount).(int64)
		if !ok {
			if count, ok = d.Val(dwarf.AttrUpperBound).(int64); ok {
				count++
			} else {
				count = -1
			}
		}
		dims = append(dims, count)
		return nil
	})
	if err != nil || len(dims) == 0 {
		return nil, err
	}
	t, err := f.next(e, depth)
	if vector, _ := e.Val(attrVector).(bool); vector && t != nil {
		return vectorOf(t.Size() * dims[0]), err
	}
	for i := len(dims) - 1; i >= 0 && t != nil; i-- {
		t = &dwarf.ArrayType{CommonType: dwarf.CommonType{ByteSize: t.Size() * max(dims[i], 0)}, Type: t,
			Count: dims[i]}
	}
	return t, err
}

// attrVector is DW_AT_GNU_vector: an array is a vector of the machine.
const attrVector = dwarf.Attr(0x2107)

// vectorName is what such a type is called here; no type of C can be called so.
const vectorName = "vector of the machine"

// vectorOf is a vector of a size in bytes, which is passed as the floats of that size are. Where a larger one is
// depends on what the program was compiled for.
func vectorOf(size int64) dwarf.Type {
	if size != 8 && size != 16 {
		return nil
	}
	common := dwarf.CommonType{ByteSize: size, Name: vectorName}
	return &dwarf.FloatType{BasicType: dwarf.BasicType{CommonType: common}}
}

// cpp reports whether the unit is of C++.
func (f *finder) cpp() bool {
	switch f.language {
	case 0x04, 0x1a, 0x21, 0x2b:
		return true
	}
	return false
}

// children goes over the direct ones of an entry.
func (f *finder) children(e *dwarfinfo.Entry, each func(*dwarfinfo.Entry) error) error {
	return f.data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) { return true, each(kid) })
}
