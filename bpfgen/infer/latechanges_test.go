package infer_test

import (
	"fmt"
	"strings"
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

// The message names the probe that is attached and says what to do, also where the change is hidden, and a table that
// is only read is none.
//
// > A probe that is attached at the prompt before anything reads the table goes on making its change in user space.
// > A message says so when the first reader is entered, and what to do: the writer is detached and entered again.
func TestMessagesOfEarlierUnits(t *testing.T) {
	const again = "Detach it and enter it again, so that the kernel makes the change, where it can"
	for body, want := range map[string]string{
		"t[e.pid] = 1":                          "and changed here",
		"m(e.pid, 1)":                           "and may be changed here",
		"sorted([1], key = lambda k: t.add(k))": "and may be changed here",
		"print(t.get(e.pid), e.pid in t)":       "",
		"after(\"1s\", lambda: t.set(1, 1))":    "",
	} {
		p := planOf(t, `
t = table()
m = t.set
def h(e):
    `+body+`
    print(e.comm)
probe("rawtracepoint:sched_wakeup", h)
probe("rawtracepoint:sched_switch", lambda e: print(e.comm), where = lambda e: e.pid in t)
`)
		all, facts := p.Probes, testFacts(t)
		var types infer.Types
		var said []string
		for i := range all {
			p.Probes = all[i : i+1]
			r, err := infer.Plan(p, facts, infer.Options{Earlier: &types})
			if err != nil {
				t.Fatal(err)
			}
			types.Add(r)
			for _, d := range r.Warnings {
				said = append(said, d.Error())
			}
		}
		got := strings.Join(said, "\n")
		if want == "" && got != "" || !strings.Contains(got, want) || want != "" && (len(said) != 1 ||
			!strings.Contains(got, again) || !strings.Contains(got, "The probe of t.star:7:1 was attached before")) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
