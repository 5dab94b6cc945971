package signature

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Types of Go, as far as its ABI asks for them.

// goType reads a type of Go, as far as its ABI asks for it: what a pointer leads to is not read. nil: it is of a kind
// that is not known.
func (f *finder) goType(off dwarf.Offset, depth int) (dwarf.Type, error) {
	e, err := f.data.Entry(off)
	if f.types++; err != nil || e == nil || depth > deepest || f.types > mostTypes {
		return nil, err
	}
	size, _ := e.Val(dwarf.AttrByteSize).(int64)
	common := dwarf.CommonType{ByteSize: size}
	switch e.Tag {
	case dwarf.TagBaseType:
		return goBase(e, dwarf.BasicType{CommonType: common}), nil
	case dwarf.TagTypedef:
		return f.goNext(e, depth)
	case dwarf.TagPointerType, dwarf.TagSubroutineType, dwarf.TagUnspecifiedType:
		return pointer(), nil
	case dwarf.TagStructType:
		return f.goStruct(e, common, depth)
	case dwarf.TagArrayType:
		return f.goArray(e, depth)
	}
	return nil, nil
}

func (f *finder) goNext(e *dwarfinfo.Entry, depth int) (dwarf.Type, error) {
	off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return nil, nil
	}
	return f.goType(off, depth+1)
}

// goBase is a type without parts.
func goBase(e *dwarfinfo.Entry, b dwarf.BasicType) dwarf.Type {
	switch encoding, _ := e.Val(dwarf.AttrEncoding).(int64); encoding {
	case encodingBool:
		return &dwarf.BoolType{BasicType: b}
	case encodingComplex:
		return &dwarf.ComplexType{BasicType: b}
	case encodingFloat:
		return &dwarf.FloatType{BasicType: b}
	case encodingSigned, encodingSignedChar:
		return &dwarf.IntType{BasicType: b}
	case encodingUnsigned, encodingUnsignedChar:
		return &dwarf.UintType{BasicType: b}
	case encodingAddress:
		return pointer()
	}
	return nil
}

func (f *finder) goStruct(e *dwarfinfo.Entry, c dwarf.CommonType, depth int) (dwarf.Type, error) {
	s := &dwarf.StructType{CommonType: c, Kind: "struct"}
	known := true
	err := f.children(e, func(m *dwarfinfo.Entry) error {
		if m.Tag != dwarf.TagMember {
			return nil
		}
		off, _ := m.Val(dwarf.AttrDataMemberLoc).(int64)
		t, err := f.goNext(m, depth)
		known = known && t != nil
		s.Field = append(s.Field, &dwarf.StructField{Type: t, ByteOffset: off})
		return err
	})
	if err != nil || !known {
		return nil, err
	}
	return s, nil
}

func (f *finder) goArray(e *dwarfinfo.Entry, depth int) (dwarf.Type, error) {
	count := int64(-1)
	err := f.children(e, func(d *dwarfinfo.Entry) error {
		if n, ok := d.Val(dwarf.AttrCount).(int64); ok {
			count = n
		}
		return nil
	})
	t, fault := f.goNext(e, depth)
	if err != nil || fault != nil || t == nil || count < 0 {
		return nil, fault
	}
	return &dwarf.ArrayType{CommonType: dwarf.CommonType{ByteSize: t.Size() * count}, Type: t, Count: count}, nil
}
