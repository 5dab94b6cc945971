package accept

import (
	"testing"
)

// > On all kernels `tracepoint:`, `kprobe:` and `kretprobe:` miss an event of an interrupt that comes while a program
// > of another probe runs on its CPU. `rawtracepoint:` and `fentry:` have it. From Linux 5.12 on the last line of the
// > run counts these, too.
//
// A probe at each system call keeps the CPU busy, so that most interrupts come while its program runs.
func TestEventsInInterrupts(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", "-e", `
def busy(e):
    n = 0
    for i in range(2000):
        n += i & e.tid
    return n < 0
raw = count()
perf = count()
probe("tracepoint:raw_syscalls:sys_enter", kernel = busy)
probe("rawtracepoint:hrtimer_expire_entry", kernel = lambda e: raw.add())
probe("tracepoint:timer:hrtimer_expire_entry", kernel = lambda e: perf.add())
`, "-c", program(t, "workload")+" getppid 20000").ok(t)
	raw, perf := number(t, e.stdout, `(?m)^raw: (\d+)$`), number(t, e.stdout, `(?m)^perf: (\d+)$`)
	if raw < perf || perf+e.skipped(t) < raw && atLeast(t, 5, 12) {
		t.Errorf("%d at the raw tracepoint, %d at the other and %d said to be missed", raw, perf, e.skipped(t))
	}
	t.Logf("%d at the raw tracepoint, %d at the other", raw, perf)
}
