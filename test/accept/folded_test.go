package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Functions of which the linker has made one are seen by each of their names, and as one.
//
// > A linker can make one function of those that have the same code (gold and lld by `--icf=all`). Each of their names
// > then means the calls of all of them, and names that are written out together, as in `{one,two}`, give a warning.
func TestFoldedFunctions(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	need.Program(t, "ld.gold")
	binary := need.Built(t, "g++ -g -O2 -ffunction-sections -fno-ipa-icf -fuse-ld=gold -Wl,--icf=all", "folded.cc", `
static volatile int sink;
extern "C" __attribute__((noinline)) int one(int n) { sink = n; return n + 1; }
extern "C" __attribute__((noinline)) int two(int n) { sink = n; return n + 1; }
int main() {
	for (int i = 0; i < 3; i++)
		one(i);
	for (int i = 0; i < 4; i++)
		two(i);
}
`)
	e := startrace(t, script(t, strings.ReplaceAll(`
n = count()
probe("uprobe:BIN:one", lambda e: n["one"].add())
probe("uprobe:BIN:two", lambda e: n["two"].add())
probe("ufunc:BIN:{one,two}", lambda e: n["both"].add())
at_exit(lambda: print(sorted(n.items())))
`, "BIN", binary)), "-c", binary).ok(t)
	if want := "[(\"both\", 7), (\"one\", 7), (\"two\", 7)]\n"; e.stdout != want {
		t.Errorf("got %q, want %q", e.stdout, want)
	}
	if want := "one and two are one function: e.func is one"; !strings.Contains(e.stderr, want) {
		t.Errorf("got %q, want %q in it", e.stderr, want)
	}
}

// So are those of which gcc has made one, which has lost the other names.
//
// > At `-O2` gcc does it with functions that are local to a file, and leaves one name, which means the calls of all of
// > them.
func TestFoldedByCompiler(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O2", "same.c", `
static volatile int sink;
static __attribute__((noinline)) int one(int n) { sink = n; return n + 1; }
static __attribute__((noinline)) int two(int n) { sink = n; return n + 1; }
int main(void) {
	for (int i = 0; i < 3; i++)
		one(i);
	for (int i = 0; i < 4; i++)
		two(i);
}
`)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
probe("uprobe:BIN:one", lambda e: n.add())
at_exit(lambda: print(n.value))
`, "BIN", binary)), "-c", binary).ok(t)
	if e.stdout != "7\n" {
		t.Errorf("got %q, want the calls of both", e.stdout)
	}
}
