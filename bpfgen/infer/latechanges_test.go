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

// What may change a table of the own filter is warned of, in whichever way the table is reached. What only reads it is
// not.
//
// > Where it is not known to be a change, as in a way that is not followed, a warning says so.
func TestHiddenChangesOfTheOwnFilter(t *testing.T) {
	for body, want := range map[string]bool{
		`getattr(t, "set")(e.pid, 1)`:                    true,
		`l[0][e.pid] = 1`:                                true,
		`[x.set(e.pid, 1) for x in l]`:                   true,
		`m(e.pid, 1)`:                                    true,
		`(t if str(e.pid) == "1" else t)[e.pid] = 1`:     true,
		`print(t.get(e.pid), e.pid in t, len(t))`:        false,
		`after("1s", lambda: t.set(1, 1))`:               false,
		`t[e.pid] = 1; after("1s", lambda: t.pop(1, 0))`: false,
		`[print(k) for k in sorted(t.keys()) if k > 1]`:  false,
	} {
		p := planOf(t, `
t = table()
l = [t]
m = t.set
def h(e):
    print(e.comm)
    `+body+`
probe("rawtracepoint:sched_wakeup", h, where = lambda e: e.pid not in t)
`)
		r, err := infer.Plan(p, testFacts(t), infer.Options{})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		const may = "is read by the filter of this probe when an event happens, and may be changed here"
		if got := strings.Contains(fmt.Sprint(r.Warnings), may); got != want {
			t.Errorf("%s: warnings: %v", body, r.Warnings)
		}
	}
}
