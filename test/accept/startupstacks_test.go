package accept

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Stacks are whole in code of which compilers tell nothing, or what a walk cannot follow: where the dynamic linker
// looks for a function at its first call (its frame is counted from rbx), and in functions that each library has for
// its begin and its end.
func TestStacksWhereLibrariesBegin(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, of whose code this is")
	}
	library := need.Built(t, "gcc -O2 -shared -fPIC -fomit-frame-pointer", "lib.c", `#include <unistd.h>
int work(void) { return getppid(); }
`)
	program := need.Built(t, "gcc -O2 -fomit-frame-pointer -Wl,-z,lazy -Wl,--no-as-needed "+library, "main.c", `int work(void);
int main(void) { return work() == 0; }
`)
	text := strings.ReplaceAll(`n = count()
for place in ["LIB:_init+4", "LIB:deregister_tm_clones+7", "/lib64/ld-linux-x86-64.so.2:_dl_lookup_symbol_x"]:
    probe("uprobe:" + place, kernel = lambda e: n[e.ustack()].add())
`, "LIB", library)
	e := startrace(t, "--format", "folded", script(t, text), "-c", program).ok(t)
	for _, want := range []string{`_start;.*;main;_dl_runtime_resolve\w*;_dl_fixup;_dl_lookup_symbol_x`,
		`[^;…]+;_dl_init;call_init;_init`,
		`_start;.*;_dl_fini;(\w+;)?__do_global_dtors_aux;deregister_tm_clones`} {
		if !regexp.MustCompile("(?m)^" + want + ` \d+$`).MatchString(e.stdout) {
			t.Errorf("no stack as %s in\n%s", want, e.stdout)
		}
	}
	if strings.Contains(e.stdout, "…") {
		t.Errorf("stacks are short:\n%s%s", e.stdout, e.stderr)
	}
}

// A function that ends with a jump to another one is no frame.
//
// > A function that ends by jumping to another one (a tail call, which compilers make from `-O2` on) is gone by then,
// > and no frame: of main → outer → middle → inner, where middle ends with its call of inner, a stack shows main, outer
// > and inner.
func TestStackBehindTailCall(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	program := need.Built(t, "gcc -O2 -fomit-frame-pointer", "tail.c", `
#define KEPT __attribute__((noinline, noclone, noipa))
volatile int x;
KEPT int inner(int n) { return x += n; }
KEPT int middle(int n) { x++; return inner(n + 1); }
KEPT int outer(int n) { int m = middle(n + 1); x++; return m; }
int main(void) { int m = outer(1); x++; return m == 0; }
`)
	e := startrace(t, "-q", "-e", "probe('uprobe:"+program+":inner', lambda e: print(e.ustack().folded()))", "-c",
		program).ok(t)
	if !strings.HasSuffix(strings.TrimSpace(e.stdout), ";main;outer;inner") {
		t.Errorf("got %s%s", e.stdout, e.stderr)
	}
}
