package accept

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// Many probes of calls, whose maps take memory as calls begin, count each call: deep ones, on many stacks.
func TestManyProbesOfCalls(t *testing.T) {
	const probes = 20
	const n = 400
	e := onTarget(t, "goroutines", fmt.Sprintf(`
deep = count()
def also(i):
    probe("ufunc:BIN:main.deep", kernel = lambda e: deep[i, e.args[0] == e.ret].add())
[also(i) for i in range(%d)]
at_exit(lambda: print("deep", sorted(deep.items())))
`, probes), strconv.Itoa(n))
	calls := 0
	for i := range n {
		calls += i%50 + 1
	}
	var want []string
	for i := range probes {
		want = append(want, fmt.Sprintf("((%d, True), %d)", i, calls))
	}
	if text := "deep [" + strings.Join(want, ", ") + "]"; !strings.Contains(e.stdout, text) || e.lost(t) > 0 {
		t.Errorf("got %q, want %s\nstderr: %s", linesWith(e.stdout, "deep"), text, e.stderr)
	}
	tried.Many(t, "%d calls", probes*calls)
}
