package elffile

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// Functions by name and by address, from the best symbol table; messages that a file is stripped or has no function of
// a name.

// Functions gives all functions by ascending address; several names of one
// address, the best name first. A file without any is ErrStripped.
func (f *File) Functions() ([]Function, error) {
	t := f.table()
	if len(t.list) == 0 {
		return nil, f.strippedError(t)
	}
	return t.list, nil
}

// FunctionsMemory is about how many bytes it takes to read the functions, from wherever they are read (readFunctions).
func (f *File) FunctionsMemory() uint64 {
	const least = 1 << 20
	if f.functions != nil || f.elf == nil {
		return 0
	}
	n := least + symbolsMemory(f.elf, f.size)
	if f.elf.SectionByType(elf.SHT_SYMTAB) == nil {
		n += otherTablesMemory(f)
	}
	return n
}

// DebugMemory is about how many bytes it takes to find lines and inlined functions by the debug information of a file:
// of 2 MB of it (a program of C++) 5 MB, of 4 MB (libc) 10 MB.
func DebugMemory(f *File) uint64 {
	const least, forms = 1 << 20, 4
	n := uint64(least)
	if f.elf == nil {
		return n
	}
	for _, s := range f.elf.Sections {
		if strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_") {
			n += forms * s.Size
		}
	}
	return n
}

// symbolsMemory is that of the symbols of a file, which are there in three forms on the way.
func symbolsMemory(f *elf.File, most int64) (n uint64) {
	const forms = 7
	for _, s := range f.Sections {
		switch size := min(s.Size, uint64(most)); {
		case s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM:
			n += forms * size
		case s.Type == elf.SHT_STRTAB:
			n += 2 * size
		}
	}
	return n
}

// otherTablesMemory is that of the tables that are read where a file has no full one: one of them is.
func otherTablesMemory(f *File) uint64 {
	const unpacker, unpacked = 10 << 20, 8 // what xz keeps of what it has written, and what comes out of it
	if other, file, err := openDebugFile(f); other != nil && err == nil {
		defer file.Close()
		return symbolsMemory(other.elf, other.size)
	}
	if s := f.elf.Section(".gnu_debugdata"); s != nil {
		return unpacker + unpacked*min(s.Size, uint64(f.size))
	}
	if s := f.goTableSection(); s != nil {
		return min(s.Size, uint64(f.size)) / 2 * 5
	}
	return 0
}

func (f *File) table() *functionTable {
	if f.functions == nil {
		f.functions = f.readFunctions()
	}
	return f.functions
}

// readFunctions takes the first full table: the file's own, that of its debug
// file, of .gnu_debugdata, Go's. Dynamic symbols come in addition.
func (f *File) readFunctions() *functionTable {
	t := &functionTable{}
	t.note(f.add(t, f.elf, elf.SHT_SYMTAB, FromSymtab))
	full := len(t.list) > 0
	for _, read := range []func(*functionTable) error{f.addDebugFile, f.addMiniDebug, f.addGoTable} {
		if full {
			break
		}
		t.note(read(t))
		full = len(t.list) > 0
	}
	t.note(f.add(t, f.elf, elf.SHT_DYNSYM, FromDynsym))
	t.stripped = !full
	t.sort()
	return t
}

// At gives the function whose code an address is; without sizes, the last one
// that begins before.
func (f *File) At(addr uint64) (Function, bool) {
	list := f.table().list
	i, found := slices.BinarySearchFunc(list, addr, func(fn Function, addr uint64) int {
		return cmp.Compare(fn.Addr, addr)
	})
	if found {
		return list[i], true
	}
	if i == 0 {
		return Function{}, false
	}
	start := list[i-1].Addr
	for i--; i > 0 && list[i-1].Addr == start; i-- {
	}
	fn := list[i]
	return fn, fn.Size == 0 || addr-fn.Addr < fn.Size
}

// Aliases gives all names of an address, the best first.
func (f *File) Aliases(addr uint64) (names []string) {
	list := f.table().list
	i, _ := slices.BinarySearchFunc(list, addr, func(fn Function, addr uint64) int {
		return cmp.Compare(fn.Addr, addr)
	})
	for ; i < len(list) && list[i].Addr == addr; i++ {
		names = append(names, list[i].Name)
	}
	return names
}

// Lookup gives the functions of a name, mangled or not, with or without its
// parameters: `_ZN2ns1fEi`, `ns::f(int)`, `ns::f`, and without the arguments of
// templates (Bare). There are several if static or overloaded functions share it; a part
// that the compiler has moved away from one has only its own name, in full. Without any, the error says why and what
// name was perhaps meant.
func (f *File) Lookup(name string) ([]Function, error) {
	t, is := f.table(), func(form string) bool { return form == name }
	var found []Function
	for _, fn := range t.list {
		if fn.Name == name {
			found = append(found, fn)
		}
	}
	if len(t.list) > 0 && (len(found) == 0 || t.cloned()) {
		found = append(found, t.find(func(fn Function, forms nameForms) bool {
			base, clone := fn.CloneOf()
			return clone && base == name || len(found) == 0 &&
				(forms.full == name || !fn.Part() && forms.are(is))
		})...)
		slices.SortStableFunc(found, func(a, b Function) int { return cmp.Compare(a.Addr, b.Addr) })
	}
	if len(found) == 0 {
		return nil, f.missing(name, t)
	}
	return onePerAddress(found), nil
}

// cloneMarks are what compilers put behind the name of a function for a copy of it that they changed, and callers call
// in its place, and for one of several local ones of a name. A part (.part, .cold) is not one: the function itself goes
// on there.
var cloneMarks = []string{".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".__uniq.", ".specialized."}

// CloneOf gives the name of the function of which a name is that of a clone: of `f.constprop.0` it is `f`. A name that
// is local to a file may only be counted: `f.3`, of which others in the program have the name f.
func CloneOf(name string, local bool) (base string, ok bool) {
	base, marks, found := strings.Cut(name, ".")
	if !found || base == "" || strings.Contains(name, ".cold") || strings.Contains(name, ".part.") {
		return "", false
	}
	if rest := strings.TrimLeft(marks, "0123456789"); local && rest != marks {
		if rest == "" {
			return base, true
		}
		marks = strings.TrimPrefix(rest, ".")
	}
	marks = "." + marks
	return base, slices.ContainsFunc(cloneMarks, func(mark string) bool { return strings.HasPrefix(marks, mark) })
}

// CloneOf is that of the function's name.
func (fn Function) CloneOf() (base string, ok bool) { return CloneOf(fn.Name, fn.Local) }

// cloned reports whether there are clones.
func (t *functionTable) cloned() bool {
	return slices.ContainsFunc(t.list, func(fn Function) bool {
		_, is := fn.CloneOf()
		return is
	})
}

// Matcher tells of the names of functions, as the linker knows them, whether a name or a pattern means them, as Lookup
// and Find do.
func Matcher(pattern string) (func(name string) bool, error) {
	is := func(text string) bool { return text == pattern }
	if naming.IsPattern(pattern) {
		g, err := naming.Compile(pattern)
		if err != nil {
			return nil, err
		}
		is = matching(g)
	}
	return func(name string) bool { return means(is, name) }, nil
}

// matching reports whether a pattern matches a name, or is it: instances of generic functions of Go have brackets.
func matching(pattern naming.Glob) func(name string) bool {
	text := pattern.String()
	return func(name string) bool { return name == text || pattern.Match(name) }
}

// means reports whether a name, or what it is when it is demangled, is meant.
func means(is func(string) bool, name string) bool {
	if traced, bare, generic := instance(name); generic && (is(traced) || is(bare)) {
		return true
	}
	return is(name) || Mangled(name) && (is(DemangleShort(name)) || is(Demangle(name))) ||
		(Mangled(name) || strings.Contains(name, "<") || strings.Contains(name, "::")) && is(BareOfSource(name))
}

// Find gives the functions that have a matching name, mangled or not, one for each address; none if none matches. A
// clone matches by the name of its function, too. Parts of functions match only patterns that name them.
func (f *File) Find(pattern naming.Glob) ([]Function, error) {
	t := f.table()
	if len(t.list) == 0 {
		return nil, f.strippedError(t)
	}
	parts, is := strings.Contains(pattern.String(), ".cold"), matching(pattern)
	return named(pattern.String(), t.find(func(fn Function, forms nameForms) bool {
		if fn.Part() && !parts {
			return false
		}
		base, clone := fn.CloneOf()
		return is(fn.Name) || forms.are(is) || clone && means(is, base)
	})), nil
}

func (t *functionTable) find(matches func(Function, nameForms) bool) (found []Function) {
	t.demangle()
	for i, fn := range t.list {
		if matches(fn, t.demangled[i]) {
			found = append(found, fn)
		}
	}
	return found
}

func onePerAddress(list []Function) []Function {
	return slices.CompactFunc(list, func(a, b Function) bool { return a.Addr == b.Addr })
}

// named gives one function for each address: of those that have several names that match the one that the pattern
// spells out first, else the best.
func named(pattern string, list []Function) (out []Function) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Addr == list[0].Addr {
			n++
		}
		best := list[0]
		for _, fn := range list[1:n] {
			at, before := spelled(pattern, fn.Name), spelled(pattern, best.Name)
			if at >= 0 && (at < before || before < 0) {
				best = fn
			}
		}
		out, list = append(out, best), list[n:]
	}
	return out
}

// Spells reports whether a pattern is a name, or has it among its {alternatives,…}.
func Spells(pattern, name string) bool { return pattern == name || spelled(pattern, name) >= 0 }

// spelled is where a pattern has a name among its {alternatives,…}; -1 where it has not.
func spelled(pattern, name string) int {
	for at := 0; ; at++ {
		next := strings.Index(pattern[at:], name)
		if next < 0 {
			return -1
		}
		at += next
		end := at + len(name)
		if (at == 0 || strings.IndexByte("{,", pattern[at-1]) >= 0) &&
			(end == len(pattern) || strings.IndexByte(",}", pattern[end]) >= 0) {
			return at
		}
	}
}

func (f *File) missing(name string, t *functionTable) error {
	if len(t.list) == 0 {
		return f.strippedError(t)
	}
	names := make([]string, 0, len(t.list))
	for i, fn := range t.list {
		names = append(names, fn.Name)
		if short := t.demangled[i].short; short != "" {
			names = append(names, short)
		}
	}
	hint := fmt.Sprintf("; startrace list 'uprobe:%s:*' shows those that it has", f.Path)
	if near := naming.Suggest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	} else if t.stripped {
		hint = fmt.Sprintf(": it is stripped, only its %d dynamic symbols are left; %s", len(t.list), f.symbolAdvice())
	}
	return fmt.Errorf("%s: %w: %q%s", f.Path, ErrNoFunction, name, hint)
}

func (f *File) strippedError(t *functionTable) error {
	if t.err != nil {
		return fmt.Errorf("%s: %w could be read: %w", f.Path, ErrStripped, t.err)
	}
	return fmt.Errorf("%s: %w are left in it: it is stripped; %s", f.Path, ErrStripped, f.symbolAdvice())
}

func (f *File) symbolAdvice() string {
	if refused := Refused(f); refused != "" {
		return "its debug symbols are not in " + refused + ": install those of this build"
	}
	if f.BuildID == "" {
		return "build it without -s and do not strip it"
	}
	return "install its debug symbols (build id " + f.BuildID + ") or build it without stripping"
}
