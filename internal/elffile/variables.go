package elffile

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// Variables and symbols of a file by their names, also static ones, and messages that there are several.

// ErrNoVariable says that a file has no variable of a name, ErrNoSymbol that it has none of any kind.
var (
	ErrNoVariable = errors.New("no variable")
	ErrNoSymbol   = errors.New("no symbol")
)

// noSymbol is the error of each kind of name.
var noSymbol = map[string]error{"variable": ErrNoVariable, "symbol": ErrNoSymbol}

// A Variable is data of a file that has a name.
type Variable struct {
	// Name is the variable's as the linker knows it.
	Name string
	// Addr is the address in the file, to which where the file is loaded may be added (Moves); Size is in bytes.
	Addr, Size uint64
}

// Moves reports whether the file is loaded at an address of the loader's
// choice: libraries and position-independent programs are.
func (f *File) Moves() bool { return f.elf.Type == elf.ET_DYN }

// Statics gives the addresses of variables that are local to a source file, by the last part of their name in the
// source; those of variables that each thread has are offsets. False where the file has no symbol table.
func Statics(f *File, name string) (out []uint64, known bool) {
	list, err := f.elf.Symbols()
	if err != nil || name == "" {
		return nil, false
	}
	for _, s := range list {
		kind := elf.ST_TYPE(s.Info)
		if elf.ST_BIND(s.Info) != elf.STB_LOCAL || kind != elf.STT_OBJECT && kind != elf.STT_TLS ||
			s.Section == elf.SHN_UNDEF || !strings.Contains(s.Name, name) {
			continue
		}
		if of := variableName(s.Name); of == name && !slices.Contains(out, s.Value) {
			out = append(out, s.Value)
		}
	}
	return out, true
}

// variableName is the last part of the name of a variable in the source; "" of one in a function.
func variableName(symbol string) string {
	for _, mark := range []string{".lto_priv.", ".llvm."} { // of what became local, or was made known to other files
		symbol, _, _ = strings.Cut(symbol, mark)
	}
	if strings.HasPrefix(symbol, "_ZZ") {
		return ""
	}
	full := DemangleShort(symbol)
	return full[strings.LastIndex(full, ":")+1:]
}

// Variable finds a variable by its name in the file's symbol tables, or by the name of C++ or Rust that it has in the
// source. Those of threads have no address.
func (f *File) Variable(name string) (Variable, error) {
	return symbolOfKind(f, name, "variable", elf.STT_OBJECT, elf.STT_TLS)
}

// Symbol is Variable of whatever has a name in a file: a function or a mark of the linker, too.
func Symbol(f *File, name string) (Variable, error) {
	return symbolOfKind(f, name, "symbol", elf.STT_OBJECT, elf.STT_TLS, elf.STT_FUNC, elf.STT_NOTYPE, elf.STT_GNU_IFUNC)
}

// symbolOfKind is the symbol of one of the kinds that has a name. One that other files can mean stands before others.
func symbolOfKind(f *File, name, what string, kinds ...elf.SymType) (Variable, error) {
	all, err := symbolsOf(f, kinds)
	if err != nil {
		return Variable{}, err
	}
	list := among(all, func(symbol string) bool { return symbol == name })
	if len(list) == 0 {
		last := name[strings.LastIndex(name, ":")+1:]
		last, _, _ = strings.Cut(last, "<")
		list = among(all, func(symbol string) bool {
			return strings.Contains(symbol, last) && Mangled(symbol) && DemangleShort(symbol) == name
		})
	}
	if shared := slices.DeleteFunc(slices.Clone(list), isLocal); len(shared) > 0 {
		list = shared
	}
	switch {
	case len(list) == 0:
		return Variable{}, fmt.Errorf("%s: %w %s%s", f.Path, noSymbol[what], name, nearby(name, what, all))
	case slices.ContainsFunc(list, func(s elf.Symbol) bool { return s.Value != list[0].Value }):
		return Variable{}, fmt.Errorf("%s: %d files of the source have a %s %s of their own", f.Path, len(list), what,
			name)
	case elf.ST_TYPE(list[0].Info) == elf.STT_TLS:
		return Variable{}, fmt.Errorf("%s: %s has a copy in each thread, so it has no address", f.Path, name)
	case elf.ST_TYPE(list[0].Info) == elf.STT_GNU_IFUNC:
		return Variable{}, fmt.Errorf("%s: %s is one of several functions, of which the program chooses one when it "+
			"starts", f.Path, name)
	}
	return Variable{list[0].Name, list[0].Value, list[0].Size}, nil
}

// symbolsOf are the symbols of these kinds that the file itself has.
func symbolsOf(f *File, kinds []elf.SymType) (out []elf.Symbol, err error) {
	for _, read := range []func() ([]elf.Symbol, error){f.elf.Symbols, f.elf.DynamicSymbols} {
		list, err := read()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return nil, formatError(f.Path, err)
		}
		for _, s := range list {
			if s.Section != elf.SHN_UNDEF && s.Name != "" && slices.Contains(kinds, elf.ST_TYPE(s.Info)) {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

func isLocal(s elf.Symbol) bool { return elf.ST_BIND(s.Info) == elf.STB_LOCAL }

// among are the symbols of which the name is wanted.
func among(all []elf.Symbol, wanted func(name string) bool) (out []elf.Symbol) {
	for _, s := range all {
		if wanted(s.Name) {
			out = append(out, s)
		}
	}
	return out
}

// nearby says what a name that no symbol has may mean.
func nearby(name, what string, all []elf.Symbol) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	if near := naming.Suggest(name, names); near != "" {
		return " (did you mean " + near + "?)"
	}
	if len(names) == 0 {
		return ": its names of " + what + "s were stripped"
	}
	return ""
}
