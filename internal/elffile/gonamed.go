package elffile

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// GoNamed gives the functions of some names by address, as far as Go's table has them. The table of a large program has
// as many bytes as its code. Of a file whose functions nobody has asked for it is read in pieces, and nothing of it is
// kept.
func GoNamed(f *File, names []string) []Function {
	if section := f.goTableSection(); !f.golangRan && section != nil && section.Type != elf.SHT_NOBITS &&
		section.Flags&elf.SHF_COMPRESSED == 0 {
		if text, sure := f.goText(section.Addr); sure {
			table := &goTable{window: window{from: section, size: section.Size}, text: text, file: f}
			if found, err := table.named(names); err == nil {
				return found
			}
		}
	}
	if golang, ok := f.Golang(); ok {
		return golang.Named(names)
	}
	return nil
}

// A goTable reads .gopclntab as Go has it since 1.18 (Go's src/internal/abi/symtab.go, src/debug/gosym/pclntab.go).
type goTable struct {
	window
	text uint64
	file *File
}

// errOtherGoTable is what is said of tables that are read by the standard library.
var errOtherGoTable = errors.New("another form of table")

const (
	goTableWord = 8
	// goTableHeader is the magic number, four bytes that say how large words are, and eight words.
	goTableHeader = 8 + 8*goTableWord
	// The words that matter here, by their number.
	goCountWord, goNamesWord, goUnitsWord, goFunctionsWord = 0, 3, 4, 7
	// goEntry is a pair of offsets of 32 bits, of the code and of the description of a function. That begins with
	// another pair: the code again, and the name.
	goEntry = 8
)

// named gives the functions of some names. The offsets of the names are looked for first, so that the name of no other
// function is read.
func (g *goTable) named(names []string) (out []Function, err error) {
	header, err := g.bytes(0, goTableHeader)
	if err != nil {
		return nil, err
	}
	order := g.file.elf.ByteOrder
	if magic := order.Uint32(header); magic != goTableMagic118 && magic != goTableMagic120 || header[7] != goTableWord {
		return nil, errOtherGoTable
	}
	word := func(i int) uint64 { return order.Uint64(header[8+i*goTableWord:]) }
	count, functions := word(goCountWord), word(goFunctionsWord)
	if count > g.size/goEntry {
		return nil, fmt.Errorf("%w: %d functions", ErrMalformed, count)
	}
	byName, err := g.places(names, word(goNamesWord), word(goUnitsWord))
	if err != nil || len(byName) == 0 {
		return nil, err
	}
	described := window{from: g.from, size: g.size}
	for i := range count {
		b, err := g.bytes(functions+i*goEntry, goEntry+goEntry/2)
		if err != nil {
			return nil, err
		}
		begin, at, end := order.Uint32(b), order.Uint32(b[4:]), order.Uint32(b[8:])
		if b, err = described.bytes(functions+uint64(at), goEntry); err != nil {
			return nil, err
		}
		if name := byName[order.Uint32(b[4:])]; name != "" && end > begin {
			out = append(out, Function{Name: name, Addr: g.text + uint64(begin), Size: uint64(end - begin),
				From: FromGoTable})
		}
	}
	slices.SortFunc(out, func(a, b Function) int { return cmp.Compare(a.Addr, b.Addr) })
	return out, nil
}
