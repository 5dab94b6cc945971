package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Names of an enum whose type the program tells, where not each point has the field, and as keys that a script sets.
//
// > An argument that only some of the matched points have is None at the others.
func TestEnumOfSomePoints(t *testing.T) {
	const source = `enum color { RED, GREEN = 5 };
__attribute__((noinline)) int plain(int x) { asm volatile(""); return x; }
__attribute__((noinline)) int paint(enum color c) { asm volatile(""); return c; }
int main(void) { return plain(1) + paint(GREEN) < 0; }
`
	const probes = `
n, t = count(), table()
both = "uprobe:BIN:{plain,paint}"
probe(both, lambda e: print(names(e.args.c)))
probe(both, lambda e: n[names(e.args.c)].add())
probe("uprobe:BIN:paint", lambda e: t.set(names(e.args.c), 1))
def end():
    print(sorted([str(k) for k, _ in n.items()]))
    t.set("BLUE", 1)
at_exit(end)
`
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "enums.c", source)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(probes, "BIN", binary)), "-c", binary)
	e.has(t, `^None\nGREEN\n\["GREEN", "None"\]\n`)
	if want := "want what names(…) gives, of an entry that is there, or its number"; !strings.Contains(e.stderr, want) {
		t.Errorf("stderr is\n%s\nwant in it: %s", e.stderr, want)
	}
}
