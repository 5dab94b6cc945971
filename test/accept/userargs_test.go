package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const countsSource = `
__attribute__((noinline)) unsigned char one(int a) { __asm__ volatile(""); return a; }
__attribute__((noinline)) int two(int a, int b) { __asm__ volatile(""); return -a - b; }
__attribute__((noinline)) int more(int a, ...) { __asm__ volatile(""); return a; }
__attribute__((noinline)) void none(void) { __asm__ volatile(""); }
int main(void) { one(1); two(1, 2); more(1, 2, 3); none(); return 0; }
`

// How many arguments a user function has, where debug information says it.
//
// > Of a user function with debug information its own arguments can be read, and those behind the `…` of C.
// > `list -v` shows them.
// > `e.args` as a whole, as in `print(e.args)`, is refused where the arguments have no names.
// > `hasattr(e, "args")` is False there.
func TestUserArgumentCount(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "counts.c", countsSource)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:{one,two}", lambda e: print(e.func, e.args[0], e.args[1]))
probe("ufunc:BIN:more", lambda e: print(e.func, uint32(e.args[1]), uint32(e.args[2])))
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, sorted(e.stdout, " "), []string{"more 2 3", "one 1 None", "two 1 2"})
	bare := need.Built(t, "gcc -O1", "counts.c", countsSource)
	const asks = `probe("ufunc:BIN:two", lambda e: print(e.args if hasattr(e, "args") else "none"))`
	for of, want := range map[string]string{bare: "none", binary: "record(a = 1, b = 2)"} {
		e = startrace(t, "-q", "-e", strings.ReplaceAll(asks, "BIN", of), "-c", of).ok(t)
		equalLines(t, lines(e.stdout), []string{want})
	}
	e = startrace(t, "-q", script(t, strings.ReplaceAll(`
n = total()
def both(e):
    n.add(e.args[0] + e.args[1] if e.func == "two" else e.args[0])
probe("ufunc:BIN:{one,two}", kernel = both)
at_exit(lambda: print(n.value))
`, "BIN", binary)), "-c", binary).ok(t)
	if strings.TrimSpace(e.stdout) != "4" {
		t.Errorf("computed where the function has it: got %s%s", e.stdout, e.stderr)
	}
	list := startrace(t, "list", "-v", "uprobe:"+binary+":{none,one}").ok(t)
	if strings.Count(list.stdout, "e.args[") != 1 || !strings.Contains(list.stdout, "e.args.a:   int  int\n") ||
		!strings.Contains(list.stdout, "e.args[0]:  int       # 32 bits, signed") {
		t.Errorf("the list shows %s", list.stdout)
	}
	for probe, want := range map[string]string{
		`"ufunc:BIN:{one,two}", lambda e: print(e.args[2])`: "has an argument 2: the last that one has is e.args[1]",
		`"ufunc:BIN:one", lambda e: print(e.args[1])`:       "has no argument 1: the last is e.args[0]",
		`"uprobe:BIN:none", lambda e: print(e.args[0])`:     ":none has no arguments",
		`"ufunc:BARE:two", lambda e: print(e.args)`: "have no names here, so e.args as a whole is nothing: write " +
			"e.args[0], e.args[1] …",
	} {
		e := startrace(t, "-e", "probe("+strings.NewReplacer("BIN", binary, "BARE", bare).Replace(probe)+")", "-c",
			binary)
		if e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: got %s, want %s", probe, e.stderr, want)
		}
	}
}
