package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Several loops over computed ranges, each of which asks in each round what no round changes: the verifier would follow
// the rest of a loop anew from each round, and each loop once for each number of rounds of those before. Their values
// are compared, so it knows where they come from.
func TestLoopsThatAskTheSame(t *testing.T) {
	e := onTarget(t, "calls", `
n = count()

def folded(k, x):
    a = 0
    for i in range(k):
        a = (a << 1) ^ (x if x & 72 else 3)
    return a

def three(e):
    k, x = e.args[0], e.args[0] * 3
    a, b, c = folded(k, x), folded(k, x + 1), folded(k + 1, x)
    n[a < b, b == c, a].add()

probe("uprobe:BIN:add", three)
at_exit(lambda: [print("got", *k) for k, v in n.items()])
`, "calls", "40")
	folded := func(k, x int64) (a int64) {
		for range k {
			by := int64(3)
			if x&72 != 0 {
				by = x
			}
			a = a<<1 ^ by
		}
		return a
	}
	word := map[bool]string{true: "True", false: "False"}
	want := map[string]bool{}
	for k := range int64(40) {
		a, b, c := folded(k, 3*k), folded(k, 3*k+1), folded(k+1, 3*k)
		want[fmt.Sprint("got ", word[a < b], " ", word[b == c], " ", a)] = true
	}
	var lines []string
	for line := range want {
		lines = append(lines, line)
	}
	equalLines(t, sorted(e.stdout, "got"), lines)
	if strings.Contains(e.stderr, "ended early") {
		t.Errorf("rounds were cut off: %s", e.stderr)
	}
}
