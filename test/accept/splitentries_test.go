package accept

import (
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A file of debug information whose first entry can be read, and others not, is damaged, too: a function in it is not
// one of which nothing is said.
func TestDamagedEntriesAreNamed(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -O0 -gdwarf-4", "gcc -O0 -gdwarf-5", "clang -O0 -gdwarf-5"} {
		binary := need.BuiltOf(t, command+" -gsplit-dwarf", twoFiles)
		split, whole := splitOf(t, binary, "first")
		file, err := elf.Open(split)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		section := file.Section(".debug_abbrev.dwo")
		from, end := section.Offset+section.Size*7/10, section.Offset+section.Size
		damaged := slices.Concat(whole[:from], make([]byte, end-from), whole[end:])
		if err := os.WriteFile(split, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		e := startrace(t, "-e", `probe("uprobe:`+binary+`:first", lambda e: print(e.args.times))`, "-c", binary)
		if e.status == 0 || !strings.Contains(e.stderr, "first.dwo, which is damaged: bring it") {
			t.Errorf("%s: %d\n%s%s", command, e.status, e.stdout, e.stderr)
		}
	}
}
