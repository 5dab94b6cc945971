package binary

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

const tailSource = `
#define KNOWN __attribute__((noinline, noclone, noipa))
#define KEEP(n) __asm__ volatile ("" : "+r"(n))
long elsewhere(long n);
void __gxx_personality_v0(void) {} // as in programs with exceptions
KNOWN static long hidden(long n) { KEEP(n); return n * 3; }
KNOWN long shown(long n) { KEEP(n); return n * 5; }
KNOWN long to_hidden(long n) { if (n > 3) { KEEP(n); return n; } return hidden(n + 1); }
KNOWN long to_shown(long n) { if (n > 3) { KEEP(n); return n; } return shown(n + 1); }
KNOWN long to_elsewhere(long n) { if (n > 3) { KEEP(n); return n; } return elsewhere(n + 1); }
`

// Where a function of a library is left by a jump, its call ends in the other one, also if strip has taken its name,
// or if the jump goes by the linker's stub to a function of the same library. One of another library is not known.
func TestEndsInLibraries(t *testing.T) {
	cc, dir := compiler(t), t.TempDir()
	source, out := filepath.Join(dir, "tail.c"), filepath.Join(dir, "libtail.so")
	if err := os.WriteFile(source, []byte(tailSource), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-Wl,-z,lazy"}, {"-Wl,-z,now"}, {"-fcf-protection=full"}} {
		words := []string{"-O2", "-shared", "-fPIC", "-fplt", "-s", "-fasynchronous-unwind-tables", "-o", out, source}
		words = append(words, flags...)
		if text, err := exec.Command(cc, words...).CombinedOutput(); err != nil {
			t.Logf("%v: %v: %s", flags, err, text) // the last is of amd64
			continue
		}
		f := finder(t)
		shown, _, err := f.Functions(Query{File: out, Pattern: "shown"})
		if err != nil {
			t.Fatal(err)
		}
		for name, tails := range map[string]int{"to_hidden": 0, "to_shown": 0, "to_elsewhere": 1} {
			list, _, err := f.Functions(Query{File: out, Pattern: name})
			if err != nil || len(list) != 1 {
				t.Fatalf("%v: %s: %+v, %v", flags, name, list, err)
			}
			ends := list[0].Ends
			if ends.Tails != tails || len(ends.Others) != 1-tails || len(ends.At) != 2 {
				t.Errorf("%v: %s ends at %+v, want %d jumps whose end is not known", flags, name, ends, tails)
			}
			if name == "to_shown" && !slices.Equal(ends.Others, []uint64{shown[0].Start}) {
				t.Errorf("%v: it is left to %#x, want %#x", flags, ends.Others, shown[0].Start)
			}
		}
	}
}
