// Package elffile reads ELF files: their functions with names, addresses and
// places in the file, and what their makers left beside them (separate debug
// files, .gnu_debugdata, Go's tables).
//
// A file is opened once and then asked; what costs time (symbol tables,
// demangling, Go's tables) is read when first asked for. Addresses are those of
// the file, before loading; a uprobe wants an offset in the file, which
// Offset gives.
//
// Files are foreign data: sizes are bounded, what is wrong is an error of one
// of the kinds in errors.go, and nothing panics.
//
// A File holds the open file until Close, and belongs to one goroutine.
package elffile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// File, an open ELF file: its sections, segments, addresses and offsets, code.

// A File is an open ELF file.
type File struct {
	Path string // as it was opened
	// Machine is the one that the file is for.
	Machine elf.Machine
	BuildID string // in hex, "" if there is none
	// Is32 says that addresses have 32 bits.
	Is32 bool
	// PIE: the file is position-independent. Its addresses are relative to where it is loaded.
	PIE bool
	// Interp is the dynamic linker, "" of static programs and most libraries.
	Interp string

	// elf is the file as the standard library reads it.
	elf *elf.File
	// reader gives the bytes of the file, which are size many.
	reader io.ReaderAt
	size   int64
	// closer closes what reader reads; nil where the bytes are in memory.
	closer io.Closer
	// opts are those with which the file was opened.
	opts Options

	functions *functionTable    // of Functions
	bounds    []bounds          // of Bounded
	slots     map[uint64]uint64 // of Stub
	golang    *Go               // of Golang
	// golangRan says that golang was looked for, so that nil means none.
	golangRan bool
}

// Options say where a file's companions are found.
type Options struct {
	// Root is the root of the file's mount namespace, as /proc/77/root; "" for
	// our own. Debug files are looked for below it.
	Root string
	// Machine is that which the file must be for; EM_NONE takes any.
	Machine elf.Machine
	// DebugDirs hold separate debug files; nil is /usr/lib/debug.
	DebugDirs []string
	// companion: the program headers are those of the program, whose code the
	// file lacks.
	companion bool
}

// Size is how many bytes the file has.
func (f *File) Size() int64 { return f.size }

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

func (f *File) truncated(what string) error {
	return fmt.Errorf("%s is %w: %s lies behind its end (%d bytes); copy or build it anew", f.Path, ErrTruncated, what,
		f.size)
}

// section reads a section that may not be longer than most.
func (f *File) section(s *elf.Section, most uint64) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS {
		return nil, fmt.Errorf("%s: section %s has no bytes in the file", f.Path, s.Name)
	}
	if s.Size > most {
		return nil, fmt.Errorf("%s is %w: section %s has %d bytes, more than %d", f.Path, ErrMalformed, s.Name, s.Size,
			most)
	}
	b, err := s.Data()
	if err != nil {
		return nil, formatError(f.Path, err)
	}
	return b, nil
}

// Libraries gives the names of the shared libraries that the file asks for.
func (f *File) Libraries() ([]string, error) {
	names, err := f.elf.ImportedLibraries()
	if err != nil {
		return nil, formatError(f.Path, err)
	}
	return names, nil
}

// A Section is the bytes of a section and where they lie: Addr is the address of the first one when the file is loaded,
// Offset its place in the file, and Size their number. Data are the bytes; nil for a section that has none in the file
// (.bss).
type Section struct {
	Addr, Offset, Size uint64
	Data               []byte
}

// maxSection bounds what Section reads.
const maxSection = 64 << 20

// Section reads a section by name; false if there is none.
func (f *File) Section(name string) (Section, bool, error) {
	s := f.elf.Section(name)
	if s == nil {
		return Section{}, false, nil
	}
	out := Section{Addr: s.Addr, Offset: s.Offset, Size: s.Size}
	if s.Type == elf.SHT_NOBITS {
		return out, true, nil
	}
	var err error
	out.Data, err = f.section(s, maxSection)
	return out, true, err
}

// maxUnpacked bounds what a section that is compressed is unpacked to.
const maxUnpacked = 512 << 20

// SectionReader gives a section to be read in pieces, and its size in bytes; a size of 0 where there is none. One that
// is compressed is unpacked. Of a name of which a .dwo has several, one for each type, they stand one behind the other.
func (f *File) SectionReader(name string) (io.ReaderAt, int64, error) {
	s := f.elf.Section(name)
	if s == nil && strings.HasPrefix(name, ".debug_") {
		s = f.elf.Section(".z" + name[1:]) // as before SHF_COMPRESSED
	}
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, 0, nil
	}
	if strings.HasSuffix(name, ".dwo") {
		b, err := f.allNamed(name)
		return unpacked{bytes.NewReader(b), b}, int64(len(b)), err
	}
	if s.Flags&elf.SHF_COMPRESSED == 0 && s.Name == name {
		return s, int64(s.Size), nil
	}
	b, err := f.section(s, maxUnpacked)
	return unpacked{bytes.NewReader(b), b}, int64(len(b)), err
}

// allNamed are the bytes of all sections of a name, one behind the other.
func (f *File) allNamed(name string) (all []byte, err error) {
	for _, s := range f.elf.Sections {
		if s.Name != name || s.Type == elf.SHT_NOBITS {
			continue
		}
		b, err := f.section(s, maxUnpacked-uint64(len(all)))
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = b
		} else {
			all = append(all, b...)
		}
	}
	return all, nil
}

// unpacked is a section in memory.
type unpacked struct {
	*bytes.Reader
	all []byte
}

// Piece gives n bytes at an offset without copying them. They must lie in the section.
func (u unpacked) Piece(off, n int64) []byte { return u.all[off : off+n : off+n] }

// A CodeSection is a section that may be executed: its name, the address at which it is loaded, and its size.
type CodeSection struct {
	Name       string // ".text"
	Addr, Size uint64 // in bytes
}

// End is the address behind its last byte.
func (s CodeSection) End() uint64 { return s.Addr + s.Size }

// CodeSections gives those of the file by address. None reaches into the next, or behind the last address.
func (f *File) CodeSections() (out []CodeSection) {
	for _, s := range f.elf.Sections {
		if isCode(s) {
			out = append(out, CodeSection{s.Name, s.Addr, s.Size})
		}
	}
	slices.SortFunc(out, func(a, b CodeSection) int { return cmp.Compare(a.Addr, b.Addr) })
	for i := range out[:max(len(out)-1, 0)] {
		out[i].Size = min(out[i].Size, out[i+1].Addr-out[i].Addr)
	}
	return out
}

// A Segment is a part of the file that is loaded: from the byte Offset of the file to the address Addr.
type Segment struct {
	Addr, Offset, Size uint64 // Size is that in the file
	// Code: it may be executed.
	Code bool
}

// Segments gives the loaded parts in their order.
func (f *File) Segments() (out []Segment) {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD {
			out = append(out, Segment{p.Vaddr, p.Off, p.Filesz, p.Flags&elf.PF_X != 0})
		}
	}
	return out
}

// Offset gives the place in the file of an address: what uprobes are placed
// by.
func (f *File) Offset(addr uint64) (uint64, bool) {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// CodeOffset is Offset for an address of code. A part that is loaded as code can have the file's header and tables in
// it, too (gold, and -z noseparate-code): where the file names its sections, code is what these say.
func (f *File) CodeOffset(addr uint64) (uint64, bool) {
	for _, s := range f.Segments() {
		if s.Code && addr >= s.Addr && addr-s.Addr < s.Size {
			return addr - s.Addr + s.Offset, f.inCodeSection(addr)
		}
	}
	return 0, false
}

// inCodeSection reports whether a section of code has an address, or the file names none.
func (f *File) inCodeSection(addr uint64) bool {
	named := false
	for _, s := range f.elf.Sections {
		if isCode(s) {
			if named = true; addr >= s.Addr && addr-s.Addr < s.Size {
				return true
			}
		}
	}
	return !named
}

// isCode reports whether a section may be executed.
func isCode(s *elf.Section) bool {
	return s.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) == elf.SHF_ALLOC|elf.SHF_EXECINSTR && s.Size < ^s.Addr
}

// CodeRanges gives where code lies, for each part that is loaded as such: from the first address to behind the last.
func (f *File) CodeRanges() (out [][2]uint64) {
	sections := f.CodeSections()
	for _, s := range f.Segments() {
		if !s.Code {
			continue
		}
		r := [2]uint64{s.Addr, s.Addr + s.Size}
		outside := func(c CodeSection) bool { return c.Addr < r[0] || c.End() > r[1] }
		if inside := slices.DeleteFunc(slices.Clone(sections), outside); len(inside) > 0 {
			r = [2]uint64{inside[0].Addr, inside[len(inside)-1].End()}
		}
		out = append(out, r)
	}
	return out
}

// Addr gives the address of a place in the file, where it is loaded as code
// or, if not, as data.
func (f *File) Addr(offset uint64) (uint64, bool) {
	found, addr := false, uint64(0)
	for _, s := range f.Segments() {
		if offset < s.Offset || offset-s.Offset >= s.Size {
			continue
		}
		if addr = offset - s.Offset + s.Addr; s.Code {
			return addr, true
		}
		found = true
	}
	return addr, found
}

// Code reads n bytes at an address; fewer where the segment ends.
func (f *File) Code(addr, n uint64) ([]byte, error) { return CodeInto(nil, f, addr, n) }

// CodeInto is File.Code that reads into room, as far as that is large enough.
func CodeInto(room []byte, f *File, addr, n uint64) ([]byte, error) {
	for _, s := range f.Segments() {
		if addr < s.Addr || addr-s.Addr >= s.Size {
			continue
		}
		n = min(n, s.Size-(addr-s.Addr), maxSection)
		b := slices.Grow(room[:0], int(n))[:n]
		if _, err := f.reader.ReadAt(b, int64(addr-s.Addr+s.Offset)); err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
		return b, nil
	}
	return nil, fmt.Errorf("%s: %#x is %w", f.Path, addr, ErrNotCode)
}

// inRoot gives a path of the file's mount namespace as we open it.
func (f *File) inRoot(path string) string { return filepath.Join("/", f.opts.Root, path) }

// bounds are where a function begins and how long it is.
type bounds struct{ addr, size uint64 }

// Go is what a program says of the Go that built it.
type Go struct {
	Version string // "go1.26.1", "" if it does not say
	Module  string // the main package's path
	// RegisterABI: arguments are passed in registers: since 1.17 on amd64, 1.18
	// on arm64.
	RegisterABI bool
	// Start and End are where the code lies that Go compiled; the C code of a
	// program with cgo lies outside.
	Start, End uint64

	table []gosym.Func
	err   error // why there is no table
}

// Language says how a function is called.
type Language uint8

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }
