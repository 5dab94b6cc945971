package unwind

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/python"
	"github.com/startrace/startrace/internal/wire"
)

// Which mapped code has rules: files, the vDSO, the page of uprobes.

// The names of code that the kernel itself maps.
const (
	vdsoName    = "[vdso]"
	uprobesName = "[uprobes]"
)

// contents are the bytes of a file.
type contents interface {
	io.Closer
	// open reads what it is.
	open() (*elffile.File, error)
	// pack gives its rules.
	pack(*elffile.File) (packedFile, []byte)
}

// source says which file some code is of, and how it is opened; nil: none that can have rules.
func source(c *Mapped) (id any, open func() (contents, error)) {
	switch {
	case c.Path == vdsoName:
		return vdso{c.End - c.Start}, func() (contents, error) { return vdso{c.End - c.Start}, nil }
	case c.Path == uprobesName:
		return uprobes{}, func() (contents, error) { return uprobes{}, nil }
	case c.File == nil || c.Open == nil:
		return nil, nil
	}
	return c.File, func() (contents, error) {
		f, err := c.Open()
		return ofFile{f}, err
	}
}

// ofFile is a file in a file system.
type ofFile struct{ *os.File }

func (f ofFile) open() (*elffile.File, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return elffile.Read(f.Name(), f, st.Size(), elffile.Options{})
}

func (f ofFile) pack(elf *elffile.File) (packedFile, []byte) { return packELF(elf) }

// packELF gives the rules of a file; none where it has none.
func packELF(f *elffile.File) (packedFile, []byte) {
	var p packedFile
	for _, s := range f.Segments() {
		if s.Code && s.Size > 0 {
			p.code = append(p.code, s)
		}
	}
	p.extent = extentOf(p.code)
	rows, err := cfi.Rows(f)
	if err != nil || len(rows) == 0 {
		return packedFile{}, nil
	}
	p.python = python.Of(f)
	return p, pack(rows, p.extent)
}

// vdso is the code that the kernel maps into every process. It is read out of our own; its size tells it from that of
// 32-bit programs.
type vdso struct{ size uint64 }

func (vdso) Close() error { return nil }

func (v vdso) open() (*elffile.File, error) {
	maps, err := mapping.Read("/proc/self")
	if err != nil {
		return nil, err
	}
	for _, m := range maps {
		if m.Path != vdsoName || m.End-m.Start != v.size {
			continue
		}
		mem, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, err
		}
		defer mem.Close()
		image := make([]byte, v.size)
		if _, err := mem.ReadAt(image, int64(m.Start)); err != nil {
			return nil, err
		}
		return elffile.Read(vdsoName, bytes.NewReader(image), int64(len(image)), elffile.Options{})
	}
	return nil, errors.New("this program has no such code")
}

func (v vdso) pack(elf *elffile.File) (packedFile, []byte) { return packELF(elf) }

// uprobes is the page in which the kernel runs the instructions that uprobes stand on (xol_add_vma of
// kernel/events/uprobes.c): the first ones of functions, where nothing lies on the stack but the return address. The
// beginning of the page is the code to which functions return whose return address the kernel has replaced.
type uprobes struct{}

func (uprobes) Close() error { return nil }

func (uprobes) open() (*elffile.File, error) { return &elffile.File{}, nil }

func (uprobes) pack(*elffile.File) (packedFile, []byte) {
	words := uint32(1)
	shift := wire.UnwindKindBits + wire.UnwindSavedBitsAMD64
	if runtime.GOARCH == "arm64" { // which returns by a register
		words, shift = 0, wire.UnwindKindBits+wire.UnwindSavedBitsARM64
	}
	p := packedFile{code: []elffile.Segment{{Size: wire.UnwindPage, Code: true}}}
	p.extent, p.before = extentOf(p.code), 1
	return p, pack([]cfi.Row{{Rule: wire.UnwindSignal | wire.UnwindOfReturn<<shift},
		{Addr: p.before, Rule: wire.UnwindSP | words<<shift}}, p.extent)
}
