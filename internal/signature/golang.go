package signature

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/gofunc"
)

// goSignature assigns the words of a function of Go by ABIInternal
// (cmd/compile/abi-internal.md): a value goes into registers whole, a scalar each, or on
// the stack. Only registers are told here: from the first value on the stack on, the words
// are those that positions give.
func goSignature(convention *gofunc.ABI, params, results []dwarf.Type) *Signature {
	if convention == nil {
		return nil
	}
	a := &goAssigner{abi: convention}
	s := &Signature{}
	for _, t := range params {
		w, ok := a.take(t)
		if !ok {
			return nil
		}
		s.Params = append(s.Params, w...)
	}
	s.more = func(n int) Word { return goPlace(convention.Argument(a.ints + n)) }
	a = &goAssigner{abi: convention}
	for _, t := range results[:min(1, len(results))] {
		w, ok := a.take(t)
		if !ok {
			return nil
		}
		s.Result = w[:min(1, len(w))]
	}
	return s
}

func goPlace(p gofunc.Place) Word {
	if p.Register == "" {
		return Word{Place: abi.Place{Where: abi.Stack, Off: p.Offset, Bytes: 8}, Size: 8, Signed: true}
	}
	return Word{Place: abi.Place{Where: abi.Register, Name: p.Register, Bytes: 8}, Size: 8, Signed: true}
}

type goAssigner struct {
	abi          *gofunc.ABI
	ints, floats int
}

// take gives the registers of a value; false where it does not fit into those that are
// left.
func (a *goAssigner) take(t dwarf.Type) ([]Word, bool) {
	var out []Word
	if !a.scalar(t, &out, 0) || a.ints > len(a.abi.Ints) || a.floats > a.abi.Floats {
		return nil, false
	}
	return out, true
}

// scalar adds the words of t.
func (a *goAssigner) scalar(t dwarf.Type, out *[]Word, depth int) bool {
	t = bare(t)
	if depth > deepest || len(*out) > mostScalars {
		return false
	}
	add := func(size int, signed bool) {
		w := Word{Size: size, Signed: signed, Place: abi.Place{Where: abi.Register, Bytes: 8}}
		if a.ints < len(a.abi.Ints) {
			w.Name = a.abi.Ints[a.ints]
		}
		a.ints++
		*out = append(*out, w)
	}
	float := func() {
		a.floats++
		*out = append(*out, Word{Size: 8, Place: abi.Place{Where: abi.Other, Bytes: 8}})
	}
	switch t := t.(type) {
	case *dwarf.FloatType:
		float()
	case *dwarf.ComplexType:
		float()
		float()
	case *dwarf.UintType, *dwarf.UcharType, *dwarf.BoolType:
		add(int(t.Size()), false)
	case *dwarf.StructType:
		for _, m := range t.Field {
			if !a.scalar(m.Type, out, depth+1) {
				return false
			}
		}
	case *dwarf.ArrayType:
		return t.Count == 0 || t.Count == 1 && a.scalar(t.Type, out, depth+1)
	case *dwarf.IntType, *dwarf.CharType, *dwarf.EnumType:
		add(int(t.Size()), true)
	case *dwarf.PtrType, *dwarf.FuncType, *dwarf.AddrType, *dwarf.UnspecifiedType, *dwarf.UnsupportedType:
		add(8, true)
	default:
		return false
	}
	return true
}
