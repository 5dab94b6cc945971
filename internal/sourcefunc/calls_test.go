package sourcefunc_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/sourcefunc"
	"github.com/startrace/startrace/test/debuginfo"
	"github.com/startrace/startrace/test/need"
)

const nested = `
extern volatile int where;
volatile int where;
static inline __attribute__((always_inline)) void leaf(int n) { where = n; }
static inline __attribute__((always_inline)) void middle(int n) {
	if (n > 3)
		leaf(n);
	where = n + 1;
}
void outer(int n) {
	where = 1;
	middle(n);
	where = 2;
}
int main(int argc, char **argv) { outer(argc); return where; }
`

type sections map[string][]byte

// read compiles the program, and gives its debug information and where its code is.
func read(t *testing.T, command ...string) (s sections, low, high uint64) {
	t.Helper()
	need.Program(t, command[0])
	dir := t.TempDir()
	source, out := filepath.Join(dir, "nested.c"), filepath.Join(dir, "nested")
	if err := os.WriteFile(source, []byte(nested), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(command[0], append(command[1:], "-o", out, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s = sections{}
	for _, one := range f.Sections {
		if strings.HasPrefix(one.Name, ".debug_") {
			if s[one.Name], err = one.Data(); err != nil {
				t.Fatal(err)
			}
		}
	}
	text := f.Section(".text")
	return s, text.Addr, text.Addr + text.Size
}

func (s sections) calls() *sourcefunc.Calls {
	d := debuginfo.Damaged(s)
	if d == nil {
		return nil
	}
	return sourcefunc.NewCalls(d)
}

// Each instruction has a chain of calls that the source allows, and all of these are there.
func TestCalls(t *testing.T) {
	may := []string{"outer:11", "outer:12", "outer:13", "outer:14", "middle:6 outer:12", "middle:8 outer:12",
		"leaf:4 middle:7 outer:12", ":14"} // the last one is what fills up to the next function
	must := []string{"outer:11", "outer:13", "middle:8 outer:12", "leaf:4 middle:7 outer:12"}
	for _, command := range []string{"gcc -O1 -gdwarf-5", "gcc -O1 -gdwarf-4", "clang -O1 -gdwarf-5",
		"clang -O1 -gdwarf-4", "gcc -O1 -g -ffunction-sections"} {
		t.Run(command, func(t *testing.T) {
			s, low, high := read(t, strings.Fields(command)...)
			calls, seen := s.calls(), map[string]bool{}
			for addr := low; addr < high; addr++ {
				chain, err := calls.At(addr)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, c := range chain {
					names = append(names, fmt.Sprintf("%s:%d", c.Function, c.Line))
					if c.Line != 0 && path.Base(c.File) != "nested.c" {
						t.Errorf("%#x: %s is in %q", addr, c.Function, c.File)
					}
				}
				if len(names) > 0 {
					seen[strings.Join(names, " ")] = true
				}
			}
			t.Log(slices.Sorted(maps.Keys(seen)))
			for _, chain := range must {
				if !seen[chain] {
					t.Errorf("no instruction is %s", chain)
				}
			}
			for chain := range seen {
				chain, _, _ = strings.Cut(chain, " main:15")
				if !strings.HasPrefix(chain, "main:15") && !slices.Contains(may, chain) {
					t.Errorf("an instruction is %s", chain)
				}
			}
		})
	}
}

// Debug information that was changed at random is damaged, or gives something; it never ends the tracer.
func TestCallsOfDamaged(t *testing.T) {
	s, low, high := read(t, "gcc", "-O1", "-g")
	names := slices.Sorted(maps.Keys(s))
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		changed := sections{}
		for name, data := range s {
			changed[name] = bytes.Clone(data)
		}
		for range 1 + r.IntN(8) {
			data := changed[names[r.IntN(len(names))]]
			data[r.IntN(len(data))] = byte(r.Uint32())
		}
		cut := names[r.IntN(len(names))]
		if r.IntN(4) == 0 {
			changed[cut] = changed[cut][:r.IntN(len(changed[cut]))]
		}
		calls := changed.calls()
		for addr := low; calls != nil && addr < high; addr += 7 {
			chain, err := calls.At(addr)
			if err != nil && !errors.Is(err, dwarfinfo.ErrDamaged) {
				t.Errorf("not said to be damaged: %v", err)
			}
			if len(chain) > 64 {
				t.Errorf("%d calls at an address", len(chain))
			}
		}
	}
}
