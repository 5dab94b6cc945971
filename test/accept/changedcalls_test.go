package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// changedCalls has functions whose calls optimizers change: arguments that are always the same, that are not used, that
// are overwritten at once, by a constant or by another argument, and of a struct of which a part is used.
const changedCalls = `
#include <stdio.h>
struct pt { long x, y, z; };
volatile long sink;
#define CALL static __attribute__((noinline)) long
CALL conf(int mode, long a, const char *name) {
	sink += a; if (mode == 3) { sink *= 2; printf("%s", name); } else sink -= 1; return a * 2;
}
CALL part(struct pt *p, int k, int unused) { long v = p->x + p->y * k; sink += v; return v; }
CALL over(int mode, long a) { mode = 5; sink += a; printf("%d", mode); return a * 2; }
CALL moved(int mode, long a) { mode = a; for (int i = 0; i < 2; i++) sink += mode; return mode; }
CALL late(long b, int mode, long a) { sink += a; mode = a; sink += mode; mode = 3; sink += mode; return a * 2; }
CALL keep(int unused, long a, int k) { sink += a; k += 1; printf("%d", k); return a; }
int main(int n, char **argv) {
	struct pt p = {n + 5, 7, 9};
	conf(3, n + 10, "one"); conf(3, n + 20, "two");
	part(&p, n + 2, 4); part(&p, n + 4, 4);
	over(n + 8, n + 10); over(n + 9, 4);
	moved(n + 30, n + 10); moved(n + 31, 4);
	late(n + 2, n + 8, n + 10); late(n + 3, n + 9, 4);
	keep(n, n + 1, n + 2); keep(n + 3, n + 5, n + 6);
	return 0;
}
`

// passedToChanged is what each function is called with, the first time and the second.
var passedToChanged = map[string][]string{
	"conf": {"a=11 mode=3 name=one", "a=21 mode=3 name=two"}, "keep": {"a=2 k=3 unused=1", "a=6 k=7 unused=4"},
	"late": {"a=11 b=3 mode=9", "a=4 b=4 mode=10"}, "moved": {"a=11 mode=31", "a=4 mode=32"},
	"over": {"a=11 mode=9", "a=4 mode=10"}, "part": {"k=3 unused=4", "k=5 unused=4"},
}

// Arguments of functions whose calls the compiler has changed are what was passed, or optimized out, at the start and
// at the end of a call alike, and many of them are known.
//
// > Their arguments have names. They are known where debug information has them in registers at the first instruction,
// > or says of a clone of gcc that one is constant, and else FAULT. clang says so of an argument that is changed at
// > once, too, so its constants are not believed.
func TestChangedCalls(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -g -O1", "gcc -g -O2", "gcc -g -O3", "clang -g -O1", "clang -g -O2",
		"clang -g -O3"} {
		binary := need.Built(t, command, "changed.c", changedCalls)
		seen := filepath.Join(t.TempDir(), "seen")
		startrace(t, "-q", "--output", seen, script(t, strings.ReplaceAll(`
def show(e, a):
    print(e.func, *["%s=%s" % (n, getattr(a, n)) for n in sorted(dir(a)) if n != "p"])

at = ["ufunc:BIN:" + f for f in ["conf", "part", "over", "moved", "late", "keep"]]
probe(at, lambda e: show(e, e.start.args))
probe(at, lambda e: show(e, e.args))
`, "BIN", binary)), "-c", binary).ok(t)
		text, err := os.ReadFile(seen)
		if err != nil {
			t.Fatal(err)
		}
		const twice = 2 // each call is shown at its start and at its end
		calls, known := map[string]int{}, 0
		for line := range strings.Lines(string(text)) {
			of, args, _ := strings.Cut(strings.TrimSpace(line), " ")
			n := calls[of] / twice
			calls[of]++
			if n >= len(passedToChanged[of]) {
				t.Fatalf("%s: more calls than there are: %s", command, line)
			}
			got, want := strings.Fields(strings.ReplaceAll(args, "<optimized out>", "?")), passedToChanged[of][n]
			for i, w := range strings.Fields(want) {
				switch {
				case i < len(got) && got[i] == w:
					known++
				case i >= len(got) || !strings.HasSuffix(got[i], "=?"):
					t.Errorf("%s: %s has %s, want %s", command, of, args, want)
				}
			}
		}
		t.Logf("%s: %d values are known", command, known)
		if least := 28; len(calls) != len(passedToChanged) || known < least {
			t.Errorf("%s: %d values are known of %d functions, want %d of %d", command, known, len(calls), least,
				len(passedToChanged))
		}
	}
}
