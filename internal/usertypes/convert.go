package usertypes

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/cpplib"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
)

// A type of a program in DWARF becomes one of BTF: structs, unions, enums, bit-fields, arrays, references.

// A conversion adds one type with what lies in it.
type conversion struct {
	t   *Types
	out *kernel.TypeBuilder
	// known and declared are the types that it adds.
	known, declared map[dwarf.Offset]kernel.TypeID
	// open are the structs that are being described: none of them can lie in itself.
	open map[dwarf.Offset]bool
	// read is how many entries were read, and err the first fault.
	read int
	err  error
}

// How a type is wanted.
type want bool

const (
	whole    want = false
	declared want = true // of structs, classes and unions the name is enough
)

// Bounds of what foreign files can lead to.
const (
	maxDepth   = 64
	maxEntries = 1 << 16
)

// tagAtomic is DW_TAG_atomic_type, for which debug/dwarf has no name.
const tagAtomic = dwarf.Tag(0x47)

// qualifies are the tags of const, volatile, restrict and _Atomic.
var qualifies = map[dwarf.Tag]bool{
	dwarf.TagConstType: true, dwarf.TagVolatileType: true, dwarf.TagRestrictType: true, tagAtomic: true,
}

// at gives the type at a place in the debug information.
func (c *conversion) at(off dwarf.Offset, as want, depth int) kernel.TypeID {
	if as == whole && c.open[off] { // a struct that lies in itself
		c.fail(nil)
		return 0
	}
	if id, ok := c.lookUp(off, as); ok {
		return id
	}
	e, err := c.t.data.Entry(off)
	if c.read++; err != nil || e == nil || depth > maxDepth || c.read > maxEntries {
		c.fail(err)
		return 0
	}
	if c.t.strings.Declared(e) {
		return c.text(e)
	}
	if isComposite(e.Tag) && (as == declared || e.Val(dwarf.AttrDeclaration) != nil) {
		return c.declare(e)
	}
	if qualifies[e.Tag] { // of what it qualifies nothing changes for who reads it
		return c.next(e, as, depth)
	}
	id := c.out.New()
	c.known[off] = id
	c.open[off] = isComposite(e.Tag)
	c.out.Set(id, c.describe(id, e, as, depth))
	delete(c.open, off)
	return id
}

func isComposite(tag dwarf.Tag) bool {
	return tag == dwarf.TagStructType || tag == dwarf.TagClassType || tag == dwarf.TagUnionType
}

// lookUp finds a type that was added. One that is whole is as good as a declaration.
func (c *conversion) lookUp(off dwarf.Offset, as want) (kernel.TypeID, bool) {
	for _, known := range []map[dwarf.Offset]kernel.TypeID{c.known, c.t.known} {
		if id, ok := known[off]; ok {
			return id, true
		}
	}
	if as == declared {
		for _, known := range []map[dwarf.Offset]kernel.TypeID{c.declared, c.t.declared} {
			if id, ok := known[off]; ok {
				return id, true
			}
		}
	}
	return 0, false
}

// fail keeps the first fault.
func (c *conversion) fail(err error) {
	if c.err == nil && err == nil {
		err = dwarfinfo.ErrDamaged
	}
	if c.err == nil {
		c.err = err
	}
}

// text is a std::string that is only declared.
func (c *conversion) text(e *dwarfinfo.Entry) kernel.TypeID {
	id := c.out.New()
	c.known[e.Offset] = id
	c.out.Set(id, kernel.Type{Kind: kernel.KindStruct, Name: nameOf(e), Size: cpplib.StringSize})
	c.out.Text(id, kernel.TextView{Address: cpplib.StringAddress, Length: cpplib.StringLength, LengthSize: 8})
	return id
}

// declare adds the name of a struct.
func (c *conversion) declare(e *dwarfinfo.Entry) kernel.TypeID {
	if id, ok := c.lookUp(e.Offset, declared); ok {
		return id
	}
	id := c.out.Add(kernel.Type{Kind: kernel.KindFwd, Name: nameOf(e), Union: e.Tag == dwarf.TagUnionType})
	c.declared[e.Offset] = id
	return id
}

func nameOf(e *dwarfinfo.Entry) string {
	name, _ := e.Val(dwarf.AttrName).(string)
	return name
}

func number(e *dwarfinfo.Entry, name dwarf.Attr) int {
	n, _ := e.Val(name).(int64)
	return int(n)
}

// describe is what an entry says of its type, of which id is the number.
func (c *conversion) describe(id kernel.TypeID, e *dwarfinfo.Entry, as want, depth int) kernel.Type {
	switch e.Tag {
	case dwarf.TagBaseType:
		c.goForm(id, e)
		return base(e)
	case dwarf.TagPointerType:
		if strings.HasPrefix(nameOf(e), "&") { // of Rust
			return c.reference(e, depth)
		}
		return kernel.Type{Kind: kernel.KindPtr, Elem: c.next(e, declared, depth)}
	case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		return c.reference(e, depth)
	case dwarf.TagTypedef:
		if t, ok := c.goPointer(e, depth); ok {
			return t
		}
		if t, ok := c.goError(e, depth); ok {
			return t
		}
		return kernel.Type{Kind: kernel.KindTypedef, Name: nameOf(e), Elem: c.next(e, as, depth)}
	case dwarf.TagStructType, dwarf.TagClassType:
		return c.composite(id, e, kernel.KindStruct, depth)
	case dwarf.TagUnionType:
		return c.composite(id, e, kernel.KindUnion, depth)
	case dwarf.TagEnumerationType:
		return c.enum(e, depth)
	case dwarf.TagArrayType:
		return c.array(id, e, as, depth)
	case dwarf.TagSubroutineType:
		return kernel.Type{Kind: kernel.KindProto}
	case dwarf.TagPtrToMemberType:
		return kernel.Type{Kind: kernel.KindInt, Name: "long", Size: 8, Signed: true}
	}
	return kernel.Type{Kind: kernel.KindFwd, Name: nameOf(e)} // as decltype(nullptr)
}

// reference is a pointer to a type with a name by which it is known to be one.
func (c *conversion) reference(e *dwarfinfo.Entry, depth int) kernel.Type {
	to := c.next(e, declared, depth)
	name := "void"
	if of := c.t.bare(e); of != nil {
		name = nameOf(of)
	}
	named := kernel.Type{Kind: kernel.KindTypedef, Name: name + kernel.ReferenceMark, Elem: to}
	return kernel.Type{Kind: kernel.KindPtr, Elem: c.out.Add(named)}
}

// next is the type that an entry names; 0, void, where it names none.
func (c *conversion) next(e *dwarfinfo.Entry, as want, depth int) kernel.TypeID {
	off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return 0
	}
	return c.at(off, as, depth+1)
}

// The encodings (DW_ATE_…, 7.8).
const (
	encodingAddress, encodingBool, encodingFloat = 1, 2, 4
	encodingSigned, encodingSignedChar           = 5, 6
	encodingUnsigned, encodingUnsignedChar       = 7, 8
	encodingUTF, encodingUCS, encodingASCII      = 0x10, 0x11, 0x12
)

// base is a type without parts. Complex and decimal numbers are of a kind that has no value.
func base(e *dwarfinfo.Entry) kernel.Type {
	t := kernel.Type{Kind: kernel.KindInt, Name: nameOf(e), Size: number(e, dwarf.AttrByteSize)}
	if t.Name == "()" && t.Size == 0 { // the tuple of Rust that has nothing in it
		t.Kind = kernel.KindStruct
		return t
	}
	switch number(e, dwarf.AttrEncoding) {
	case encodingSigned, encodingSignedChar:
		t.Signed = true
	case encodingUnsigned, encodingUnsignedChar, encodingUTF, encodingUCS, encodingASCII, encodingAddress:
	case encodingBool:
		t.Bool = true
	case encodingFloat:
		t.Kind = kernel.KindFloat
	default:
		t.Kind = kernel.KindFwd
	}
	return t
}

// enum has the sign of what it is made of; where that is not said, a value below 0 tells that it is signed.
func (c *conversion) enum(e *dwarfinfo.Entry, depth int) kernel.Type {
	t := kernel.Type{Kind: kernel.KindEnum, Name: nameOf(e), Size: number(e, dwarf.AttrByteSize)}
	err := c.t.data.EachChild(e, func(v *dwarfinfo.Entry) (bool, error) {
		if n, ok := v.Val(dwarf.AttrConstValue).(int64); ok && v.Tag == dwarf.TagEnumerator {
			t.Enums = append(t.Enums, kernel.EnumValue{Name: nameOf(v), Val: n})
			t.Signed = t.Signed || n < 0
		}
		return len(t.Enums) < maxEntries, nil
	})
	if err != nil {
		c.fail(err)
	}
	if made := c.madeOf(e); made != nil {
		t.Signed = base(made).Signed
	}
	return t
}

// madeOf is the base type that an enum is made of, behind names of it, such as uint64_t; nil if that is not said.
func (c *conversion) madeOf(e *dwarfinfo.Entry) *dwarfinfo.Entry {
	for range maxDepth {
		of, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return nil
		}
		made, err := c.t.data.Entry(of)
		if err != nil || made == nil || made.Tag == dwarf.TagBaseType {
			return made
		}
		e = made
	}
	return nil
}

// A dimension is how many elements an array has. Where the program computes that, place is the entry that says where
// the number is, and length is 0, as it is where nobody says it.
type dimension struct {
	length int
	place  dwarf.Offset
}

// array is one of arrays where there are several dimensions. A length that is not said is 0, as of the last member of a
// struct.
func (c *conversion) array(id kernel.TypeID, e *dwarfinfo.Entry, as want, depth int) kernel.Type {
	var dimensions []dimension
	err := c.t.data.EachChild(e, func(d *dwarfinfo.Entry) (bool, error) {
		dimensions = append(dimensions, dimensionOf(d))
		return len(dimensions) < maxDepth, nil
	})
	if err != nil {
		c.fail(err)
	}
	elem := c.next(e, as, depth)
	if len(dimensions) == 0 {
		dimensions = []dimension{{}}
	}
	for i := len(dimensions) - 1; i > 0; i-- {
		inner := c.out.New()
		c.out.Set(inner, c.arrayOf(inner, elem, dimensions[i]))
		elem = inner
	}
	return c.arrayOf(id, elem, dimensions[0])
}

// dimensionOf is what an entry says of a dimension (DW_TAG_subrange_type).
func dimensionOf(d *dwarfinfo.Entry) dimension {
	for _, bound := range []struct {
		attribute dwarf.Attr
		more      int64
	}{{dwarf.AttrCount, 0}, {dwarf.AttrUpperBound, 1}} {
		switch n := d.Val(bound.attribute).(type) {
		case nil:
		case int64:
			return dimension{length: int(max(n+bound.more, 0))}
		default:
			return dimension{place: d.Offset}
		}
	}
	return dimension{}
}

// arrayOf is an array of one dimension, of which id is the number.
func (c *conversion) arrayOf(id, elem kernel.TypeID, d dimension) kernel.Type {
	if d.place != 0 {
		c.out.Counted(id, int64(d.place))
	}
	return kernel.Type{Kind: kernel.KindArray, Elem: elem, Len: d.length, Open: d.length == 0}
}

// composite is a struct, a class or a union.
func (c *conversion) composite(id kernel.TypeID, e *dwarfinfo.Entry, kind kernel.TypeKind, depth int) kernel.Type {
	t := kernel.Type{Kind: kind, Name: nameOf(e), Size: number(e, dwarf.AttrByteSize)}
	var inside []string
	err := c.t.data.EachChild(e, func(m *dwarfinfo.Entry) (bool, error) {
		if m.Tag == dwarf.TagVariantPart {
			t.Members = append(t.Members, c.variants(id, m, depth)...)
			return true, nil
		}
		if m.Tag != dwarf.TagMember && m.Tag != dwarf.TagInheritance || m.Val(dwarf.AttrExternal) != nil {
			return true, nil
		}
		if virtual, _ := m.Val(dwarf.AttrVirtuality).(int64); virtual != 0 && m.Tag == dwarf.TagInheritance {
			c.out.Virtual(id)
		}
		if field, ok := c.member(m, depth); ok {
			t.Members = append(t.Members, field)
			if embedded(m) {
				inside = append(inside, field.Name)
			}
		}
		return len(t.Members) < maxEntries, nil
	})
	if err != nil {
		c.fail(err)
	}
	if view, ok := c.t.textView(e, t.Name); ok {
		c.out.Text(id, view)
	}
	c.goForm(id, e)
	c.elements(id, e, t.Name, depth)
	if len(inside) > 0 {
		c.out.Embedded(id, inside)
	}
	return t
}

// member is one, or a base; false for what has no fixed place, as a virtual base.
func (c *conversion) member(m *dwarfinfo.Entry, depth int) (kernel.Member, bool) {
	first, size, ok := c.t.place(m)
	if !ok {
		return kernel.Member{}, false
	}
	out := kernel.Member{Name: nameOf(m), Off: first / 8, Bit: uint8(first % 8), BitSize: uint8(size),
		Type: c.next(m, whole, depth)}
	if m.Tag == dwarf.TagInheritance {
		out.Name = ""
	}
	return out, out.Type != 0
}

// place is where a member begins, in bits from the start of its struct, and of how many bits it is if it is a
// bit-field. DWARF 5 tells the first bit. Before, a bit-field is told by the unit that it lies in, and how far its
// highest bit is from that of the unit (DW_AT_bit_offset, section 5.5.6 of version 3).
func (t *Types) place(m *dwarfinfo.Entry) (first, size int, ok bool) {
	size = number(m, dwarf.AttrBitSize)
	if bit, has := m.Val(dwarf.AttrDataBitOffset).(int64); has {
		return int(bit), size, size >= 0 && size <= 64 && bit >= 0
	}
	off := 0
	switch at := m.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		off = int(at)
	case []byte:
		if off, ok = plusConstant(at); !ok {
			return 0, 0, false
		}
	}
	if size == 0 || off < 0 {
		return 8 * off, 0, off >= 0
	}
	unit := number(m, dwarf.AttrByteSize)
	if unit == 0 {
		unit = t.sizeOf(m)
	}
	first = 8*(off+unit) - number(m, dwarf.AttrBitOffset) - size
	return first, size, first >= 0 && size > 0 && size <= 64
}

// plusConstant is the place that an expression of DWARF 2 gives: DW_OP_plus_uconst n.
func plusConstant(expression []byte) (int, bool) {
	const plusUconst = 0x23
	if len(expression) < 2 || len(expression) > 5 || expression[0] != plusUconst {
		return 0, false
	}
	n := 0
	for i, b := range expression[1:] {
		n |= int(b&0x7f) << (7 * i)
	}
	return n, true
}

// sizeOf is the size of the type of a member, in bytes, behind names and qualifiers; 0 if it is not said.
func (t *Types) sizeOf(m *dwarfinfo.Entry) int {
	for range maxDepth {
		off, ok := m.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			break
		}
		var err error
		if m, err = t.data.Entry(off); err != nil || m == nil {
			break
		}
		if size, ok := m.Val(dwarf.AttrByteSize).(int64); ok {
			return int(size)
		}
	}
	return 0
}
