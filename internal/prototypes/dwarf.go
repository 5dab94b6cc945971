package prototypes

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
)

// The table of functions of C as debug information.

// The abbreviations of the entries, by their numbers. Each attribute is written with its form.
const (
	aUnit = 1 + iota
	aBase
	aTypedef
	aPointer
	aAddress // a pointer to nobody knows what
	aStruct  // which is only declared
	aFunction
	aProcedure // a function without a result
	aParam
	aMore
	aType // of functions
)

// abbrevs are these: a number, the tag, whether there are children, and pairs of an attribute and its form.
var abbrevs = []byte{
	aUnit, 0x11, 1, 0x25, 0x08, 0x13, 0x0b, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0,
	aBase, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0,
	aTypedef, 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0,
	aPointer, 0x0f, 0, 0x0b, 0x0b, 0x49, 0x13, 0, 0,
	aAddress, 0x0f, 0, 0x0b, 0x0b, 0, 0,
	aStruct, 0x13, 0, 0x03, 0x08, 0x3c, 0x19, 0, 0,
	aFunction, 0x2e, 1, 0x3f, 0x19, 0x03, 0x08, 0x27, 0x19, 0x11, 0x01, 0x12, 0x07, 0x49, 0x13, 0, 0,
	aProcedure, 0x2e, 1, 0x3f, 0x19, 0x03, 0x08, 0x27, 0x19, 0x11, 0x01, 0x12, 0x07, 0, 0,
	aParam, 0x05, 0, 0x03, 0x08, 0x49, 0x13, 0, 0,
	aMore, 0x18, 0, 0, 0,
	aType, 0x15, 0, 0x27, 0x19, 0, 0,
	0,
}

// A writer writes the entries of a unit.
type writer struct {
	bytes.Buffer
	// types are where those stand that were written, by their text.
	types map[string]uint32
}

// Sections gives the debug information of the functions of a library that the table has, by where they begin; nil where
// it has none of them.
func Sections(addresses map[string]uint64) dwarfinfo.Sections {
	first, last := ^uint64(0), uint64(0)
	var list []ctypes.Prototype
	seen := map[uint64]bool{} // of several names of one function the first
	for _, p := range All() {
		if addr, ok := addresses[p.Name]; ok && !seen[addr] {
			first, last, seen[addr] = min(first, addr), max(last, addr), true
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	w := &writer{types: map[string]uint32{}}
	w.Write([]byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, aUnit}) // a unit of DWARF 4 and its first entry
	w.text("GNU C17 prototypes -g -O2")
	w.WriteByte(0x0c) // DW_LANG_C99
	w.text("libc.h")
	w.number(first)
	w.number(last - first + 1)
	for _, p := range list {
		w.function(p, addresses[p.Name])
	}
	w.WriteByte(0)
	info := w.Bytes()
	binary.LittleEndian.PutUint32(info, uint32(len(info)-4))
	return func(name string) (dwarfinfo.Section, error) {
		b := map[string][]byte{".debug_info": info, ".debug_abbrev": abbrevs}[name]
		return dwarfinfo.Section{Reader: bytes.NewReader(b), Size: int64(len(b))}, nil
	}
}

func (w *writer) text(s string) { w.WriteString(s); w.WriteByte(0) }

func (w *writer) number(n uint64) { w.Write(binary.LittleEndian.AppendUint64(nil, n)) }

func (w *writer) reference(to uint32) { w.Write(binary.LittleEndian.AppendUint32(nil, to)) }

// function writes a function, and before it the types that it needs.
func (w *writer) function(p ctypes.Prototype, addr uint64) {
	result := uint32(0)
	if p.Result != "void" {
		result = w.typ(p.Result)
	}
	params := make([]uint32, len(p.Params))
	for i, param := range p.Params {
		params[i] = w.typ(param.Type)
	}
	code := byte(aFunction)
	if result == 0 {
		code = aProcedure
	}
	w.WriteByte(code)
	w.text(p.Name)
	w.number(addr)
	w.number(1)
	if result != 0 {
		w.reference(result)
	}
	for i, param := range p.Params {
		w.WriteByte(aParam)
		w.text(param.Name)
		w.reference(params[i])
	}
	if p.More {
		w.WriteByte(aMore)
	}
	w.WriteByte(0)
}

// typ writes a type, if it is not there, and gives where it stands.
func (w *writer) typ(text string) uint32 {
	if at, known := w.types[text]; known {
		return at
	}
	of := uint32(0)
	to, isPointer := strings.CutSuffix(text, "*")
	to = strings.TrimSpace(to)
	switch {
	case isPointer && to != "void":
		of = w.typ(to)
	case standsFor(text) != "":
		of = w.typ(standsFor(text))
	}
	at := uint32(w.Len())
	w.types[text] = at
	n, isNumber := number(text)
	switch {
	case text == "function":
		w.WriteByte(aType)
	case isPointer && of == 0:
		w.Write([]byte{aAddress, 8})
	case isPointer:
		w.Write([]byte{aPointer, 8})
		w.reference(of)
	case of != 0:
		w.WriteByte(aTypedef)
		w.text(text)
		w.reference(of)
	case isNumber:
		w.WriteByte(aBase)
		w.text(text)
		w.Write([]byte{byte(n.Size), encoding(n)})
	default:
		w.WriteByte(aStruct)
		w.text(strings.TrimPrefix(text, "struct "))
	}
	return at
}

// encoding is how a number is written (DW_ATE_…).
func encoding(n kernel.Type) byte {
	switch {
	case n.Kind == kernel.KindFloat:
		return 0x04
	case n.Name == "char":
		return 0x06
	case n.Signed:
		return 0x05
	}
	return 0x07
}
