package signature

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/entryplace"
)

// Arguments and results of functions of C and C++ assigned by the ABI: words, floats, numbers of 128 bits.

// ofC assigns the parameters and the result by the ABI of C. Where a type is not one that C passes, OnlyResult is set;
// a result of such a type is unknown. The parameters are nil where their types are not known.
func (f *finder) ofC(params []dwarf.Type, named []Value, chain []*dwarfinfo.Entry) (*Signature, error) {
	result, returned, known, err := f.returned(chain)
	if err != nil {
		return nil, err
	}
	var values []abi.Value
	all := known && params != nil
	for _, t := range params {
		v, ok := f.value(t)
		all = all && ok
		values = append(values, v)
	}
	if !all {
		values = nil
	}
	convention := abi.Of(f.arch)
	call := convention.Assign(values, returned)
	s := &Signature{OnlyResult: !all, composite: returned.Composite, more: func(n int) Word {
		more := append([]abi.Value{}, values...)
		for range n + 1 {
			more = append(more, abi.Int.Value(8))
		}
		return Word{Place: convention.Assign(more, returned).Params[len(more)-1].Places[0], Size: 8, Signed: true}
	}}
	for i := range values {
		at := call.Params[i]
		named[i].verdict = entryplace.Judge(named[i].entry, at, convention.Base)
		named[i].dropped = named[i].dropped || f.drops() && named[i].verdict == entryplace.Moved
		list := words(params[i], values[i], at)
		for k, offset := 0, 0; k < len(list); k++ {
			gap := list[k].Where != abi.Other && named[i].inGap(offset, max(list[k].Bytes, 1))
			list[k].Unknown = list[k].Unknown || named[i].dropped || gap
			offset += list[k].Bytes
		}
		s.Params = append(s.Params, list...)
		s.Arguments = append(s.Arguments, Value{Pieces: pieces(values[i], at), Indirect: at.Indirect})
	}
	switch {
	case !known:
		s.Result = []Word{unknown}
	case returned.Size == 0 || emptyClass(returned):
		s.Void = true
	default:
		s.Result = words(result, returned, call.Result)
		s.Results = []Value{{Pieces: pieces(returned, call.Result), Indirect: call.Result.Indirect}}
	}
	return s, nil
}

// emptyClass reports whether v has nothing in it, though it has a size. What is in one of which the address is passed
// was not looked at.
func emptyClass(v abi.Value) bool { return v.Composite && !v.ByAddress && len(v.Scalars) == 0 }

// returned is the type of the result, as the ABI sees it; known is false for what C does not return.
func (f *finder) returned(chain []*dwarfinfo.Entry) (t dwarf.Type, v abi.Value, known bool, err error) {
	chain = f.deduced(chain)
	t, err = f.typeOf(chain)
	switch {
	case err != nil:
		return nil, v, false, err
	case t != nil:
		v, known = f.value(t)
	default: // a type in another file, as dwz makes one, is not known
		known = !slices.ContainsFunc(chain, func(e *dwarfinfo.Entry) bool { return e.Has(dwarf.AttrType) })
	}
	if !known {
		v = abi.Value{}
	}
	return t, v, known, nil
}

// deduced leaves out of a chain of origins declarations of C++ with a type that the definition is to tell (auto), as
// clang has of lambdas: a definition without a type returns nothing.
func (f *finder) deduced(chain []*dwarfinfo.Entry) []*dwarfinfo.Entry {
	return slices.DeleteFunc(slices.Clone(chain), func(e *dwarfinfo.Entry) bool {
		off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok || !e.Has(dwarf.AttrDeclaration) {
			return false
		}
		of, err := f.data.Entry(off)
		return err == nil && of != nil && of.Tag == dwarf.TagUnspecifiedType &&
			(of.Val(dwarf.AttrName) == "auto" || of.Val(dwarf.AttrName) == "decltype(auto)")
	})
}

// aFloat is a word that a program cannot read, and unknown one of which nobody knows where it is.
var (
	aFloat  = Word{Place: abi.Place{Where: abi.Other, Bytes: 8}, Size: 8}
	unknown = Word{Size: 8, Unknown: true}
)

// After is what is known of a function after an alteration. A result of several words is not known after any.
func (s *Signature) After(a Alteration) *Signature {
	if s == nil || a == Unchanged {
		return s
	}
	out := &Signature{Void: s.Void, OnlyResult: true, Result: s.Result, Results: slices.Clone(s.Results),
		Arguments: slices.Clone(s.Arguments)}
	for i := range out.Arguments {
		out.Arguments[i].Pieces = nil
	}
	if len(s.Result) > 1 || a == ChangedResult && !s.Void {
		out.Result = []Word{unknown}
		for i := range out.Results {
			out.Results[i].Pieces = nil
		}
	}
	return out
}

// words are those of a value of a type at its place. A float is one word, and one that
// cannot be read as what it is, also where it lies on the stack.
func words(t dwarf.Type, v abi.Value, l abi.Location) []Word {
	if len(l.Places) > 0 && !v.Composite && !l.Indirect && v.Scalars[0].Kind != abi.Int {
		return []Word{aFloat}
	}
	var out []Word
	off := 0
	for i, p := range l.Places {
		w := Word{Place: p, Size: min(p.Bytes, 8), Signed: !wideInt(v) || i > 0} // the sign is in the last word
		if !l.Indirect && floats(v, off, p.Bytes) {
			w.Where = abi.Other
		}
		off += p.Bytes
		switch t.(type) {
		case *dwarf.UintType, *dwarf.BoolType:
			w.Signed = false
		case *dwarf.PtrType:
			w.Address = true
		}
		if l.Indirect {
			w.Size, w.Address, w.Unknown = 8, true, p.Where == abi.Nowhere
		}
		if p.Where != abi.Nowhere || l.Indirect {
			out = append(out, w)
		}
	}
	return out
}

// wideInt reports whether v is an int of 128 bits, of which the first word is the lower half.
func wideInt(v abi.Value) bool {
	return !v.Composite && v.Size == 16 && len(v.Scalars) == 1 && v.Scalars[0].Kind == abi.Int
}

// clangBefore18 reports whether a producer is one of those that do not keep to the ABI with an __int128 that does not
// fit into registers: what is left of it begins at the next 8 bytes of the stack (LLVM's change D86310).
func clangBefore18(producer string) bool {
	_, text, found := strings.Cut(producer, "clang version ")
	var major int
	_, err := fmt.Sscanf(text, "%d.", &major)
	return found && err == nil && major < 18
}

// floats reports whether there is nothing but floats in some bytes of a value.
func floats(v abi.Value, off, size int) bool {
	some := false
	for _, s := range v.Scalars {
		if s.Off >= off+size || s.Off+s.Size <= off {
			continue
		}
		if some = true; s.Kind == abi.Int {
			return false
		}
	}
	return some
}

// value takes a type apart for the ABI of C.
func (f *finder) value(t dwarf.Type) (abi.Value, bool) {
	v := abi.Value{Size: int(t.Size())}
	switch t := t.(type) {
	case *dwarf.VoidType:
		return abi.Value{}, true
	case *dwarf.StructType:
		v.Composite, v.ByAddress = true, t.Kind == byAddress
		if t.Incomplete || v.ByAddress {
			return v, !t.Incomplete
		}
	case *dwarf.ArrayType:
		return v, false // C passes none
	}
	ok := f.scalars(&v, t, 0, 0)
	if v.Size > 0 && len(v.Scalars) == 0 && !f.cpp() {
		return v, false // of bit-fields without names, which compilers pass in different ways
	}
	v.Align, v.Apart = f.alignmentOf(t), wideInt(v) && f.arch == "amd64" && clangBefore18(f.producer())
	return v, ok && v.Size >= 0
}

// mostScalars bounds what is taken apart: a larger value is in memory whatever it has.
const mostScalars, deepest = 64, 16

// scalars adds what t has at off to v; false for what C has not.
func (f *finder) scalars(v *abi.Value, t dwarf.Type, off, depth int) bool {
	size := int(t.Size())
	if depth > deepest || len(v.Scalars) > mostScalars {
		return depth <= deepest
	}
	add := func(off, size int, k abi.Class) {
		v.Scalars = append(v.Scalars, abi.Scalar{Off: off, Size: size, Kind: k})
	}
	switch t := t.(type) {
	case *dwarf.PtrType:
		add(off, 8, abi.Int)
	case *dwarf.FloatType:
		add(off, size, f.floatKind(t.Name, size))
	case *dwarf.ComplexType:
		add(off, size/2, f.floatKind(t.Name, size/2))
		add(off+size/2, size/2, f.floatKind(t.Name, size/2))
	case *dwarf.StructType:
		from := len(v.Scalars)
		ok := !t.Incomplete && f.members(v, t, off, depth)
		if depth > 0 && from < len(v.Scalars) {
			v.Groups = append(v.Groups, abi.Group{From: from, To: len(v.Scalars)})
		}
		return ok
	case *dwarf.ArrayType:
		for i := range min(int(t.Count), mostScalars) {
			if !f.scalars(v, t.Type, off+i*int(t.Type.Size()), depth+1) {
				return false
			}
		}
		return t.Count >= 0
	case *dwarf.IntType, *dwarf.UintType, *dwarf.BoolType:
		add(off, size, abi.Int)
	default:
		return false
	}
	return true
}

// members adds those of a struct.
func (f *finder) members(v *abi.Value, s *dwarf.StructType, off, depth int) bool {
	for _, m := range s.Field {
		if m.BitSize != 0 {
			v.BitField(int(firstBit(m)), int(m.BitSize), off)
			continue
		}
		if !f.scalars(v, m.Type, off+int(m.ByteOffset), depth+1) {
			return false
		}
	}
	return true
}

// firstBit is where a bit-field begins in its struct, from the lowest bit. Before DWARF 5, a bit-field is told by the
// unit that it lies in, and how far its highest bit is from that of the unit; in a packed struct it can be beyond
// (DW_AT_bit_offset, section 5.5.6 of version 3).
func firstBit(m *dwarf.StructField) int64 {
	switch {
	case m.DataBitOffset != 0:
		return m.DataBitOffset
	case m.ByteSize == 0:
		return 8 * m.ByteOffset
	}
	return 8*(m.ByteOffset+m.ByteSize) - m.BitOffset - m.BitSize
}

// floatKind: a long double of amd64 is one of the old floating-point unit, _Float128 is none.
func (f *finder) floatKind(name string, size int) abi.Class {
	switch {
	case name == vectorName:
		return abi.Vector
	case size <= 8:
		return abi.Float
	case f.arch == "amd64" && !strings.Contains(name, "128"):
		return abi.Long
	}
	return abi.Quad
}
