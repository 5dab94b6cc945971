package binary

import (
	"debug/dwarf"
	"runtime"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/prototypes"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usertypes"
)

// Functions of the C library as its headers have them, without debug information.
//
// The functions of the C library are called as its headers say it, whether there is debug information of it or not. A
// script that names an argument works on a machine with libc6-dbg as on one without. There debug information has more
// types, but other names (file for the pathname of open), and nothing of what glibc has in assembly (mkdir).

// inHeaders marks the places of types in what we know of the headers, beside those in the debug information of a file.
const inHeaders dwarf.Offset = 1 << 31

// asInHeaders is the signature of a function, by its debug information, as the headers of the C library have it: with
// their names, and as a whole where debug information does not say where each argument is.
func (f *Finder) asInHeaders(at *File, addr uint64, s *signature.Signature) *signature.Signature {
	table := f.prototypes(at)
	if table == nil {
		return s
	}
	said, err := table.Of(addr)
	if said == nil || err != nil {
		return s
	}
	if out, ok := s.Named(said); ok {
		return out
	}
	return said.Elsewhere(inHeaders)
}

// typesOfHeaders are the types of the headers of the C library.
func (f *Finder) typesOfHeaders(at *File, btf *kernel.BTF) *usertypes.Types {
	if f.headers == nil {
		f.headers = map[string]*usertypes.Types{}
	}
	if f.headers[at.Path] == nil {
		f.headers[at.Path] = usertypes.New(f.prototypes(at).Data(), btf)
	}
	return f.headers[at.Path]
}

// prototypes are the functions of a C library whose types we know ourselves, some hundred of them; nil of other files.
func (f *Finder) prototypes(at *File) *signature.Functions {
	t, known := f.tabled[at.Path]
	e := f.open[at.Path]
	if known || e == nil {
		return t
	}
	if name := e.LibraryName(); strings.HasPrefix(name, "libc.") || strings.HasPrefix(name, "libpthread.") ||
		strings.HasPrefix(name, "libdl.") {
		t = prototypesOf(e)
	}
	if f.tabled == nil {
		f.tabled = map[string]*signature.Functions{}
	}
	f.tabled[at.Path] = t
	return t
}

func prototypesOf(e *elffile.File) *signature.Functions {
	list, err := e.Functions()
	if err != nil {
		return nil
	}
	addresses := map[string]uint64{}
	for _, fn := range list {
		addresses[fn.Name] = fn.Addr
	}
	sections := prototypes.Sections(addresses)
	if sections == nil {
		return nil
	}
	d, err := dwarfinfo.Open(sections, dwarfinfo.Others{})
	if err != nil {
		return nil
	}
	return signature.New(runtime.GOARCH, d)
}
