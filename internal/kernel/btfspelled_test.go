package kernel

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/test/smallkernel"
)

func TestIntNames(t *testing.T) {
	for spelled, want := range map[string][]string{
		"long":                   {"long int", "long"},
		"unsigned long":          {"long unsigned int", "unsigned long"},
		"long unsigned int":      {"long unsigned int", "unsigned long"},
		"unsigned":               {"unsigned int", "unsigned"},
		"short":                  {"short int", "short"},
		"unsigned long long int": {"long long unsigned int", "unsigned long long"},
		"signed int":             {"int", ""},
		"unsigned char":          {"unsigned char"},
		"pid_t":                  {"pid_t"},
	} {
		if got := intNames(spelled); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", spelled, got, want)
		}
	}
}

// A signed char has a sign also where the kernel's types do not say so: those of 5.10 were made by a pahole that left
// it out.
func TestSignedCharOfOldTypes(t *testing.T) {
	types := &btf.Int{Name: "signed char", Size: 1, Encoding: btf.Unsigned}
	b, err := ParseBTF(smallkernel.BTF(t, types, &btf.Typedef{Name: "s8", Type: types}))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"s8", "signed char"} {
		if n, ok := b.Number(name); !ok || !n.Signed || n.Size != 1 {
			t.Errorf("%s is %+v, %v", name, n, ok)
		}
	}
	if _, ok := b.Number(""); ok {
		t.Error("no name is that of a type")
	}
}
