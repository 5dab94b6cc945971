package elffile

import (
	"cmp"
	"slices"
	"strings"
)

// Function, and the table of all functions of a file.

// A Function is one name of a function; several can share an address.
type Function struct {
	Name string // as the linker knows it, mangled
	// Addr is the address as the file has it; where the file is loaded may have to be added (File.PIE).
	Addr   uint64
	Size   uint64 // 0 where the maker did not say (assembly)
	Offset uint64 // in the file: the place for a uprobe
	// IFunc: the address is that of a resolver, which runs once and chooses the
	// function that is called later. A probe on it sees no calls.
	IFunc bool
	Local bool // static: another function may have the same name
	// From says where the name was found.
	From Origin
}

// Origin says where a name was found.
type Origin uint8

const (
	FromSymtab    Origin = iota // .symtab, which strip removes
	FromDynsym                  // .dynsym: what a library offers to others
	FromDebugFile               // a separate file below /usr/lib/debug or beside the program
	FromMiniDebug               // .gnu_debugdata
	FromGoTable                 // .gopclntab, which strip leaves
)

func (o Origin) String() string {
	return [...]string{"symbol table", "dynamic symbols", "debug file", ".gnu_debugdata", "Go's table"}[o]
}

// Part says that the function is a part that the compiler has moved away from
// another one: jumped to, never called.
func (fn Function) Part() bool {
	return strings.HasSuffix(fn.Name, ".cold") || strings.Contains(fn.Name, ".cold.")
}

// functionTable has a file's functions by address, then by how good a name is.
type functionTable struct {
	list      []Function
	demangled []nameForms           // of the same index, of all that are mangled; nil until asked for
	parts     map[string][]Function // by what they are parts of; nil until asked for
	stripped  bool                  // only what dynamic linking needs was found
	err       error                 // why there are fewer than there could be
}

func (t *functionTable) note(err error) {
	if t.err == nil {
		t.err = err
	}
}

// sort orders by address; of several names the best is the one with a size,
// then with few underscores in front. A name that two tables have stays once.
func (t *functionTable) sort() {
	slices.SortStableFunc(t.list, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), compareFlags(a.Part(), b.Part()),
			compareFlags(a.Size == 0, b.Size == 0),
			cmp.Compare(underscores(a.Name), underscores(b.Name)), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.From, b.From))
	})
	t.list = slices.CompactFunc(t.list, func(a, b Function) bool { return a.Addr == b.Addr && a.Name == b.Name })
	t.list = slices.Clip(t.list)
}

func underscores(name string) int { return len(name) - len(strings.TrimLeft(name, "_")) }

func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// nameForms are the names of a function as its author wrote them; empty if the
// name is not mangled.
type nameForms struct {
	full  string // ns::f(int)
	short string // ns::f; of Go main.f[...]
	bare  string // of ns::f<int>(int) it is ns::f, too; empty if short is that; of Go main.f
}

// are reports whether a form is what is meant.
func (f *nameForms) are(meant func(string) bool) bool {
	for _, form := range []string{f.full, f.short, f.bare} {
		if form != "" && meant(form) {
			return true
		}
	}
	return false
}

// maxTable bounds a symbol table.
const maxTable = 1 << 28
