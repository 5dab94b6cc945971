package kernel

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Types of user programs in the form of BTF, and those of types().
//
// The types of programs lie behind those of the kernel and of modules, as types of BTF too, so that all that works on
// a BTF works on them. Whoever reads a program's debug information adds them: a struct is added when a script comes to
// it, with what lies in it. What its pointers lead to is only declared then (KindFwd), and defined once it is asked
// for:
//
//	struct order { int id; struct customer *who; };    is added with a declaration of struct customer
//	e.args.order.who.name                               defines it

// A TextView says where the parts of a string are in a struct that is one in the language of its program, as in Go a
// struct of the address of the bytes and their number.
type TextView struct {
	// Address and Length are the offsets in the struct, in bytes, of the address of the text and of its length, which
	// has LengthSize bytes.
	Address, Length, LengthSize int
	// Ahead is how many bytes lie between what the address leads to and the text.
	Ahead int
}

// programTypes are some types of one program.
type programTypes struct {
	// define gives the definition of a type of these that is only declared.
	define func(TypeID) (TypeID, bool)
	// texts are the structs that are strings.
	texts map[TypeID]TextView
	// counted are the arrays whose length the program computes, by the place in its debug information that says where
	// that is.
	counted map[TypeID]int64
	// virtual are the classes that have virtual bases.
	virtual map[TypeID]bool
	// golang is what a program of Go says besides, and rust what one of Rust does.
	golang goTypes
	rust   rustTypes
	// own: they are those of a script, which may be about memory of the kernel or of programs.
	own bool
}

// A TypeBuilder takes types of a program.
type TypeBuilder struct {
	first   TypeID
	types   []Type
	strs    []byte
	names   map[string]uint32
	strBase uint32
	texts   map[TypeID]TextView
	counted map[TypeID]int64
	virtual map[TypeID]bool
	golang  goTypes
	rust    rustTypes
	own     bool
}

// Own says that the types are declared by a script: where they lie the address decides.
func (t *TypeBuilder) Own() { t.own = true }

// OfScript reports whether a type is one that a script declares.
func OfScript(b *BTF, id TypeID) bool {
	p := programOf(b, id)
	return p != nil && p.own
}

// New gives the number of a type that Set describes later.
func (t *TypeBuilder) New() TypeID {
	t.types = append(t.types, Type{Kind: KindVoid})
	return t.first + TypeID(len(t.types)-1)
}

// Set describes a type of New. Its kind is one of KindInt, KindPtr, KindArray, KindStruct, KindUnion, KindEnum,
// KindFwd, KindTypedef, KindModifier, KindProto (without parameters) and KindFloat.
func (t *TypeBuilder) Set(id TypeID, is Type) { t.types[id-t.first] = is }

// Add gives the number of a new type.
func (t *TypeBuilder) Add(is Type) TypeID {
	id := t.New()
	t.Set(id, is)
	return id
}

// Text says that a struct is a string.
func (t *TypeBuilder) Text(id TypeID, view TextView) { t.texts[id] = view }

// Counted says that an array has a length which the program computes; place is where its debug information says how.
func (t *TypeBuilder) Counted(id TypeID, place int64) { t.counted[id] = place }

// Virtual says that a class of C++ has virtual bases, which have no fixed place in it.
func (t *TypeBuilder) Virtual(id TypeID) { t.virtual[id] = true }

// Variants says that a struct is an enum of Rust.
func (t *TypeBuilder) Variants(id TypeID, part VariantPart) { t.rust.variants[id] = part }

// Elements says of which type the elements are that a struct leads to.
func (t *TypeBuilder) Elements(id, elem TypeID) { t.rust.elems[id] = elem }

// AddTypes adds the types of a program that build describes. define gives the definition of those that are only
// declared.
func (b *BTF) AddTypes(build func(*TypeBuilder), define func(TypeID) (TypeID, bool)) error {
	b.adding.Lock()
	defer b.adding.Unlock()
	before := b.parts()
	first, strs := before.behind(b)
	t := &TypeBuilder{first: first, strBase: strs, names: map[string]uint32{}, texts: map[TypeID]TextView{},
		counted: map[TypeID]int64{}, virtual: map[TypeID]bool{},
		golang: goTypes{forms: map[TypeID]GoType{}, embedded: map[TypeID][]string{}},
		rust:   rustTypes{variants: map[TypeID]VariantPart{}, elems: map[TypeID]TypeID{}}}
	build(t)
	m := &moduleBTF{first: first, strings: strs, program: &programTypes{define, t.texts, t.counted, t.virtual,
		t.golang, t.rust, t.own}}
	if err := m.part.parse(t.blob(), true); err != nil {
		return err
	}
	list := append(slices.Clone(before), m)
	b.modules.Store(&list)
	return nil
}

// OfProgram reports whether a type is one of a program, whose memory a pointer to it leads to.
func (b *BTF) OfProgram(id TypeID) bool { return programOf(b, id) != nil }

// TextOf says how a struct is a string, in the language of its program.
func TextOf(b *BTF, id TypeID) (TextView, bool) {
	p := programOf(b, id)
	if p == nil {
		return TextView{}, false
	}
	v, ok := p.texts[id]
	return v, ok
}

// CountedAt gives the place in the debug information of a program that says where the length of an array is; false for
// what is no array, or one whose length is known, or one of which nobody says how long it is.
func CountedAt(b *BTF, id TypeID) (place int64, ok bool) {
	p := programOf(b, id)
	if p == nil {
		return 0, false
	}
	place, ok = p.counted[id]
	return place, ok
}

// VariantsOf says which variants a struct has that is an enum of Rust.
func VariantsOf(b *BTF, id TypeID) (VariantPart, bool) {
	p := programOf(b, id)
	if p == nil {
		return VariantPart{}, false
	}
	part, ok := p.rust.variants[id]
	return part, ok
}

// ElementsOf gives the type of the elements that a struct leads to, where its members do not tell it.
func ElementsOf(b *BTF, id TypeID) (TypeID, bool) {
	p := programOf(b, id)
	if p == nil {
		return 0, false
	}
	elem, ok := p.rust.elems[id]
	return elem, ok
}

// ReferenceMark ends the name of what a reference of C++ or Rust leads to: a reference is a pointer to a typedef of
// that name.
const ReferenceMark = " &"

// IsReference reports whether a pointer is a reference: in the source it stands for what it leads to.
func IsReference(b *BTF, pointer Type) bool {
	r := b.record(pointer.Elem)
	return r != nil && r.kind() == btfTypedef && bytes.HasSuffix(b.bytesAt(r.name()), []byte(ReferenceMark)) &&
		programOf(b, pointer.Elem) != nil
}

// programOf gives the program's types that a type is among; nil for those of the kernel and of modules.
func programOf(b *BTF, id TypeID) *programTypes {
	if uint64(id) <= uint64(b.count) {
		return nil
	}
	if m := b.parts().of(id); m != nil {
		return m.program
	}
	return nil
}

// definition gives what a type stands for that is only declared; false if nobody knows.
func definition(b *BTF, id TypeID) (TypeID, bool) {
	p := programOf(b, id)
	if p == nil || p.define == nil {
		return 0, false
	}
	return p.define(id)
}

// name gives the offset of a name.
func (t *TypeBuilder) name(s string) uint32 {
	if s == "" {
		return 0
	}
	off, ok := t.names[s]
	if !ok {
		off = t.strBase + uint32(len(t.strs))
		t.strs = append(append(t.strs, s...), 0)
		t.names[s] = off
	}
	return off
}

// blob writes the types as a BTF has them.
func (t *TypeBuilder) blob() []byte {
	var types []byte
	for _, is := range t.types {
		types = append(types, t.record(is)...)
	}
	word := binary.LittleEndian.AppendUint32
	head := word([]byte{0x9f, 0xeb, 1, 0}, btfHeaderSize)
	head = word(word(head, 0), uint32(len(types)))
	head = word(word(head, uint32(len(types))), uint32(len(t.strs)))
	return append(append(head, types...), t.strs...)
}

// A recordWriter writes the words of one type.
type recordWriter []byte

func (w *recordWriter) words(words ...uint32) {
	for _, x := range words {
		*w = binary.LittleEndian.AppendUint32(*w, x)
	}
}

// header writes the first three words of a type.
func (w *recordWriter) header(name uint32, kind, n int, flag bool, last uint32) {
	info := uint32(kind)<<24 | uint32(n)
	if flag {
		info |= 1 << 31
	}
	w.words(name, info, last)
}

// record writes one type.
func (t *TypeBuilder) record(is Type) []byte {
	var w recordWriter
	name := t.name(is.Name)
	switch is.Kind {
	case KindInt:
		w.header(name, btfInt, 0, false, uint32(is.Size))
		w.words(intEncoding(is)<<24 | uint32(min(is.Size*8, 128)))
	case KindPtr:
		w.header(0, btfPtr, 0, false, uint32(is.Elem))
	case KindArray:
		w.header(0, btfArray, 0, false, 0)
		w.words(uint32(is.Elem), 0, uint32(is.Len))
	case KindStruct, KindUnion:
		t.members(&w, name, is)
	case KindEnum:
		w.header(name, btfEnum64, len(is.Enums), is.Signed, uint32(is.Size))
		for _, v := range is.Enums {
			w.words(t.name(v.Name), uint32(v.Val), uint32(uint64(v.Val)>>32))
		}
	case KindFwd:
		w.header(name, btfFwd, 0, is.Union, 0)
	case KindTypedef:
		w.header(name, btfTypedef, 0, false, uint32(is.Elem))
	case KindModifier:
		w.header(0, btfConst, 0, false, uint32(is.Elem))
	case KindProto:
		w.header(0, btfProto, 0, false, uint32(is.Elem))
	case KindFloat:
		w.header(name, btfFloat, 0, false, uint32(is.Size))
	default: // a kind that has no value
		w.header(name, btfFwd, 0, false, 0)
	}
	return w
}

// intEncoding are the bits of decodeInt.
func intEncoding(is Type) (bits uint32) {
	if is.Signed {
		bits |= 1
	}
	if is.Char {
		bits |= 2
	}
	if is.Bool {
		bits |= 4
	}
	return bits
}

// maxMembers is how many a record can tell.
const maxMembers = 1<<24 - 1

// members writes a struct or a union. A bit-field lies at its bit from the start of the struct.
func (t *TypeBuilder) members(w *recordWriter, name uint32, is Type) {
	kind := btfStruct
	if is.Kind == KindUnion {
		kind = btfUnion
	}
	list := is.Members[:min(len(is.Members), maxMembers)]
	flag := slices.ContainsFunc(list, func(m Member) bool { return m.BitSize != 0 })
	w.header(name, kind, len(list), flag, uint32(is.Size))
	for _, m := range list {
		place := uint32(8*m.Off + int(m.Bit))
		if flag {
			place = place&0xffffff | uint32(m.BitSize)<<24
		}
		w.words(t.name(m.Name), uint32(m.Type), place)
	}
}
