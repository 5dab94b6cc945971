package elffile

import (
	"debug/elf"
	"encoding/binary"
	"iter"
	"strings"
)

// Notes of ELF files: name, type, bytes.

// A Note is an entry of a note section: Name says whose it is ("GNU", "stapsdt"), Type is a number that the owner has
// chosen, and Desc has the bytes of the description.
type Note struct {
	Name string
	Type uint32
	Desc []byte
}

// Notes gives the notes of a section (elf(5)): three words (sizes of name and
// description, type), then both, each padded to 4 bytes, or to 8 in sections of
// that alignment. A note that does not fit ends them.
func Notes(data []byte, order binary.ByteOrder, align uint64) iter.Seq[Note] {
	pad := uint64(4)
	if align == 8 {
		pad = 8
	}
	return func(yield func(Note) bool) {
		for len(data) >= 12 {
			nameSize, descSize := uint64(order.Uint32(data)), uint64(order.Uint32(data[4:]))
			desc := roundUp(12+nameSize, pad)
			end := desc + descSize
			if 12+nameSize > uint64(len(data)) || end > uint64(len(data)) {
				return
			}
			note := Note{strings.TrimRight(string(data[12:12+nameSize]), "\x00"), order.Uint32(data[8:]),
				data[desc:end]}
			if !yield(note) {
				return
			}
			data = data[min(roundUp(end, pad), uint64(len(data))):]
		}
	}
}

// Notes gives the notes of a section by its name.
func (f *File) Notes(section string) ([]Note, error) {
	s := f.elf.Section(section)
	if s == nil {
		return nil, nil
	}
	data, err := f.section(s, maxSection)
	if err != nil {
		return nil, err
	}
	var out []Note
	for note := range Notes(data, f.elf.ByteOrder, s.Addralign) {
		out = append(out, note)
	}
	return out, nil
}

// ByteOrder is the order of the file's words.
func (f *File) ByteOrder() binary.ByteOrder { return f.elf.ByteOrder }

// Variables gives the addresses of the file's variables by name; where
// static ones share a name, none.
func (f *File) Variables() map[string]uint64 {
	out, twice := map[string]uint64{}, map[string]bool{}
	for _, read := range []func() ([]elf.Symbol, error){f.elf.Symbols, f.elf.DynamicSymbols} {
		symbols, err := read()
		if err != nil {
			continue // a stripped file
		}
		for _, s := range symbols {
			kind := elf.ST_TYPE(s.Info)
			if kind != elf.STT_OBJECT && kind != elf.STT_NOTYPE || s.Section == elf.SHN_UNDEF || s.Name == "" {
				continue
			}
			if addr, known := out[s.Name]; known && addr != s.Value {
				twice[s.Name] = true
			}
			out[s.Name] = s.Value
		}
	}
	for name := range twice {
		delete(out, name)
	}
	return out
}
