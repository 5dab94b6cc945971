package infer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
)

// tablesOfEachOther are scripts whose tables have what other tables have, which only
// user space sets, or nobody. The probes are their last lines.
var tablesOfEachOther = []string{`
limit = table()
t = table()
c = cell(0)
def f(e): t[e.pid] = (limit.get(1), e.time)
def g(e):
    r = t.pop(e.pid)
    if r != None: c.add(r[1])
probe("rawtracepoint:sched_switch", kernel = g)
probe("rawtracepoint:sched_wakeup", kernel = f)
`, `
a = table()
b = table()
c = table()
def f(e):
    if e.pid in a: b[e.tid] = (a.get(e.pid), e.comm)
def g(e):
    r = b.pop(e.pid)
    if r != None: c[e.pid] = (r[1], r[0])
def h(e): return c.get(e.pid, ("", 0))[0]
probe("rawtracepoint:sched_switch", lambda e: print(e.value), kernel = h)
probe("rawtracepoint:sched_wakeup", kernel = g)
probe("rawtracepoint:sched_switch", kernel = f)
`, `
sizes = table()
live = table()
def f(e): sizes[e.tid] = live.get(e.pid)
def g(e):
    n = sizes.pop(e.tid)
    if n != None: live[e.pid] = n
probe("rawtracepoint:sched_switch", kernel = f)
probe("rawtracepoint:sched_wakeup", kernel = g)
`}

// What tables hold does not depend on the order of the probes.
func TestOrderOfProbes(t *testing.T) {
	for _, text := range tablesOfEachOther {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "probe(") })
		want := ""
		permutations(lines[first:], func(probes []string) {
			got := tableTypes(t, strings.Join(slices.Concat(lines[:first], probes), "\n"))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s\ntables hold %s, in another order %s", strings.Join(probes, "\n"), got, want)
			}
		})
	}
}

// A table that is set to a tuple or a record of what it has holds such ones: the other parts tell what they are, and
// what is made of the old part is an int.
func TestTablesOfTheirOwn(t *testing.T) {
	for set, like := range map[string]string{
		"(t[e.pid][0] + 1, e.comm)":                                 "(0, e.comm)",
		"((t.get(e.pid) or (0, 0))[0], e.time)":                     "(0, e.time)",
		"(t[e.pid][0] | 1, (e.cpu, t[e.pid][1][1]), 5)":             "(0, (e.cpu, 0), 5)",
		"record(n = t[e.pid].n + 1, c = (True, t[e.pid].c[1] + 1))": "record(n = 0, c = (True, 0))",
	} {
		const text = "t = table()\nprobe('rawtracepoint:sched_switch', kernel = lambda e: t.set(e.pid, %s))\n"
		got, want := tableTypes(t, fmt.Sprintf(text, set)), tableTypes(t, fmt.Sprintf(text, like))
		if got != want {
			t.Errorf("%s: the table holds %s, want %s", set, got, want)
		}
	}
}

// permutations calls f with each order of list.
func permutations(list []string, f func([]string)) {
	if len(list) == 0 {
		f(nil)
		return
	}
	for i, first := range list {
		permutations(slices.Delete(slices.Clone(list), i, i+1),
			func(rest []string) { f(append([]string{first}, rest...)) })
	}
}

// tableTypes are the types of the values of a script's containers.
func tableTypes(t *testing.T, text string) string {
	t.Helper()
	res, err := infer.Plan(planOf(t, text), testFacts(t), infer.Options{})
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	var out []string
	for _, c := range res.Tree.Containers {
		if c != nil {
			out = append(out, c.Value.String())
		}
	}
	return strings.Join(out, " ")
}
