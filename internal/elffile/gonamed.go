package elffile

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// Functions of some names in Go's table, without reading it whole.

// GoNamed gives the functions of some names by address, as far as Go's table has them. The table of a large program has
// as many bytes as its code. Of a file whose functions nobody has asked for it is read in pieces, and nothing of it is
// kept.
func GoNamed(f *File, names []string) []Function {
	if table := goTableInPieces(f); table != nil && !f.golangRan {
		if found, err := table.named(names); err == nil {
			return found
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

// goTableInPieces gives the table of a file, nil where it has none that can be read so.
func goTableInPieces(f *File) *goTable {
	section := f.goTableSection()
	if section == nil || section.Type == elf.SHT_NOBITS || section.Flags&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	text, sure := f.goText(section.Addr)
	if !sure {
		return nil
	}
	return &goTable{window: window{from: section, size: section.Size}, text: text, file: f}
}

// errOtherGoTable is what is said of tables that are read by the standard library.
var errOtherGoTable = errors.New("another form of table")

const (
	goTableWord = 8
	// goTableHeader is the magic number, four bytes that say how large words are, and eight words.
	goTableHeader = 8 + 8*goTableWord
	// The words that matter here, by their number.
	goCountWord, goNamesWord, goUnitsWord, goValuesWord, goFunctionsWord = 0, 3, 4, 6, 7
	// goEntry is a pair of offsets of 32 bits, of the code and of the description of a function. That begins with
	// another pair: the code again, and the name.
	goEntry = 8
)

// named gives the functions of some names. The offsets of the names are looked for first, so that the name of no other
// function is read.
func (g *goTable) named(names []string) (out []Function, err error) {
	h, err := g.header()
	if err != nil {
		return nil, err
	}
	byName, err := g.places(names, h.names, h.units)
	if err != nil || len(byName) == 0 {
		return nil, err
	}
	order := g.file.elf.ByteOrder
	err = g.each(h, goEntry, func(begin, end uint64, described []byte) {
		if name := byName[order.Uint32(described[4:])]; name != "" {
			out = append(out, Function{Name: name, Addr: begin, Size: end - begin, From: FromGoTable})
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Function) int { return cmp.Compare(a.Addr, b.Addr) })
	return out, nil
}

// A goHeader says how many functions a table has, and where its parts begin: the names, what follows them, the values
// by code (frames, lines), and the functions.
type goHeader struct {
	count, names, units, values, functions uint64
	// step is the unit in which code advances.
	step uint64
	// flags is which byte of a function's description has its flags.
	flags uint64
}

// header reads what a table begins with.
func (g *goTable) header() (h goHeader, err error) {
	header, err := g.bytes(0, goTableHeader)
	if err != nil {
		return h, err
	}
	order := g.file.elf.ByteOrder
	if magic := order.Uint32(header); magic != goTableMagic118 && magic != goTableMagic120 || header[7] != goTableWord {
		return h, errOtherGoTable
	}
	word := func(i int) uint64 { return order.Uint64(header[8+i*goTableWord:]) }
	h = goHeader{count: word(goCountWord), names: word(goNamesWord), units: word(goUnitsWord),
		values: word(goValuesWord), functions: word(goFunctionsWord), step: uint64(header[6]), flags: goFlags}
	if order.Uint32(header) == goTableMagic118 {
		h.flags -= 4 // where the line of the function is since
	}
	if h.count > g.size/goEntry {
		return h, fmt.Errorf("%w: %d functions", ErrMalformed, h.count)
	}
	return h, nil
}

// each calls with where a function begins and ends, padding included, and with some bytes of its description.
func (g *goTable) each(h goHeader, bytes uint64, call func(begin, end uint64, described []byte)) error {
	order := g.file.elf.ByteOrder
	described := window{from: g.from, size: g.size}
	for i := range h.count {
		b, err := g.bytes(h.functions+i*goEntry, goEntry+goEntry/2)
		if err != nil {
			return err
		}
		begin, at, end := order.Uint32(b), order.Uint32(b[4:]), order.Uint32(b[8:])
		if b, err = described.bytes(h.functions+uint64(at), bytes); err != nil {
			return err
		}
		if end > begin {
			call(g.text+uint64(begin), g.text+uint64(end), b)
		}
	}
	return nil
}
