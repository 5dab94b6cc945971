package kernel

import (
	"github.com/startrace/startrace/internal/abi"
)

// Where a function of the kernel has its arguments and its result, by BTF.

// Call gives where a function of the kernel has its arguments and its result, on an
// architecture by its GOARCH ("" is this machine); nil where nobody knows its types.
func (fn *Function) Call(arch string) *abi.Call {
	convention := abi.Of(orThis(arch))
	if fn.types == nil || convention == nil {
		return nil
	}
	var params []abi.Value
	for _, p := range fn.Params {
		params = append(params, fn.types.value(p.Type))
	}
	return convention.Assign(params, fn.types.value(fn.Ret))
}

// mostScalars bounds the size of a value that is taken apart: a larger one is in
// memory whatever it has.
const mostScalars = 64

// value takes a type apart for the ABI. What is damaged has no size.
func (b *BTF) value(id TypeID) abi.Value {
	size, err := b.Size(id)
	if err != nil {
		return abi.Value{}
	}
	v := abi.Value{Size: size}
	t, err := b.Type(b.Skip(id))
	if err != nil {
		return abi.Value{}
	}
	v.Composite = t.Kind == KindStruct || t.Kind == KindUnion || t.Kind == KindArray
	b.scalars(&v, id, 0, 0)
	v.Aligned()
	return v
}

// scalars adds what id has at off to v.
func (b *BTF) scalars(v *abi.Value, id TypeID, off, depth int) {
	t, err := b.Type(b.Skip(id))
	if err != nil || depth > maxNesting || len(v.Scalars) > mostScalars {
		return
	}
	add := func(off, size int, k abi.Class) {
		v.Scalars = append(v.Scalars, abi.Scalar{Off: off, Size: size, Kind: k})
	}
	switch t.Kind {
	case KindInt, KindEnum, KindPtr:
		add(off, t.Size, abi.Int)
	case KindFloat:
		add(off, t.Size, floatKind(t.Size))
	case KindStruct, KindUnion:
		for _, m := range t.Members {
			if m.BitSize == 0 {
				b.scalars(v, m.Type, off+m.Off, depth+1)
				continue
			}
			v.BitField(8*m.Off+int(m.Bit), int(m.BitSize), off)
		}
	case KindArray:
		each, err := b.Size(t.Elem)
		if err != nil {
			return
		}
		for i := range min(t.Len, mostScalars) {
			b.scalars(v, t.Elem, off+i*each, depth+1)
		}
	}
}

// maxNesting bounds the structs within structs, which damaged input can make loop.
const maxNesting = 16

// floatKind: the kernel has no long double, but a module's types might.
func floatKind(size int) abi.Class {
	if size > 8 {
		return abi.Long
	}
	return abi.Float
}
