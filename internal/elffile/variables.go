package elffile

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// ErrNoVariable says that a file has no variable of a name.
var ErrNoVariable = errors.New("no variable")

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

// Variable finds a variable by its name in the file's symbol tables. Those of
// threads have no address.
func (f *File) Variable(name string) (Variable, error) {
	var names []string
	for _, read := range []func() ([]elf.Symbol, error){f.elf.Symbols, f.elf.DynamicSymbols} {
		list, err := read()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return Variable{}, formatError(f.Path, err)
		}
		for _, s := range list {
			kind := elf.ST_TYPE(s.Info)
			switch {
			case s.Section == elf.SHN_UNDEF || kind != elf.STT_OBJECT && kind != elf.STT_TLS:
			case s.Name != name:
				names = append(names, s.Name)
			case kind == elf.STT_TLS:
				return Variable{}, fmt.Errorf("%s: %s has a copy in each thread, so it has no address", f.Path, name)
			default:
				return Variable{s.Name, s.Value, s.Size}, nil
			}
		}
	}
	hint := ""
	if near := naming.Suggest(name, names); near != "" {
		hint = " (did you mean " + near + "?)"
	} else if len(names) == 0 {
		hint = ": its names of variables were stripped"
	}
	return Variable{}, fmt.Errorf("%s: %w %s%s", f.Path, ErrNoVariable, name, hint)
}
