package signature

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/gofunc"
)

// Arguments and results of functions of Go assigned by ABIInternal.

// mostWords bounds the words of a function of Go that are told: a large array on the stack is one word for
// each element. Those behind cannot be asked for.
const mostWords = 1024

// goSignature assigns the words of a function of Go by ABIInternal
// (cmd/compile/abi-internal.md, internal/abi/abiutils.go): a value goes into registers whole, a scalar each,
// or on the stack; later ones that are smaller may still find registers. Of values on
// the stack each scalar is a word, too, so that a value has as many words wherever it is. Results have all
// registers again, and their part of the stack behind that of the parameters.
func goSignature(convention *gofunc.ABI, params, results []dwarf.Type) *Signature {
	if convention == nil {
		return nil
	}
	a := &goAssigner{abi: convention}
	s := &Signature{}
	for _, t := range params {
		w, v, ok := a.next(t)
		if !ok {
			return nil
		}
		s.Params = append(s.Params, w...)
		s.Arguments = append(s.Arguments, v)
	}
	s.Params = s.Params[:min(len(s.Params), mostWords)]
	ints := a.ints
	s.more = func(n int) Word { return goPlace(convention.Argument(ints + n)) }
	a = &goAssigner{abi: convention, stack: upTo(a.stack, 8)}
	for _, t := range results {
		w, v, ok := a.next(t)
		if !ok {
			return nil
		}
		s.Result = append(s.Result, w...)
		s.Results = append(s.Results, v)
	}
	return s
}

func goPlace(p gofunc.Place) Word {
	if p.Register == "" {
		return Word{Place: abi.Place{Where: abi.Stack, Off: p.Offset, Bytes: 8}, Size: 8, Signed: true}
	}
	return Word{Place: abi.Place{Where: abi.Register, Name: p.Register, Bytes: 8}, Size: 8, Signed: true}
}

// A goAssigner gives out registers and the stack, from the first parameter or result on.
type goAssigner struct {
	abi          *gofunc.ABI
	ints, floats int // registers that are taken
	stack        int // bytes that are taken, behind abi.Stack
}

// next gives the words of the next value, and its places; false where its type is none that is known.
func (a *goAssigner) next(t dwarf.Type) ([]Word, Value, bool) {
	v := &goValue{registers: true, align: 1}
	if !v.add(t, 0, 0) {
		return nil, Value{}, false
	}
	if size := int(t.Size()); size == 0 || !v.registers || a.ints+v.ints > len(a.abi.Ints) ||
		a.floats+v.floats > a.abi.Floats {
		at := upTo(a.stack, v.align)
		a.stack = at + size
		for i := range v.words {
			w := &v.words[i]
			w.Off += a.abi.Stack + at
			if w.Where != abi.Other {
				w.Where = abi.Stack
			}
		}
		stack := abi.Place{Where: abi.Stack, Off: a.abi.Stack + at, Bytes: size}
		return v.words, Value{Pieces: []Piece{{Place: stack}}}, true
	}
	var out Value
	for i := range v.words {
		w := &v.words[i]
		at := w.Off
		w.Off = 0
		if w.Where == abi.Register {
			w.Name = a.abi.Ints[a.ints]
			a.ints++
		}
		piece := Piece{At: at, Place: w.Place}
		piece.Bytes = w.Size
		out.Pieces = append(out.Pieces, piece)
	}
	a.floats += v.floats
	return v.words, out, true
}

func upTo(n, align int) int { return (n + align - 1) / align * align }

// A goValue is a value that is taken apart: its scalars with their offsets, as if all were in registers.
type goValue struct {
	words        []Word
	ints, floats int
	align        int
	registers    bool // it may go there: it has no array of several elements
}

// scalar adds one at an offset. Those that nobody can ask for are counted only.
func (v *goValue) scalar(off, size int, signed, float bool) {
	w := Word{Size: size, Signed: signed, Place: abi.Place{Where: abi.Register, Off: off, Bytes: 8}}
	if float {
		w.Where = abi.Other
		v.floats++
	} else {
		v.ints++
	}
	v.align = max(v.align, min(size, 8))
	if len(v.words) < mostWords {
		v.words = append(v.words, w)
	}
}

// add adds the scalars of t at an offset of the value.
func (v *goValue) add(t dwarf.Type, off, depth int) bool {
	if depth > deepest {
		return false
	}
	size := int(t.Size())
	switch t := t.(type) {
	case *dwarf.FloatType:
		v.scalar(off, size, false, true)
	case *dwarf.ComplexType:
		v.scalar(off, size/2, false, true)
		v.scalar(off+size/2, size/2, false, true)
	case *dwarf.UintType, *dwarf.BoolType:
		v.scalar(off, size, false, false)
	case *dwarf.StructType:
		for _, m := range t.Field {
			if !v.add(m.Type, off+int(m.ByteOffset), depth+1) {
				return false
			}
		}
	case *dwarf.ArrayType:
		return v.array(t, off, depth)
	case *dwarf.IntType:
		v.scalar(off, size, true, false)
	case *dwarf.PtrType:
		v.scalar(off, 8, true, false)
	default:
		return false
	}
	return true
}

func (v *goValue) array(t *dwarf.ArrayType, off, depth int) bool {
	v.registers = v.registers && t.Count <= 1
	for i := range int(t.Count) {
		if !v.add(t.Type, off+i*int(t.Type.Size()), depth+1) {
			return false
		}
		if len(v.words) == mostWords {
			break
		}
	}
	return true
}
