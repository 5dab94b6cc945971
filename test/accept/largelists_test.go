package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A list of some thousand large numbers is compared with, and a longer one is refused with what to do instead, which
// works.
func TestLargeLists(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	run := func(n int, ask, more string) ended {
		return startrace(t, "-q", script(t, fmt.Sprintf(`
n = count()
values = [(1 << 40) + i * 7919 for i in range(%d)] + [3]
%s
probe("uprobe:%s:use", lambda e: n.add(), where = lambda e: %s)
`, n, more, binary, ask)), "-c", binary)
	}
	for _, n := range []int{4000, 6000} {
		for ask, want := range map[string]string{"e.args.k in values": "n: 2", "e.args.k not in values": "n: 28"} {
			if e := run(n, ask, "").ok(t); strings.TrimSpace(e.stdout) != want {
				t.Errorf("%s of %d: %s", ask, n, e.stdout)
			}
		}
	}
	refusal := run(20000, "e.args.k in values", "").stderr
	for _, part := range []string{"too large by this in, which compares with each of 20001 values",
		"t = table(size = 20001), [t.set(x, 1) for x in values], and … in t"} {
		if !strings.Contains(refusal, part) {
			t.Errorf("20001 values: %s, want %q", refusal, part)
		}
	}
	e := run(20000, "e.args.k in t", "t = table(size = 20001)\n[t.set(x, 1) for x in values]").ok(t)
	if strings.TrimSpace(e.stdout) != "n: 2" {
		t.Errorf("by a table: %s", e.stdout)
	}
}
