// Package dwarffile opens the debug information of ELF files, with what other files have of it: units in files of their
// own (.dwo), these packed together (.dwp), and what several programs share (dwz).
package dwarffile

import (
	"fmt"
	"io"
	"iter"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
)

// The debug information of an ELF file opened, with .dwo, .dwp and the file of dwz.

// An Opener opens debug information.
type Opener struct {
	// Program is the file with the code, and Debug the one that says where its debug information is: the same, or its
	// debug file.
	Program, Debug *elffile.File
	// Keep gets the files that were opened besides, to be closed when there are no more questions.
	Keep func(*elffile.File)
	// MostUnpacked bounds the bytes of sections that were compressed; 0: as elffile does, one by one.
	MostUnpacked int64

	unpacked int64
}

// A MissingError says that the file is not known that debug information shares with that of other programs.
type MissingError struct {
	// Name is the one that the debug information says, and Why is what is wrong: "is not there".
	dwarfinfo.Lost
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the program shares debug information with other programs in %s, which %s: install the package "+
		"that has it", e.Name, e.Why)
}

// Open prepares to read; nil where there is no debug information. Without the file that it shares with other programs
// it is a *MissingError: most types are there.
func (o *Opener) Open() (*dwarfinfo.Data, error) {
	shared, name, why := elffile.Others{File: o.Debug}.SharedFile()
	if shared == nil && name != "" {
		return nil, &MissingError{dwarfinfo.Lost{Name: name, Why: why}}
	}
	d, err := dwarfinfo.Open(o.sections(o.Debug), dwarfinfo.Others{
		Split: o.split,
		Package: func() dwarfinfo.Sections {
			program, debug := elffile.Others{File: o.Program}, elffile.Others{File: o.Debug}
			return o.first(append(program.PackageFiles(), debug.PackageFiles()...))
		},
		Shared: func() dwarfinfo.Sections { return o.kept(shared) },
	})
	if err == nil && d != nil && shared != nil && d.SharedWrong() != nil {
		return nil, &MissingError{dwarfinfo.Lost{Name: name, Why: elffile.Damaged}}
	}
	return d, err
}

// sections reads those of a file.
func (o *Opener) sections(f *elffile.File) dwarfinfo.Sections {
	return func(name string) (dwarfinfo.Section, error) {
		r, size, err := f.SectionReader(name)
		if _, inMemory := r.(io.WriterTo); inMemory && o.MostUnpacked > 0 {
			if o.unpacked += size; o.unpacked > o.MostUnpacked {
				return dwarfinfo.Section{}, dwarfinfo.ErrDamaged
			}
		}
		return dwarfinfo.Section{Reader: r, Size: size}, err
	}
}

// split are the files that may have the unit of a name, from a folder.
func (o *Opener) split(name, dir string) iter.Seq[dwarfinfo.Sections] {
	return func(yield func(dwarfinfo.Sections) bool) {
		tried := map[string]bool{}
		for _, f := range []*elffile.File{o.Program, o.Debug} {
			for _, path := range (elffile.Others{File: f}).SplitFiles(name, dir) {
				if tried[path] {
					continue
				}
				tried[path] = true
				if s := o.first([]string{path}); s != nil && !yield(s) {
					return
				}
			}
		}
	}
}

// first opens the first file that there is; nil: none. Of one that cannot be opened the sections are the error.
func (o *Opener) first(paths []string) (found dwarfinfo.Sections) {
	for _, path := range paths {
		f, err := elffile.Others{File: o.Debug}.Open(path)
		switch {
		case err != nil:
			found = func(string) (dwarfinfo.Section, error) { return dwarfinfo.Section{}, err }
		case f != nil:
			return o.kept(f)
		}
	}
	return found
}

func (o *Opener) kept(f *elffile.File) dwarfinfo.Sections {
	if f == nil {
		return nil
	}
	o.Keep(f)
	return o.sections(f)
}
