package mutate

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
)

// Programs that stand for what is installed.

// programs stands for what is installed: each file has one function of each
// name and no static probes.
type programs struct{}

func (programs) Functions(q binary.Query) ([]binary.Function, *binary.File, error) {
	at, pattern := &binary.File{Path: "/bin/true", Name: q.File}, q.Pattern
	if naming.IsPattern(pattern) {
		pattern = "matched"
	}
	return []binary.Function{{Name: pattern, Entry: 0x1000}}, at, nil
}

func (programs) Lines(file, _ string, _ int) ([]binary.Function, *binary.File, error) {
	at := &binary.File{Path: file, Name: file}
	return []binary.Function{{Name: "f", Start: 0x10, Entry: 0x10, Inside: 4, Source: "f.c:1"}}, at, nil
}
func (programs) Global(*binary.File, binary.Function, string) (*locals.Variable, error) {
	return nil, nil
}
func (programs) Parameters(*binary.File, binary.Function) ([]locals.Variable, error) {
	return nil, nil
}
func (programs) Definition(*binary.File, binary.Function) string { return "" }

func (programs) SourceAt(*binary.File, binary.Function, uint64) string { return "" }

func (programs) Length(*binary.File, binary.Function, uint64, dwarf.Offset) (locals.Variable, error) {
	return locals.Variable{}, nil
}

func (programs) Locals(*binary.File, binary.Function, uint64) ([]locals.Variable, error) {
	return nil, nil
}
func (programs) Inside(*binary.File, binary.Function, uint64) error { return nil }
func (programs) Steps(*binary.File, binary.Function, uint64) error  { return nil }

func (programs) Static(file, pattern string) ([]usdt.StaticProbe, *binary.File, error) {
	return nil, nil, fmt.Errorf("%s has no static probes (USDT): it was built without them", file)
}

// Variable is not known: no process is traced.
func (programs) Signature(*binary.File, binary.Function) *signature.Signature { return nil }

func (programs) Split(*binary.File, binary.Function) (name, why string) { return "", "" }

func (programs) TypeNamed(string, string, *kernel.BTF) (kernel.TypeID, error) {
	return 0, errors.New("there is no debug information")
}

func (programs) Type(*binary.File, dwarf.Offset, *kernel.BTF) (kernel.TypeID, error) {
	return 0, errors.New("there is no debug information")
}

func (programs) Symbol(file, name string) (binary.Symbol, error) {
	return binary.Symbol{Path: file}, nil
}

func (programs) Variable(file, name string) (binary.Memory, error) {
	return binary.Memory{}, fmt.Errorf("%s: which process? trace one with -p", file)
}

// constants are those of the table, then the enumerators of the kernel.
func constants(facts *kernel.Facts) func(string) (int64, bool) {
	return func(name string) (int64, bool) {
		if v, ok := kernel.Constant(name); ok {
			return v, true
		}
		b, err := facts.BTF()
		if err != nil || !strings.Contains(name, "_") {
			return 0, false
		}
		v, _, ok := b.EnumValue(name)
		return v, ok
	}
}
