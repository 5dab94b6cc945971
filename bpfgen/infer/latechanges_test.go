package infer_test

import (
	"fmt"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
)

// At the prompt each probe is a unit. A handler that is attached cannot be changed any more: that its change of a table
// is late is said once, with the first probe that reads the table. Of a handler that comes later the change is moved.
func TestLateChangesOfEarlierUnits(t *testing.T) {
	p := planOf(t, `
t = table()
def h(e):
    t[e.pid] = 1
    print(e.comm)
probe("rawtracepoint:sched_wakeup", h)
probe("rawtracepoint:sched_switch", lambda e: print(e.comm), where = lambda e: e.pid in t)
probe("rawtracepoint:sched_switch", lambda e: print(e.cpu), where = lambda e: e.pid in t)
probe("rawtracepoint:sched_wakeup", h)
`)
	all, facts := p.Probes, testFacts(t)
	var types infer.Types
	var warned, moved []int
	for i := range all {
		p.Probes = all[i : i+1]
		r, err := infer.Plan(p, facts, infer.Options{Earlier: &types})
		if err != nil {
			t.Fatal(err)
		}
		types.Add(r)
		warned, moved = append(warned, len(r.Warnings)), append(moved, len(r.Halves[i].Moved))
	}
	if got := fmt.Sprint(warned, moved); got != "[0 1 0 0] [0 0 0 1]" {
		t.Errorf("warnings and moved changes: %s", got)
	}
}
