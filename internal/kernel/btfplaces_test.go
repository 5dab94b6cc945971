package kernel

import (
	"debug/elf"
	"testing"

	"github.com/startrace/startrace/test/places"
)

// TestPlaces calls functions of random signatures, of the types of C that BTF has: where it says that their arguments
// and results are is compared with where the program itself finds them.
func TestPlaces(t *testing.T) {
	for _, c := range []places.Compiler{
		{Arch: "amd64", Command: "gcc -gbtf -O0"},
		{Arch: "arm64", Command: "aarch64-linux-gnu-gcc -gbtf -O0", Runner: "qemu-aarch64-static"},
	} {
		t.Run(c.Arch, func(t *testing.T) {
			binary, calls := c.Need(t)
			file, err := elf.Open(binary)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			section := file.Section(".BTF")
			if section == nil {
				t.Skip("needs a compiler that writes BTF (gcc 12)")
			}
			blob, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			facts := Open(Options{BTF: blob})
			for _, call := range calls {
				fn, err := facts.Function(call.Function)
				if err != nil {
					t.Fatal(err)
				}
				at := fn.Call(c.Arch)
				if at == nil {
					t.Errorf("%s is not known", call.Text)
					continue
				}
				for _, wrong := range call.Check(c.Arch, at) {
					t.Errorf("%s: %s", call.Text, wrong)
				}
			}
		})
	}
}
