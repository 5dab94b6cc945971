package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// > A pointer is a number with a sign there, with debug information, too.
// > A null one is 0 and never None, and its `cstr` is FAULT.
func TestNullArguments(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -w -g -O1", "null.c", `
__attribute__((noinline, noclone)) int f(char *s) { __asm__ volatile(""); return s != 0; }
int main(void) { return f(0); }
`)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def seen(e):
    s = e.args[0]
    return (s, s == None, s == 0, s == FAULT, cstr(s), cstr(s) == None, cstr(s) == FAULT)
probe("uprobe:BIN:f", lambda e: print("kernel", *e.value), kernel = seen)
probe("uprobe:BIN:f", lambda e: print("user", *seen(e)))
`, "BIN", binary)), "-c", binary).ok(t)
	const all = "0 False True False <fault> False True"
	equalLines(t, sorted(e.stdout, ""), []string{"kernel " + all, "user " + all})
}
