package elffile

import (
	"debug/elf"
	"fmt"
)

// Functions taken from a symbol table.

// add takes the functions of a symbol table that f's code has; from may be
// another file, whose program headers do not count.
func (f *File) add(t *functionTable, from *elf.File, kind elf.SectionType, origin Origin) error {
	s := from.SectionByType(kind)
	if s == nil || s.Size == 0 {
		return nil
	}
	if s.Size > maxTable || int(s.Link) < len(from.Sections) && from.Sections[s.Link].Size > maxTable {
		return fmt.Errorf("%s is %w: the size of its %v is %d bytes", f.Path, ErrMalformed, origin, s.Size)
	}
	read := from.Symbols
	if kind == elf.SHT_DYNSYM {
		read = from.DynamicSymbols
	}
	symbols, err := read()
	if err != nil {
		return formatError(f.Path, err)
	}
	for _, s := range symbols {
		kind := elf.ST_TYPE(s.Info)
		if kind != elf.STT_FUNC && kind != elf.STT_GNU_IFUNC || s.Section == elf.SHN_UNDEF || s.Name == "" {
			continue
		}
		if offset, ok := f.Offset(s.Value); ok {
			t.list = append(t.list, Function{
				Name: s.Name, Addr: s.Value, Size: s.Size, Offset: offset, From: origin,
				IFunc: kind == elf.STT_GNU_IFUNC, Local: elf.ST_BIND(s.Info) == elf.STB_LOCAL,
			})
		}
	}
	return nil
}
