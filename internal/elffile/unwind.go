package elffile

import (
	"debug/elf"
	"slices"
	"strings"
)

// Whether exceptions of C++ or Rust pass through a file's functions, and its short facts: library's name, entry.

// personalities are the functions that say what is to be done in a frame when
// an exception of C++ or a panic of Rust passes.
var personalities = map[string]bool{"__gxx_personality_v0": true, "rust_eh_personality": true}

// Unwinds says whether exceptions pass through the file's functions: they are
// carried by return addresses, so none of these may be replaced by a return
// probe's. The program would end: the unwinder finds no function there. A file
// that was stripped tells by its table of what exceptions do.
func (f *File) Unwinds() bool {
	unwinds := func(s elf.Symbol) bool { return personalities[s.Name] || legacyRust(s.Name) }
	dynamic, _ := f.elf.DynamicSymbols() // it may have no such table
	symbols, err := f.elf.Symbols()
	if slices.ContainsFunc(dynamic, unwinds) || slices.ContainsFunc(symbols, unwinds) {
		return true
	}
	return err != nil && f.elf.Section(".gcc_except_table") != nil && !ofCLibrary(f)
}

// ofCLibrary reports whether the file is one of the GNU C library, which has a table of exceptions for the ends of
// threads only. A program that is linked with it statically has that table, too, and its symbols tell, unless it was
// stripped.
func ofCLibrary(f *File) bool {
	name := f.LibraryName()
	return strings.HasPrefix(name, "libc.so") || strings.HasPrefix(name, "libpthread.so") ||
		strings.HasPrefix(name, "ld-")
}

// LibraryName is the name by which programs ask for the file, as "libc.so.6"; "" where it has none.
func (f *File) LibraryName() string {
	names, err := f.elf.DynString(elf.DT_SONAME)
	if err != nil || len(names) != 1 {
		return ""
	}
	return names[0]
}

// legacyRust: names that rustc mangles itself have the crate's hash.
func legacyRust(name string) bool {
	const suffix = "17h0123456789abcdefE"
	return len(name) > len(suffix) && name[:3] == "_ZN" && name[len(name)-len(suffix):][:3] == "17h" &&
		name[len(name)-1] == 'E'
}

// Entry is the address at which the program begins, 0 of libraries.
func (f *File) Entry() uint64 { return f.elf.Entry }

// Parts are the parts of a function that the compiler has moved away from it.
func (f *File) Parts(fn Function) []Function {
	t := f.table()
	if t.parts == nil {
		t.parts = map[string][]Function{}
		for _, part := range t.list {
			if whole, _, ok := strings.Cut(part.Name, ".cold"); ok {
				t.parts[whole] = append(t.parts[whole], part)
			}
		}
	}
	return t.parts[fn.Name]
}
