package symbols

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A file has the functions of an ELF file by their addresses in it, and where
// its segments lie.
type file struct {
	segments []segment
	funcs    []function
}

type segment struct{ offset, size, vaddr uint64 }

type function struct {
	addr, size uint64
	name       string
}

// maxTable bounds a symbol table: those of the largest programs have some
// 100 MB.
const maxTable = 1 << 28

func openFile(name string) (*file, error) {
	// A mapped file that is a device or a pipe by now must not be opened.
	if st, err := os.Stat(name); err != nil {
		return nil, err
	} else if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := elf.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &file{}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			out.segments = append(out.segments, segment{p.Off, p.Filesz, p.Vaddr})
		}
	}
	for _, read := range []struct {
		kind    elf.SectionType
		symbols func() ([]elf.Symbol, error)
	}{{elf.SHT_SYMTAB, f.Symbols}, {elf.SHT_DYNSYM, f.DynamicSymbols}} {
		if s := f.SectionByType(read.kind); s == nil || s.Size > maxTable {
			continue
		}
		if list, err := read.symbols(); err == nil {
			out.add(list)
		} else if !errors.Is(err, elf.ErrNoSymbols) {
			return out, nil // what was read so far
		}
	}
	out.sort()
	return out, nil
}

func (f *file) add(list []elf.Symbol) {
	for _, s := range list {
		kind := elf.ST_TYPE(s.Info)
		if (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && s.Section != elf.SHN_UNDEF && s.Name != "" {
			f.funcs = append(f.funcs, function{s.Value, s.Size, s.Name})
		}
	}
}

// sort orders the functions; of several names for one address the last is
// found: one with a size, with few underscores in front.
func (f *file) sort() {
	slices.SortStableFunc(f.funcs, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.size, b.size),
			cmp.Compare(underscores(b.name), underscores(a.name)), cmp.Compare(b.name, a.name))
	})
}

func underscores(name string) int { return len(name) - len(strings.TrimLeft(name, "_")) }

// find gives the function at an offset of the file.
func (f *file) find(off uint64) (string, bool) {
	for _, s := range f.segments {
		if off >= s.offset && off-s.offset < s.size {
			return f.at(off - s.offset + s.vaddr)
		}
	}
	return "", false
}

// at gives the function at an address of the file. One without a size, of
// assembly, goes on to the next.
func (f *file) at(addr uint64) (string, bool) {
	i, found := slices.BinarySearchFunc(f.funcs, addr, func(fn function, addr uint64) int { return cmp.Compare(fn.addr, addr) })
	if found {
		for i+1 < len(f.funcs) && f.funcs[i+1].addr == addr {
			i++
		}
	} else if i--; i < 0 {
		return "", false
	}
	if fn := f.funcs[i]; fn.size == 0 || addr-fn.addr < fn.size {
		return fn.name, true
	}
	return "", false
}
