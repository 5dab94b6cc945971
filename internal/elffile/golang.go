package elffile

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"go/version"
	"slices"
	"strings"
)

// Whether Go built a file, which release, and in which language a function is written (`Language`).

const (
	LanguageC         Language = iota // the ABI of C; also C++, Rust
	LanguageGo                        // Go's ABI with registers
	LanguageGoOnStack                 // Go before 1.17, and assembly: arguments and results on the stack
)

// What .gopclntab begins with, by the release that brought it (Go's
// src/internal/abi/symtab.go), and where it lies.
const (
	goTableMagic12     = 0xfffffffb
	goTableMagic116    = 0xfffffffa
	goTableMagic118    = 0xfffffff0
	goTableMagic120    = 0xfffffff1
	maxGoTable         = 512 << 20
	goTableSection     = ".gopclntab"
	goTableRelroPrefix = ".data.rel.ro"
)

// Golang says whether Go built the file: no return probe may ever be placed in
// it, since Go moves stacks and walks them.
func (f *File) Golang() (*Go, bool) {
	if !f.golangRan {
		f.golangRan = true
		f.golang = f.readGolang()
	}
	return f.golang, f.golang != nil
}

func (f *File) goTableSection() *elf.Section {
	if s := f.elf.Section(goTableSection); s != nil {
		return s
	}
	return f.elf.Section(goTableRelroPrefix + goTableSection) // of PIE
}

func (f *File) readGolang() *Go {
	section := f.goTableSection()
	if section == nil && f.elf.Section(".go.buildinfo") == nil && f.elf.Section(".note.go.buildid") == nil {
		return nil
	}
	out := &Go{}
	if info, err := buildinfo.Read(f.reader); err == nil {
		out.Version, out.Module = releaseName(info.GoVersion), info.Path
	}
	magic := uint32(0)
	if section != nil {
		magic, out.err = f.readGoTable(out, section)
	} else {
		out.err = fmt.Errorf("%s is %w: it has no %s", f.Path, ErrMalformed, goTableSection)
	}
	out.RegisterABI = registerABI(out.Version, magic, f.Machine)
	return out
}

// releaseName takes what stands behind the release: "go1.26.1 X:regabi".
func releaseName(text string) string {
	text, _, _ = strings.Cut(text, " ")
	return text
}

// registerABI decides by the release, else by the form of the table: that of
// 1.17 is still that of 1.16.
func registerABI(release string, magic uint32, machine elf.Machine) bool {
	switch {
	case machine != elf.EM_X86_64 && machine != elf.EM_AARCH64:
		return false
	case version.IsValid(release) && machine == elf.EM_AARCH64:
		return version.Compare(release, "go1.18") >= 0
	case version.IsValid(release):
		return version.Compare(release, "go1.17") >= 0
	case release != "": // "devel +1234": built from a checkout
		return magic != goTableMagic12 && magic != goTableMagic116
	}
	return magic == goTableMagic118 || magic == goTableMagic120
}

// readGoTable reads the functions of .gopclntab; strip leaves it, as Go's
// runtime needs it.
func (f *File) readGoTable(out *Go, section *elf.Section) (magic uint32, err error) {
	data, err := f.section(section, maxGoTable)
	if err != nil {
		return 0, err
	}
	if len(data) < 16 {
		return 0, fmt.Errorf("%s is %w: %s is too short", f.Path, ErrMalformed, goTableSection)
	}
	magic = f.elf.ByteOrder.Uint32(data)
	if n := goFunctionCount(data); n > uint64(len(data))/goEntry {
		return magic, fmt.Errorf("%s is %w: %s of %d bytes has %d functions", f.Path, ErrMalformed, goTableSection,
			len(data), n)
	}
	text, sure := f.goText(section.Addr)
	list, err := goFunctions(data, text)
	if err != nil {
		return magic, fmt.Errorf("%s is %w: %s: %w", f.Path, ErrMalformed, goTableSection, err)
	}
	if !sure && !f.startsIn(list) {
		return magic, fmt.Errorf("%s: where its Go code begins is not known (stripped, and linked by a C linker)",
			f.Path)
	}
	out.table = list
	if n := len(out.table); n > 0 {
		out.Start, out.End = out.table[0].Entry, out.table[n-1].End
	}
	return magic, nil
}

// goFunctionCount is how many functions a table says that it has, for which the standard library's reader makes room
// before it reads them; 0 of what is no table. data has 16 bytes at least.
func goFunctionCount(data []byte) uint64 {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch order.Uint32(data) {
		case goTableMagic12, goTableMagic116, goTableMagic118, goTableMagic120:
			if data[7] == 4 {
				return uint64(order.Uint32(data[8:]))
			}
			return uint64(uint32(order.Uint64(data[8:]))) // which takes no more of it
		}
	}
	return 0
}

// goFunctions calls the standard library's reader, which answers some
// malformed tables with a panic.
func goFunctions(data []byte, text uint64) (list []gosym.Func, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			list, err = nil, fmt.Errorf("unreadable: %v", problem)
		}
	}()
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text))
	if err != nil {
		return nil, err
	}
	return table.Funcs, nil
}

// Named gives the functions of some names by address, as far as Go's table has them.
func (g *Go) Named(names []string) (out []Function) {
	for _, fn := range g.table {
		if fn.Sym != nil && fn.End > fn.Entry && slices.Contains(names, fn.Name) {
			out = append(out, Function{Name: fn.Name, Addr: fn.Entry, Size: fn.End - fn.Entry, From: FromGoTable})
		}
	}
	slices.SortFunc(out, func(a, b Function) int { return cmp.Compare(a.Addr, b.Addr) })
	return out
}

func (f *File) addGoTable(t *functionTable) error {
	info, ok := f.Golang()
	if !ok {
		return nil
	}
	for _, fn := range info.table {
		offset, ok := f.Offset(fn.Entry)
		if !ok || fn.Sym == nil || fn.End < fn.Entry {
			continue
		}
		t.list = append(t.list, Function{Name: fn.Name, Addr: fn.Entry, Size: fn.End - fn.Entry, Offset: offset,
			From: FromGoTable})
	}
	return info.err
}

// Language gives how a function is called. In a Go program, the linker marks
// assembly (ABI0) by a suffix where Go code also calls it, through a wrapper
// of the plain name.
func (f *File) Language(fn Function) Language {
	info, ok := f.Golang()
	switch {
	case !ok || info.End > 0 && (fn.Addr < info.Start || fn.Addr >= info.End):
		return LanguageC
	case !info.RegisterABI || strings.HasSuffix(fn.Name, ".abi0"):
		return LanguageGoOnStack
	}
	return LanguageGo
}

func (l Language) String() string {
	return [...]string{"C", "Go", "Go, on the stack"}[l]
}
