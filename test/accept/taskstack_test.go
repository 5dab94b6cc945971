package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// Programs of probes in user programs keep more than 48 bytes of values on their stack while they run for long, and no
// other task changes them, where the kernel preempts programs, too.
func TestStackOfTask(t *testing.T) {
	const calls = 5000
	bin := traceable(t, "onecpu")
	given := "e.args.a, e.args.b, e.args.c, e.args.d"
	for _, way := range []struct{ point, values string }{
		{`"uprobe:%s:hit"`, given},
		{`"uretprobe:%s:hit"`, "e.ret, e.ret + 1, e.ret + 2, e.ret + 3"},
		{`"ufunc:%s:hit"`, given},
		{`span("uprobe:%[1]s:hit", "uretprobe:%[1]s:hit")`, "e.ret, e.ret + 1, e.ret + 2, e.ret + 3"},
	} {
		text := "n = count()\nt = table()\ndef at(e):\n    a, b, c, d = " + way.values + "\n" +
			"    list = (a * 3, b * 5, c * 7, d * 9, a * b, a * c, a * d, b * c)\n    sum = 0\n" +
			"    for i in range(300):\n        sum += t.get(i, 1)\n" +
			"    n[e.pid, list[0], list[1], list[2], list[3], list[4], list[5], list[6], list[7], sum].add()\n" +
			"probe(" + fmt.Sprintf(way.point, bin) + ", kernel = at)\n" +
			"at_exit(lambda: print([v for _, v in n.items()]))\n"
		e := startrace(t, script(t, text), "-c", fmt.Sprintf("%s %d", bin, calls)).ok(t)
		got := strings.Join(linesWith(e.stdout, "["), " ")
		seen := strings.Count(got, fmt.Sprint(calls))
		all := "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprint(calls, ", "), seen), ", ") + "]"
		if got != all || seen != 4 && e.lost(t) == 0 { // else a child was missed, and it is said
			t.Errorf("%s: calls by what they are given are %s, want 4 times %d; %s", way.point, got, calls, e.stderr)
		}
	}
	tried.Many(t, "%d calls", 4*4*calls)
}
