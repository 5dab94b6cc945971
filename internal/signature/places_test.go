package signature

import (
	"debug/elf"
	"errors"
	"testing"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/test/places"
)

// compilers are those of both architectures. clang moves a long double by instructions that change what is no number.
var compilers = []places.Compiler{
	{Arch: "amd64", Command: "gcc -g -O0", Rare: true, Aligned: true},
	{Arch: "amd64", Command: "gcc -gdwarf-4 -O0", Rare: true, Odd: true, Aligned: true},
	{Arch: "amd64", Command: "clang -gdwarf-4 -O0", Wide: true, Aligned: true},
	{Arch: "arm64", Command: "aarch64-linux-gnu-gcc -gdwarf-4 -O0", Runner: "qemu-aarch64-static", Rare: true,
		Aligned: true},
	{Arch: "arm64", Command: "aarch64-linux-gnu-gcc -g -O0", Runner: "qemu-aarch64-static", Rare: true,
		Aligned: true},
}

// TestPlaces calls functions of random signatures, of all types of C: what the debug information tells of where their
// arguments and results are is compared with where the program itself finds them.
func TestPlaces(t *testing.T) {
	for _, c := range compilers {
		t.Run(c.Command, func(t *testing.T) {
			binary, calls := c.Need(t)
			file, table, symbols := opened(t, binary, c.Arch)
			defer file.Close()
			known := 0
			for _, call := range calls {
				at, err := table.callAt(symbols[call.Function])
				if err != nil {
					t.Fatal(err)
				}
				if at == nil {
					t.Errorf("%s is not known", call.Text)
					continue
				}
				known++
				for _, wrong := range call.Check(c.Arch, at) {
					t.Errorf("%s: %s", call.Text, wrong)
				}
			}
			t.Logf("%d functions of %d are known", known, len(calls))
		})
	}
}

// callAt gives the places that the signature of a function is made of.
func (t *Functions) callAt(addr uint64) (*abi.Call, error) {
	f, e, err := t.functionAt(addr)
	if err != nil || e == nil {
		return nil, errors.Join(err, errors.New("no such function"))
	}
	chain := f.data.Origins(e)
	params, _, err := f.parameters(e)
	if err != nil {
		return nil, err
	}
	var values []abi.Value
	for _, p := range params {
		v, ok := f.value(p)
		if !ok {
			return nil, nil
		}
		values = append(values, v)
	}
	result, err := f.typeOf(chain)
	if err != nil {
		return nil, err
	}
	returned, ok := f.value(result)
	if !ok {
		return nil, nil
	}
	return abi.Of(t.arch).Assign(values, returned), nil
}

func opened(t *testing.T, binary, arch string) (*elf.File, *Functions, map[string]uint64) {
	t.Helper()
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	table, err := openedFunctions(arch, sectionsOf(file))
	if err != nil {
		t.Fatal(err)
	}
	list, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	symbols := map[string]uint64{}
	for _, s := range list {
		symbols[s.Name] = s.Value
	}
	return file, table, symbols
}
