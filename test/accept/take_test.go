package accept

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Each thread numbers its calls; every part that is taken says how many numbers came, the lowest and the highest.
const takeScript = `
seq = table()
parts = group(by = "tid", calls = count(), low = lowest(), high = highest(), all = stats())

def number(e):
    seq[e.tid] += 1
    n = seq.get(e.tid, 0)
    x = n
    for i in range(16000):  # so that many are on their way when a part is taken
        x = (x * 31 + i) ^ (x >> 3)
    if x == 7:
        return
    p = parts[e.tid]
    p.calls.add()
    p.low.add(n)
    p.high.add(n)
    p.all.add(n)

probe("syscall:getppid", kernel = number, where = lambda e: e.comm == "wl-getppid")

def take():
    for tid, p in parts.take().items():
        printf("%d %d %d %d %d %d %d\n", tid, p.calls, p.low, p.high, p.all.count, p.all.lowest, p.all.highest)

every("1ms", take)
`

// Beside eight writing threads each call is in exactly one part, whole: the parts of a thread are its calls in order,
// cut into pieces without gap or overlap.
func TestTakeExtremes(t *testing.T) {
	const threads = 8
	e, d := traced(t, takeScript, nil, "getppid", strconv.Itoa(scaled(20_000)), strconv.Itoa(threads))
	next := map[int]int{}
	total, parts := 0, 0
	for line := range strings.Lines(e.stdout) {
		var tid, calls, low, high, count, lowest, highest int
		if _, err := fmt.Sscan(line, &tid, &calls, &low, &high, &count, &lowest, &highest); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if low != next[tid]+1 || high-low+1 != calls || count != calls || lowest != low || highest != high {
			t.Fatalf("thread %d: calls %d to %d, %d of them, after call %d; stats: %d, %d to %d", tid, low, high, calls,
				next[tid], count, lowest, highest)
		}
		next[tid] = high
		total += calls
		parts++
	}
	// While a program is preempted 7.2 drops the events of all other threads on that CPU: of some threads, and in some
	// of the takings, none may be seen. What is seen must fit all the same.
	if enough := parts >= 4 && len(next) == threads; !enough && e.skipped(t) == 0 || parts == 0 {
		t.Errorf("%d parts of %d threads", parts, len(next))
	}
	checkAccount(t, e, total, d.Calls)
}

// clear() drops what was before, also of extremes, and no more.
func TestClearExtremes(t *testing.T) {
	const text = `
high = highest()
probe("syscall:getppid", kernel = lambda e: high.add(e.pid), where = lambda e: e.comm == "wl-getppid")

def last():
    before = high.value
    high.clear()
    print(before, high.value, high.take().value)

at_exit(last)
`
	e, d := traced(t, text, nil, "getppid", "1000", "4")
	if want := fmt.Sprintf("%d None None\n", d.PID); e.stdout != want && e.skipped(t) == 0 {
		t.Errorf("got %q, want %q; stderr: %s", e.stdout, want, excerpt(e.stderr))
	}
}
