package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const floatSource = `#include <stdio.h>
__attribute__((noinline)) double half(int a, double d, long c) { volatile double r = d / 2 + a + c; return r; }
int main(void) { printf("%d\n", half(-3, 2.5, 5000000000) > 1); return 0; }
`

// What is in a register for floats is FAULT to whatever asks, in both halves, and prints as what it is.
func TestFloatIsFault(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "half.c", floatSource)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:half", lambda e: printf("format %d %x %6s|\n", e.ret, e.args[1], e.args[1]))
probe("ufunc:BIN:half", lambda e: print("user", e.args[0], e.args[1] == None, e.args[1] == FAULT, e.args[1] == 3,
                                        bool(e.args[1]), errno(e.args[1]), e.args[2]))
kept, seen = table(), count()
def keep(e):
    kept[e.pid] = e.args[1]
    seen[e.args[0], e.args[1] == None, e.args[1] == FAULT, e.args[1] == 3, bool(e.args[1]), errno(e.args[1]),
         e.args[2]].add()
probe("uprobe:BIN:half", keep)
at_exit(lambda: [print("kept", v, v == FAULT) for k, v in kept.items()])
at_exit(lambda: [print("kernel", k, n) for k, n in seen.items()])
probe("ufunc:BIN:half", kernel = lambda e: e.args[1] + 1)
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, sorted(e.stdout, " "), []string{
		"format <float> <float> <float>|", "user -3 False True False True <float> 5000000000", "kept <float> True",
		"kernel (-3, False, True, False, True, <float>, 5000000000) 1",
	})
	if !strings.Contains(e.stderr,
		"1 event of ufunc:"+binary+":half ended early: a floating-point number, which is in a "+
			"register that eBPF programs cannot read, where an int was wanted") {
		t.Errorf("nothing says that there was no number to compute with: %s", e.stderr)
	}
	e = startrace(t, "-q", script(t, `probe("ufunc:`+binary+`:half", lambda e: print(e.ret + 1))`), "-c", binary)
	if !strings.Contains(e.stderr, "cannot apply + to <float>: a floating-point number is in a register that eBPF "+
		"programs cannot read (test it before: x == FAULT)") {
		t.Errorf("nothing says why user space cannot compute: %s", e.stderr)
	}
}
