package kernel

import (
	"bytes"
	"fmt"
)

// One type of BTF decoded: ints, structs, enums, arrays; its size.

// indexNUL gives the length of the string at the start of s, which holds a NUL.
func indexNUL(s []byte) int { return max(bytes.IndexByte(s, 0), 0) }

// Type decodes the type id. Void is a type.
func (b *BTF) Type(id TypeID) (Type, error) {
	t, err := Outline(b, id)
	if err != nil {
		return t, err
	}
	switch r := b.record(id); t.Kind {
	case KindStruct, KindUnion:
		t.Members = b.members(r)
	case KindEnum:
		t.Enums = b.enumValues(r)
	case KindProto:
		t.Params = b.params(r)
	}
	return t, nil
}

// Outline is Type without members, values of an enum and parameters. A struct of the kernel has hundreds of members,
// and who asks what something is wants none of them.
func Outline(b *BTF, id TypeID) (Type, error) {
	if id == 0 {
		return Type{Name: "void"}, nil
	}
	r := b.record(id)
	if r == nil {
		return Type{}, fmt.Errorf("no type %d in the kernel's BTF", id)
	}
	t := Type{ID: id, Name: b.string(r.name())}
	b.decode(&t, r)
	return t, nil
}

// decode fills in what Outline gives.
func (b *BTF) decode(t *Type, r typeRecord) {
	switch r.kind() {
	case btfInt:
		decodeInt(t, r)
	case btfPtr:
		t.Kind, t.Elem, t.Size = KindPtr, r.ref(), 8
	case btfArray:
		t.Kind, t.Elem, t.Len = KindArray, TypeID(r.u32(12)), int(r.u32(20))
		t.Open = t.Len == 0
	case btfStruct, btfUnion:
		t.Kind, t.Size = b.structKind(r), int(r.u32(8))
	case btfEnum, btfEnum64:
		t.Kind, t.Size, t.Signed = KindEnum, int(r.u32(8)), b.enumSigned(r)
		t.Bits = t.Size * 8
	case btfFwd:
		t.Kind, t.Union = KindFwd, r.flag()
	case btfTypedef:
		t.Kind, t.Elem = KindTypedef, r.ref()
	case btfVolatile, btfConst, btfRestrict, btfTypeTag:
		t.Kind, t.Elem = KindModifier, r.ref()
		if name := modifierNames[r.kind()]; name != "" {
			t.Name = name
		}
	case btfFunc:
		t.Kind, t.Elem = KindFunc, r.ref()
	case btfProto:
		t.Kind, t.Elem = KindProto, r.ref()
	case btfFloat:
		t.Kind, t.Size, t.Signed = KindFloat, int(r.u32(8)), true
	default:
		t.Kind = KindOther
	}
}

var modifierNames = [btfKinds]string{btfConst: "const", btfVolatile: "volatile", btfRestrict: "restrict"}

// decodeInt reads the word after the header: encoding 24-27 (1 signed, 2 char,
// 4 bool), offset 16-23, bits 0-7. pahole never sets char, so the name counts.
func decodeInt(t *Type, r typeRecord) {
	w := r.u32(12)
	t.Kind, t.Size, t.Bits = KindInt, int(r.u32(8)), int(w&0xff)
	// pahole of old kernels writes "signed char" without the mark of its sign (5.10).
	t.Signed = w>>24&1 != 0 || t.Name == "signed char"
	t.Char = w>>24&2 != 0 || t.Name == "char"
	t.Bool = w>>24&4 != 0
}

func (b *BTF) structKind(r typeRecord) TypeKind {
	if r.kind() == btfUnion {
		return KindUnion
	}
	return KindStruct
}

func (b *BTF) members(r typeRecord) []Member {
	out := make([]Member, r.vlen())
	for i := range out {
		out[i] = b.member(r, i)
		out[i].Name = b.string(r.u32(12 + 12*i))
	}
	return out
}

func (b *BTF) params(r typeRecord) []Param {
	out := make([]Param, r.vlen())
	for i := range out {
		out[i] = Param{Name: b.string(r.u32(12 + 8*i)), Type: TypeID(r.u32(16 + 8*i))}
	}
	return out
}

func (b *BTF) enumSigned(r typeRecord) bool {
	return r.flag() || r.kind() == btfEnum && !b.signedEnums
}

func (b *BTF) enumValues(r typeRecord) []EnumValue {
	out := make([]EnumValue, r.vlen())
	for i := range out {
		nameOff, v := b.enumerator(r, i)
		out[i] = EnumValue{b.string(nameOff), v}
	}
	return out
}

// enumerator gives the i-th name and value of an enum. Values of 64 bits are
// as their bits: an unsigned one above the range of int64 is negative.
func (b *BTF) enumerator(r typeRecord, i int) (nameOff uint32, v int64) {
	if r.kind() == btfEnum64 {
		at := 12 + 12*i
		return r.u32(at), int64(uint64(r.u32(at+4)) | uint64(r.u32(at+8))<<32)
	}
	at := 12 + 8*i
	if b.enumSigned(r) {
		return r.u32(at), int64(int32(r.u32(at + 4)))
	}
	return r.u32(at), int64(r.u32(at + 4))
}

// maxChain bounds walks along references, which damaged input can make loop.
const maxChain = 64

// Skip follows typedefs and modifiers to the type that they stand for, and the declaration of a type of a program to
// its definition.
func (b *BTF) Skip(id TypeID) TypeID {
	for range maxChain {
		r := b.record(id)
		if r == nil {
			return id
		}
		switch r.kind() {
		case btfTypedef, btfVolatile, btfConst, btfRestrict, btfTypeTag:
			id = r.ref()
		case btfFwd:
			defined, ok := definition(b, id)
			if !ok {
				return id
			}
			id = defined
		default:
			return id
		}
	}
	return 0
}

// Size gives the size of a value of type id in bytes.
func (b *BTF) Size(id TypeID) (int, error) {
	n := int64(1)
	for range maxChain {
		id = b.Skip(id)
		r := b.record(id)
		if r == nil {
			break
		}
		switch r.kind() {
		case btfArray:
			if _, counted := CountedAt(b, id); counted {
				return 0, fmt.Errorf("the program computes how many elements %s has", b.TypeName(id))
			}
			id = TypeID(r.u32(12))
			n *= int64(r.u32(20))
		case btfPtr:
			return sizeTimes(n, 8)
		case btfInt, btfStruct, btfUnion, btfEnum, btfEnum64, btfFloat:
			return sizeTimes(n, int64(r.u32(8)))
		default:
			return 0, fmt.Errorf("%s has no size", b.TypeName(id))
		}
		if n > 1<<31 {
			return sizeTimes(n, 1)
		}
	}
	return 0, fmt.Errorf("type %d has no size", id)
}

func sizeTimes(n, each int64) (int, error) {
	if n *= each; n >= 1<<31 {
		return 0, fmt.Errorf("bad BTF: a type of %d bytes", n)
	}
	return int(n), nil
}
