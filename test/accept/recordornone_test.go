package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// User halves take parts of a record that may be None, of a tuple by any index, and of what + and * make of arrays:
// user space has these as values, so that its own tests and numbers decide.
func TestValuesOfUserSpace(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "arrays.c", arrays)
	for expr, want := range map[string]string{
		"e.o.b if e.o != None else -1":             "-1 8 8",
		"e.o.b if e.o else -1":                     "-1 8 8",
		"-1 if e.o == None else e.o.b":             "-1 8 8",
		"e.o != None and e.o.b > 7":                "False True True",
		"(lambda p: p.a if p != None else 0)(e.o)": "0 1 2",
		"behind(e)":                         "none 9 10",
		"e.t[e.n]":                          "4 5 6",
		"e.t[-e.n - 1]":                     "6 5 4",
		"(e.list * 2)[e.n + 3]":             "4 1 2",
		"(e.list + e.list)[3:5]":            "(4, 1) (4, 1) (4, 1)",
		"len(e.list * 2)":                   "8 8 8",
		"min(e.list + (0,))":                "0 0 0",
		"[x for x in 2 * e.list if x == 4]": "[4, 4] [4, 4] [4, 4]",
	} {
		e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "EXPR", expr).Replace(`
def sent(e):
    n = e.args.n
    return record(o = record(a = n, b = 8) if n > 0 else None, n = n, t = (4, 5, 6), list = e.args.p.one)
def behind(e):
    o = e.o
    if o == None:
        return "none"
    return o.a + o.b
l = []
probe(event(("uprobe:BIN:pick", sent)), lambda e: l.append(str(EXPR)))
at_exit(lambda: print(" ".join(l)))
`)), "-c", binary).ok(t)
		got := strings.NewReplacer("101", "1", "102", "2", "103", "3").Replace(strings.TrimSpace(e.stdout))
		if got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
	}
}
