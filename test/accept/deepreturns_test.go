package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Of a stack with more calls than the kernel follows (TestUserDeepRecursion) those whose returns alone are probed are
// counted, too, whichever probes the 64 belong to: what was made is what was seen and what was reported.
//
// > The 64 are those of all probes at returns, of all functions.
// > `uretprobe:` counts what it does not see at the entries.
func TestDeepReturns(t *testing.T) {
	const text = "n = count()\nat_exit(lambda: print('all', sum([v for k, v in n.items()])))\n"
	path := traceable(t, "calls")
	for _, tt := range []struct {
		script  string
		through int // probes that see each call
	}{
		{`probe("uretprobe:BIN:down", lambda e: n[e.tid].add())`, 1},
		{`probe("uretprobe:BIN:{down,main}", lambda e: n[e.func].add(), where = lambda e: e.func == "down")`, 1},
		{`[probe("uretprobe:BIN:down", lambda e: n[e.tid].add()) for i in range(2)]`, 2},
		{`[probe(k + ":BIN:down", lambda e: n[e.tid].add()) for k in ("uretprobe", "ufunc")]`, 2},
	} {
		for _, deep := range []int{30, 500} {
			made := tt.through * (deep + 1)
			e := startrace(t, script(t, text+strings.ReplaceAll(tt.script, "BIN", path)+"\n"), "-c",
				fmt.Sprint(path, " down ", deep)).ok(t)
			var seen int
			if _, err := fmt.Sscanf(e.stdout[strings.Index(e.stdout, "all "):], "all %d", &seen); err != nil {
				t.Fatalf("%v: %s", err, e.stdout)
			}
			if lost := e.lost(t); seen+lost != made || lost > 0 && deep < 63/tt.through || seen < min(made, 63) {
				t.Errorf("%s: %d calls: saw %d and reported %d, of %d\nstderr: %s", tt.script, deep+1, seen, lost, made,
					e.stderr)
			}
		}
	}
}
