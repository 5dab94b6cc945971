package signature

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/rustclosure"
)

// How Rust passes its types: structs, enums, pairs.
//
// Functions of Rust, with structs and enums by value. Nothing promises how these are passed, but rustc 1.95 does so by
// a few rules (rustc_ty_utils/src/abi.rs, fn_abi_adjust_for_abi; rustc_abi/src/layout.rs): what is one scalar is passed
// as that; what is two scalars and nothing else is passed as two values, whatever lies between them; the rest is an int
// of its size up to 8 bytes, and else the address of a copy. Each of these values is passed as C passes it.
//
// What debug information does not tell is whether a function or a struct is as in C (extern "C", repr(C)). So a
// function is known where the rules of both languages give the same places, or where a type is one that C cannot have.

// A rustForm is how a type of Rust is passed.
type rustForm uint8

const (
	rustUnknown rustForm = iota
	rustNothing          // it has no bytes
	rustScalar
	rustPair
	rustMemory
)

// A rustType is a type of Rust as its functions pass it.
type rustType struct {
	form        rustForm
	size, align int64
	// parts are the scalars that it is, with their places in it.
	parts []rustPart
	// own: C has no such type. floats: there is a float in it, wherever. never: it has no values, as Infallible.
	own, floats, never bool
}

// A rustPart is a scalar.
type rustPart struct {
	off, size int64
	kind      abi.Class
	// signed and address are as those of a Word.
	signed, address bool
}

// ofRust is the signature of a function of Rust; nil where it is not known.
func (f *finder) ofRust(e *dwarfinfo.Entry, chain []*dwarfinfo.Entry) *Signature {
	env := rustclosure.Of(f.data, e)
	if env == rustclosure.Unknown {
		return nil
	}
	var params []rustType
	own, known := env == rustclosure.Address, true // C has no closures
	if own {
		params = []rustType{{form: rustScalar, size: 8, align: 8, parts: []rustPart{{size: 8, address: true}}}}
	}
	add := func(chain []*dwarfinfo.Entry) rustType {
		t := rustType{form: rustNothing}
		if off, ok := dwarfinfo.Attribute(chain, dwarf.AttrType).(dwarf.Offset); ok {
			t = f.rustType(off, 0)
		}
		own, known = own || t.own, known && t.form != rustUnknown
		return t
	}
	err := f.eachParameter(e, func(p *dwarfinfo.Entry) error {
		params = append(params, add(f.data.Origins(p)))
		return nil
	})
	result := add(chain)
	if err != nil || !known {
		return nil
	}
	a := rustCall{arch: f.arch, convention: abi.Of(f.arch)}
	s := a.signature(params, result)
	if s == nil || !own && !a.asInC(append(params, result)) {
		return nil
	}
	if env == rustclosure.Address {
		s.Arguments = s.Arguments[1:]
	}
	return s
}

// A rustCall gives out the places of a call.
type rustCall struct {
	arch       string
	convention *abi.Convention
	// stack: something is passed there.
	stack bool
}

// values are those that a parameter is passed as.
func (t rustType) values() (out []abi.Value) {
	switch t.form {
	case rustScalar, rustPair:
		for _, p := range t.parts {
			out = append(out, p.kind.Value(int(p.size)))
		}
	case rustMemory:
		size := int64(8)
		if t.size <= 8 {
			size = t.size
		}
		out = append(out, abi.Int.Value(int(size)))
	}
	return out
}

// returned is the value that a result is returned as; false where that is not known.
func (a *rustCall) returned(t rustType) (v abi.Value, known bool) {
	switch t.form {
	case rustNothing:
		return v, true
	case rustMemory:
		if t.size > 8 {
			return abi.Value{Size: 32, Align: 8, Composite: true, ByAddress: true}, true
		}
		return abi.Int.Value(int(t.size)), true
	case rustScalar:
		return t.parts[0].kind.Value(int(t.parts[0].size)), true
	}
	v = abi.Value{Size: 16, Align: 8, Composite: true}
	for i, p := range t.parts {
		v.Scalars = append(v.Scalars, abi.Scalar{Off: 8 * i, Size: int(p.size), Kind: p.kind})
	}
	return v, a.arch == "amd64" || t.parts[0].kind == abi.Int && t.parts[1].kind == abi.Int
}

// signature assigns all.
func (a *rustCall) signature(params []rustType, result rustType) *Signature {
	var values []abi.Value
	for _, t := range params {
		values = append(values, t.values()...)
	}
	returned, known := a.returned(result)
	if !known {
		return nil
	}
	call := a.convention.Assign(values, returned)
	s := &Signature{Void: result.form == rustNothing, more: func(int) Word { return unknown }}
	next := 0
	for _, t := range params {
		n := len(t.values())
		var places []abi.Place
		for _, l := range call.Params[next : next+n] {
			places = append(places, l.Places[0])
			a.stack = a.stack || l.InMemory()
		}
		next += n
		value, list := t.at(places, false)
		s.Params, s.Arguments = append(s.Params, list...), append(s.Arguments, value)
	}
	if !s.Void {
		value, list := result.at(call.Result.Places, call.Result.Indirect)
		s.Result, s.Results = list, []Value{value}
	}
	return s
}

// at is a value of a type at its places.
func (t rustType) at(places []abi.Place, address bool) (v Value, list []Word) {
	if address || t.form == rustMemory && t.size > 8 {
		p := places[0]
		return Value{Pieces: []Piece{{Place: p}}, Indirect: true},
			[]Word{{Place: p, Size: 8, Address: true, Unknown: p.Where == abi.Nowhere}}
	}
	parts := t.parts
	if t.form == rustMemory {
		parts = []rustPart{{size: t.size}}
	}
	v.Scattered = true
	for i, part := range parts {
		p := places[i]
		p.Bytes = int(part.size)
		if part.kind != abi.Int {
			p.Where = abi.Other
		}
		v.Pieces = append(v.Pieces, Piece{At: int(part.off), Place: p})
		list = append(list, Word{Place: p, Size: p.Bytes, Signed: part.signed, Address: part.address})
	}
	return v, list
}

// asInC reports whether C passes values of these types in the same places: those with several parts must have each in 8
// bytes of its own, in registers.
func (a *rustCall) asInC(types []rustType) bool {
	for _, t := range types {
		ints := !t.floats || a.arch == "amd64"
		switch {
		case t.form == rustPair && (t.parts[1].off != 8 || a.stack || !ints):
			return false
		case t.form == rustMemory && (t.size > 8 || t.floats):
			return false
		}
	}
	return true
}

// rustType reads a type.
func (f *finder) rustType(off dwarf.Offset, depth int) rustType {
	e, err := f.data.Entry(off)
	if f.types++; err != nil || e == nil || depth > deepest || f.types > mostTypes {
		return rustType{}
	}
	size, _ := e.Val(dwarf.AttrByteSize).(int64)
	switch e.Tag {
	case dwarf.TagStructType:
		return f.rustStruct(e, size, depth)
	case dwarf.TagUnionType:
		t := f.rustFields(e, size, depth)
		if t.form == rustMemory {
			t.form = rustUnknown // of several members
		}
		return t
	case dwarf.TagArrayType:
		return f.rustArray(e, depth)
	case dwarf.TagTypedef:
		of, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
		return f.rustType(of, depth+1)
	case dwarf.TagBaseType:
		if size == 0 {
			return rustType{form: rustNothing, align: 1}
		}
	}
	return f.rustScalar(off, depth)
}

// rustScalar is a type that has no parts.
func (f *finder) rustScalar(off dwarf.Offset, depth int) rustType {
	t, err := f.typeAt(off, depth)
	if err != nil || t == nil || t.Size() <= 0 || t.Size() > 8 {
		return rustType{}
	}
	p := rustPart{size: t.Size()}
	switch t.(type) {
	case *dwarf.IntType:
		p.signed = true
	case *dwarf.PtrType:
		p.address = true
	case *dwarf.FloatType:
		p.kind = abi.Float
	case *dwarf.UintType, *dwarf.BoolType:
	default:
		return rustType{}
	}
	return rustType{form: rustScalar, size: p.size, align: p.size, parts: []rustPart{p}, floats: p.kind != abi.Int}
}

// rustArray is an array.
func (f *finder) rustArray(e *dwarfinfo.Entry, depth int) rustType {
	if vector, _ := e.Val(attrVector).(bool); vector {
		return rustType{}
	}
	count := int64(1)
	err := f.children(e, func(d *dwarfinfo.Entry) error {
		n, ok := d.Val(dwarf.AttrCount).(int64)
		if !ok || n < 0 || n > 1<<32 {
			count = -1
		}
		count *= n
		return nil
	})
	of, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
	t := f.rustType(of, depth+1)
	if err != nil || count < 0 || t.form == rustUnknown {
		return rustType{}
	}
	t.form, t.size, t.parts, t.never = rustMemory, t.size*count, nil, t.never && count > 0
	if t.size == 0 {
		t.form = rustNothing
	}
	return t
}

// ownTypes begin the names of types of Rust that C has not, though they are structs like others.
var ownTypes = []string{
	"&", "*", "(", "{", "alloc::boxed::Box<", "Vec<", "HashMap<", "BTreeMap<", "Rc<", "Arc<",
}

// rustStruct is a struct, a tuple, an address with a length, or an enum.
func (f *finder) rustStruct(e *dwarfinfo.Entry, size int64, depth int) rustType {
	var part *dwarfinfo.Entry
	err := f.children(e, func(kid *dwarfinfo.Entry) error {
		if kid.Tag == dwarf.TagVariantPart {
			part = kid
		}
		return nil
	})
	var t rustType
	switch {
	case err != nil:
		return t
	case part != nil:
		t = f.rustEnum(part, size, depth)
	default:
		t = f.rustFields(e, size, depth)
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	t.align = max(t.align, 1)
	if said, ok := e.Val(attrAlignment).(int64); ok {
		t.align = said
	}
	begins := func(s string) bool { return strings.HasPrefix(name, s) }
	// An Option of what is never null is a pointer in C.
	t.own = t.own || name == "String" || slices.ContainsFunc(ownTypes, begins) ||
		part != nil && t.form != rustScalar && (begins("Option<") || begins("Result<"))
	return t
}

// A rustField is a member that has bytes.
type rustField struct {
	rustType
	off int64
}

// fieldsOf are the members of a struct; all is what is true of any of them.
func (f *finder) fieldsOf(e *dwarfinfo.Entry, depth int) (list []rustField, all rustType, known bool) {
	known = true
	all.align = 1
	err := f.children(e, func(m *dwarfinfo.Entry) error {
		if m.Tag != dwarf.TagMember {
			return nil
		}
		of, ok := m.Val(dwarf.AttrType).(dwarf.Offset)
		off, _ := m.Val(dwarf.AttrDataMemberLoc).(int64)
		t := rustType{}
		if ok {
			t = f.rustType(of, depth+1)
		}
		all.own, all.floats, all.align = all.own || t.own, all.floats || t.floats, max(all.align, t.align)
		all.never = all.never || t.never
		switch t.form {
		case rustUnknown:
			known = false
		case rustNothing:
		default:
			list = append(list, rustField{t, off})
		}
		return nil
	})
	return list, all, known && err == nil
}

// rustFields is a struct or a union by its members.
func (f *finder) rustFields(e *dwarfinfo.Entry, size int64, depth int) rustType {
	list, t, known := f.fieldsOf(e, depth)
	if !known {
		return rustType{}
	}
	return together(list, t, size)
}

// together is a struct of a size that has these members.
func together(list []rustField, t rustType, size int64) rustType {
	t.form, t.size = rustMemory, size
	switch {
	case size == 0:
		t.form = rustNothing
	case len(list) == 1 && list[0].size == size && list[0].off == 0:
		if t.form, t.parts = list[0].form, list[0].parts; t.form == rustScalar && t.floats {
			t.form = rustUnknown // an int, if the struct is as in C
		}
	case len(list) == 2 && list[0].form == rustScalar && list[1].form == rustScalar:
		a, b := list[0], list[1]
		if a.off > b.off {
			a, b = b, a
		}
		if isPair(a.parts[0], b.parts[0], b.off, size) {
			t.form, t.parts = rustPair, []rustPart{a.parts[0], b.parts[0]}
			t.parts[1].off = b.off
		}
	}
	return t
}

// isPair reports whether two scalars lie in a struct of a size as the compiler would put them: the second one as near
// to the first as it can.
func isPair(a, b rustPart, off, size int64) bool {
	align := max(a.size, b.size)
	return off == (a.size+b.size-1)/b.size*b.size && size == (off+b.size+align-1)/align*align
}

// rustEnum is an enum with something in its variants. Where one of them has no value of the discriminant, this is a
// part of that variant.
func (f *finder) rustEnum(part *dwarfinfo.Entry, size int64, depth int) rustType {
	tag, tells := f.rustTag(part)
	known := true
	t := rustType{form: rustMemory, size: size, align: 1}
	var variants [][]rustField
	owner := -1
	err := f.children(part, func(v *dwarfinfo.Entry) error {
		if v.Tag != dwarf.TagVariant {
			return nil
		}
		list, all, ok := f.variantFields(v, depth)
		known = known && ok
		if all.never && len(list) == 0 { // no value is of this variant
			return nil
		}
		t.own, t.floats, t.align = t.own || all.own, t.floats || all.floats, max(t.align, all.align)
		if v.Val(dwarf.AttrDiscrValue) == nil {
			owner = len(variants)
		}
		variants = append(variants, list)
		return nil
	})
	switch {
	case err != nil || !known:
		return rustType{}
	case len(variants) == 0 && size == 0:
		return rustType{form: rustNothing, never: true, align: t.align}
	case len(variants) == 0:
		return rustType{}
	case len(variants) == 1: // nothing has to tell which it is
		return together(variants[0], t, size)
	case !tells:
		return rustType{}
	case owner >= 0:
		return niche(variants, owner, t)
	case tag.size == size:
		t.form, t.parts = rustScalar, []rustPart{tag}
		return t
	}
	return tagged(variants, tag, t)
}

// variantFields are the members of what is in a variant.
func (f *finder) variantFields(v *dwarfinfo.Entry, depth int) (list []rustField, all rustType, known bool) {
	known = true
	err := f.children(v, func(m *dwarfinfo.Entry) error {
		of, ok := m.Val(dwarf.AttrType).(dwarf.Offset)
		e, err := f.data.Entry(of)
		if !ok || err != nil || e == nil || m.Tag != dwarf.TagMember || depth > deepest {
			known = false
			return err
		}
		list, all, ok = f.fieldsOf(e, depth+1)
		known = known && ok
		return nil
	})
	return list, all, known && err == nil
}

// rustTag is the member that tells which variant there is.
func (f *finder) rustTag(part *dwarfinfo.Entry) (rustPart, bool) {
	off, ok := part.Val(dwarf.AttrDiscr).(dwarf.Offset)
	if !ok {
		return rustPart{}, false
	}
	m, err := f.data.Entry(off)
	if err != nil || m == nil {
		return rustPart{}, false
	}
	of, ok := m.Val(dwarf.AttrType).(dwarf.Offset)
	t := f.rustScalar(of, 0)
	if !ok || t.form != rustScalar {
		return rustPart{}, false
	}
	t.parts[0].off, _ = m.Val(dwarf.AttrDataMemberLoc).(int64)
	return t.parts[0], true
}

// niche is an enum of which one variant has all bytes, and the others nothing.
func niche(variants [][]rustField, owner int, t rustType) rustType {
	for i, list := range variants {
		if i != owner && len(list) > 0 {
			return t
		}
	}
	in := together(variants[owner], rustType{align: t.align, own: t.own, floats: t.floats}, t.size)
	if in.form == rustNothing {
		return rustType{}
	}
	return in
}

// tagged is an enum with a tag: with one scalar in its variants, at one place, it is the two.
func tagged(variants [][]rustField, tag rustPart, t rustType) rustType {
	var common *rustField
	for _, list := range variants {
		switch {
		case len(list) == 0:
			continue
		case len(list) > 1 || list[0].form != rustScalar:
			return t
		}
		field := list[0]
		switch {
		case common == nil:
			common = &field
		case common.off != field.off || common.size != field.size || common.parts[0].kind != field.parts[0].kind:
			return t
		}
	}
	if common == nil || tag.off != 0 || !isPair(tag, common.parts[0], common.off, t.size) {
		return t
	}
	t.form, t.parts = rustPair, []rustPart{tag, common.parts[0]}
	t.parts[1].off = common.off
	return t
}
