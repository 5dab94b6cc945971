package elffile

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// How an ELF file is opened and checked, and its build id.

// Open opens a file; the path is opened as it stands, Root is for its debug
// files only. The caller closes it.
func Open(path string, opts Options) (*File, error) {
	f, size, err := regular(path)
	if err != nil {
		return nil, err
	}
	reader, err := heldBy(f, size)
	if err != nil {
		f.Close()
		return nil, formatError(path, err)
	}
	out, err := newFile(path, reader, size, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	out.closer = f
	return out, nil
}

// Read reads an ELF file that lies in memory, as the vDSO; path names it in
// errors.
func Read(path string, r io.ReaderAt, size int64, opts Options) (*File, error) {
	return newFile(path, r, size, opts)
}

func newFile(path string, r io.ReaderAt, size int64, opts Options) (*File, error) {
	first := make([]byte, min(size, 8))
	if _, err := r.ReadAt(first, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !strings.HasPrefix(string(first), elf.ELFMAG) {
		return nil, notELF(path, first)
	}
	parsed, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, formatError(path, err)
	}
	if want := opts.Machine; want != elf.EM_NONE && parsed.Machine != want {
		return nil, &ArchError{path, parsed.Machine, want}
	}
	f := &File{
		Path: path, Machine: parsed.Machine, Is32: parsed.Class == elf.ELFCLASS32, PIE: parsed.Type == elf.ET_DYN,
		elf: parsed, reader: r, size: size, opts: opts,
	}
	if err := f.checkRanges(); err != nil {
		return nil, err
	}
	f.BuildID = f.buildID()
	if s := f.elf.Section(".interp"); s != nil {
		text, err := f.section(s, 4096)
		if err == nil {
			f.Interp = strings.TrimRight(string(text), "\x00")
		}
	}
	return f, nil
}

// checkRanges finds files that end before their code and symbols do. The
// section headers stand at the end, so most of those that were cut are found
// before.
func (f *File) checkRanges() error {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD && !f.opts.companion && !within(p.Off, p.Filesz, f.size) {
			return f.truncated(fmt.Sprintf("the segment at %#x", p.Off))
		}
	}
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && !within(s.Offset, s.FileSize, f.size) {
			return f.truncated("section " + s.Name)
		}
	}
	return nil
}

// within says whether n bytes at off lie in a file of a size.
func within(off, n uint64, size int64) bool {
	return off <= uint64(size) && n <= uint64(size)-off
}

// buildID finds the note that names this build (NT_GNU_BUILD_ID).
func (f *File) buildID() string {
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_NOTE || s.Size > 1<<16 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		for note := range Notes(data, f.elf.ByteOrder, s.Addralign) {
			if note.Name == "GNU" && note.Type == 3 {
				return hex.EncodeToString(note.Desc)
			}
		}
	}
	return ""
}

// regularSize gives the size of a file that may be opened, else false.
func regularSize(path string) (int64, bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return 0, false
	}
	return st.Size(), true
}
