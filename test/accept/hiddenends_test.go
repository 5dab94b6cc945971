package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// hiddenEnds are lines of a handler in which fail() ends it where the key is 1, by a way that does not stand there as a
// statement.
var hiddenEnds = []string{
	"def local():\n        if k == 1: fail(\"x\")\n    local()",
	"def local():\n        def inner(): fail(\"x\")\n        if k == 1: inner()\n    local()",
	"def local(): fail(\"x\")\n    if k == 1: local()",
	"def local(z = ends(k)): return z",
	"local = lambda z = ends(k): z",
	"local = lambda: fail(\"x\")\n    k == 1 and local()",
	"if k == 1: given()",
	"x = defaults(k)",
	"if k == 1: LIST[0](\"x\")",
	"if k == 1: DICT[\"e\"](\"x\")",
	"if k == 1: DICT.get(\"e\")(\"x\")",
	"if k == 1: RECORD.e(\"x\")",
	"if k == 1: getattr(RECORD, \"e\")(\"x\")",
	"if k == 1: BURIED[0][\"a\"][1](\"x\")",
	"k == 1 and NAMED(\"x\")",
	"if k == 1: parameter(\"x\")",
	"f = fail\n    if k == 1: f(\"x\")",
	"for f in LIST:\n        if k == 1: f(\"x\")",
	"[f(\"x\") for f in LIST if k == 1]",
	"sorted([k], key = lambda v: fail(\"x\") if v == 1 else 0)",
	"sorted([\"x\"], key = fail if k == 1 else len)",
}

// A change behind a hidden fail() is not made by the kernel, and the reader is warned of that.
func TestHiddenEnds(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	for _, line := range hiddenEnds {
		text := fmt.Sprintf(`T = table()
def ends(k): return fail("x") if k == 1 else 5
def given(x = fail): x("x")
def defaults(k, f = fail): return f("x") if k == 1 else 5
LIST = [fail]
DICT = {"e": fail}
RECORD = record(e = fail)
BURIED = [{"a": (len, fail)}]
NAMED = fail
def writer(e, parameter = fail):
    k = e.args.k
    print("at", k)
    %s
    T[e.args.k] = 1
probe("uprobe:%[2]s:reg", writer)
probe("uprobe:%[2]s:use", lambda e: None, where = lambda e: T.get(e.args.k, 0) > 0)
at_exit(lambda: print("keys", sorted(T.keys())))
`, line, binary)
		e := startrace(t, script(t, text), "-c", binary)
		if !strings.Contains(e.stdout, "keys [0, 2, 3, 4, 5, 6, 7, 8, 9]") ||
			!strings.Contains(e.stderr, "warning: table T") {
			t.Errorf("%s\n%s\n%s", line, e.stdout, e.stderr)
		}
	}
}
