package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// call is one call of openat, as the workload or as the tracer tells it.
type call struct {
	result int
	name   string
}

// opensScript prints what belongs together: thread, result and name of each call.
const opensScript = `
probe("syscall:openat", lambda e: printf("%d %d %s\n", e.tid, e.ret, e.args.filename),
      where = lambda e: e.comm == "wl-opens")
`

// Sixteen threads open files of their own: each event's name, result and thread belong together.
//
// > The two ends of a system call belong together by thread and number.
// > On kernels where calls can be missed (7.0 on) the registers that a call leaves alone must be the same, too.
func TestOpensPaired(t *testing.T) {
	dir, log, out := t.TempDir(), filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "out")
	e, d := traced(t, opensScript, []string{"-o", out},
		"-log", log, "opens", strconv.Itoa(scaled(200_000)), "16", dir)
	made, seen := readCalls(t, log, dir), readCalls(t, out, dir)
	total, mispaired := 0, 0
	for tid, calls := range seen {
		total += len(calls)
		if unmatched := missing(calls, made[tid]); len(unmatched) > 0 {
			mispaired += len(unmatched)
			t.Logf("thread %d: never made %v", tid, unmatched[0])
		}
	}
	if mispaired > 0 {
		t.Errorf("%d of %d events mispaired", mispaired, total)
	}
	checkAccount(t, e, total, d.Calls)
}

// readCalls reads lines of thread, result and name by thread, in order, those of files in dir.
func readCalls(t *testing.T, file, dir string) map[int][]call {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[int][]call{}
	for line := range strings.Lines(string(text)) {
		var tid int
		var c call
		if _, err := fmt.Sscan(line, &tid, &c.result, &c.name); err != nil {
			t.Fatalf("%s: line %q: %v", file, line, err)
		}
		if strings.HasPrefix(c.name, dir+"/") {
			calls[tid] = append(calls[tid], c)
		}
	}
	return calls
}

// missing returns what of seen is not, in this order, among made: events may be lost, but never changed.
func missing(seen, made []call) []call {
	var unmatched []call
	next := 0
	for _, c := range seen {
		at := next
		for at < len(made) && made[at] != c {
			at++
		}
		if at == len(made) {
			unmatched = append(unmatched, c)
			continue
		}
		next = at + 1
	}
	return unmatched
}

func TestMissing(t *testing.T) {
	made := []call{{1, "a"}, {-2, "b"}, {1, "c"}}
	if got := missing([]call{{1, "a"}, {1, "c"}}, made); got != nil {
		t.Errorf("a lost event: got %v", got)
	}
	if got := missing([]call{{1, "a"}, {-2, "c"}}, made); len(got) != 1 {
		t.Errorf("a mispaired event: got %v", got)
	}
}
