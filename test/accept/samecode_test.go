package accept

import (
	"slices"
	"strings"
	"testing"
)

// Tracepoints at which a probe does the same have one program, which is attached at each of them. Each of their events
// comes, and each run is counted once.
func TestTracepointsShareAProgram(t *testing.T) {
	const text = `
n = count()
p = probe("tracepoint:syscalls:sys_{enter,exit}_sched_get_priority_{min,max}", lambda e: n[e.pid == 0].add(),
          where = lambda e: e.comm.startswith("wl-"))
at_exit(lambda: printf("%d runs\n", p.stats().hits))
`
	e := startrace(t, "explain", "-e", text).ok(t)
	if got := strings.Count(strings.Join(strings.Fields(e.stdout), " "), ", the instructions of p0_"); got != 3 {
		t.Errorf("%d of 4 programs have the instructions of another one, want 3:\n%s", got, e.stdout)
	}
	calls := slices.Concat([]string{"raw"}, slices.Repeat([]string{rawCall(t, "sched_get_priority_min", ",1")}, 3),
		slices.Repeat([]string{rawCall(t, "sched_get_priority_max", ",1")}, 4))
	got, _ := traced(t, text, nil, calls...)
	if want := "14 runs n: False 14"; strings.Join(strings.Fields(got.stdout), " ") != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.stdout, want)
	}
}
