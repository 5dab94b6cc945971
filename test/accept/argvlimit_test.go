package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// > | a list of strings, as `e.args.argv`; beyond it, it is cut, or its last string is | 128 strings, 1024 bytes
// > with two more for each |
func TestArgvLimits(t *testing.T) {
	needTracing(t)
	const text = `
def told(e):
    last = e.args.argv[-1]
    print("argv", [len(a) for a in e.args.argv][-6:], last[-1:], str(e.args.argv).endswith("…)"))
probe("syscall:execve", told)
`
	b := strings.Repeat("b", 1024)
	for _, c := range []struct{ name, command, want string }{
		{"many whole", "true" + strings.Repeat(" a", 127), "argv [1, 1, 1, 1, 1, 1] a False\n"},
		{"too many", "true" + strings.Repeat(" a", 128), "argv [1, 1, 1, 1, 1, 1] a True\n"},
		{"two whole", "true " + b[:1016], "argv [4, 1016] b False\n"}, // with 2 × 2 they are 1024
		{"two cut", "true " + b, "argv [4, 1017] b… False\n"},
		{"six whole", "true" + strings.Repeat(" "+b[:200], 4) + " " + b[:208],
			"argv [4, 200, 200, 200, 200, 208] b False\n"},
		{"six cut", "true" + strings.Repeat(" "+b[:200], 4) + " " + b[:210],
			"argv [4, 200, 200, 200, 200, 209] b… False\n"},
		{"the next", "true " + b[:1016] + " a", "argv [4, 1016] b True\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := startrace(t, script(t, text), "-c", c.command).ok(t)
			if !strings.HasSuffix(e.stdout, c.want) {
				t.Errorf("got %q, want %q", excerpt(e.stdout), c.want)
			}
		})
	}
}

// The arguments of a call that its program has never touched are those of the new program's memory, also where there
// are more than a list has room for, and behind the words that an interpreter gets.
//
// > Strings beyond the 128th tell how the two belong together: where such a list has more than 16384, or more than 128
// > before Linux 6.2, its strings that could not be read are FAULT.
func TestManyArgumentsNeverTouched(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	var args strings.Builder
	for i := range 200 {
		fmt.Fprintf(&args, `, "a%d"`, i)
	}
	binary := need.Built(t, "gcc", "exec.c", `#include <unistd.h>
static char *const args[] = {"true"`+args.String()+`, 0};
int main(int argc, char **argv) { return execve(argv[1], args, 0); }
`)
	file := filepath.Join(t.TempDir(), "file.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh -e\n:\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `
def told(e):
    print("argv", e.args.argv[:2], e.args.argv[-1:])
probe("syscall:execve", told, where = lambda e: e.start.comm == "exec")
`
	for _, c := range []struct{ file, want string }{
		{"/bin/true", `argv ("true", "a0") ("a126", …)`},
		{file, `argv (<fault>, "a0") ("a126", …)`},
	} {
		e := startrace(t, "-q", script(t, text), "-c", binary+" "+c.file).ok(t)
		if got := strings.TrimSpace(e.stdout); got != c.want {
			t.Errorf("%s: got %s, want %s", c.file, excerpt(got), c.want)
		}
	}
}
