package accept

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// notFollowed is the message of processes that were not followed.
var notFollowed = regexp.MustCompile(`up to \d+ new process(es)? not followed`)

// A copy of a process has whole stacks from its first call on.
//
// > A child that was forked has the table of its parent from the beginning.
func TestStackOfForked(t *testing.T) {
	const children = 300
	bin := traceable(t, "chain-frameless")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:c\", kernel = lambda e: n[e.ustack()].add())\n", bin))
	e := startrace(t, text, "--format", "folded", "-c", fmt.Sprintf("%s copies %d", bin, children)).ok(t)
	whole := regexp.MustCompile(`^_start;(\S+;)?main;child;a;b;c (\d+)$`)
	seen := 0
	for line := range strings.Lines(e.stdout) {
		m := whole.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Errorf("stack %s", line)
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		seen += n
	}
	unfollowed := 0 // where the kernel preempts programs
	if m := notFollowed.FindStringSubmatch(e.stderr); m != nil {
		unfollowed = number(t, m[0], `(\d+)`)
	}
	if seen > children || seen+unfollowed+e.lost(t) < children {
		t.Errorf("saw %d of %d, and %d were not followed: %s", seen, children, unfollowed, excerpt(e.stderr))
	}
}

// Copies of one process have numbers that follow each other, and stop at places that lie side by side. Each has its own
// stack at each place.
func TestStacksOfSiblings(t *testing.T) {
	const children, places = 16, 64
	bin := traceable(t, "chain")
	text := script(t, fmt.Sprintf(`
n = count()
def note(e):
    n[e.pid, e.ustack()].add()
for i in range(1, 1 + %d):
    probe("uprobe:%s:places+%%d" %% (i * %d), kernel = note)
`, places, bin, map[string]int{"amd64": 1, "arm64": 4}[runtime.GOARCH]))
	e := startrace(t, text, "--format", "json", "-c", fmt.Sprintf("%s places %d", bin, children)).ok(t)
	followed, stacks := map[int]bool{}, 0
	for line := range strings.Lines(e.stdout) {
		var pid, value int
		var frames []string
		row := struct {
			Key   []any
			Value *int
		}{[]any{&pid, &frames}, &value}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if len(frames) == 0 || !strings.HasPrefix(frames[0], "places") {
			t.Errorf("stack of process %d: %v", pid, frames)
		}
		followed[pid] = true
		stacks += value
	}
	if len(followed) == 0 || stacks != places*len(followed) || strings.Contains(e.stderr, "lost") {
		t.Errorf("%d stacks of %d processes, want %d of each: %s", stacks, len(followed), places, excerpt(e.stderr))
	}
}
