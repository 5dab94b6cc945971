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
		"(t[e.pid][0] + 1, t[e.pid][0] + 1 > 3)":                    "(0, True)",
		"(t[e.pid][0] + 1, not t[e.pid][0] + 1)":                    "(0, True)",
		"(t[e.pid][0] + 1, (t[e.pid][0] + 1 in (1, 2), e.comm))":    "(0, (True, e.comm))",
		"(t[e.pid][0] + 1, t[e.pid][0] > 3 and e.cpu == 1, e.comm)": "(0, True, e.comm)",
		"record(n = t[e.pid].n + 1, b = t[e.pid].n + 1 != 7)":       "record(n = 0, b = True)",
	} {
		const text = "t = table()\nprobe('rawtracepoint:sched_switch', kernel = lambda e: t.set(e.pid, %s))\n"
		got, want := tableTypes(t, fmt.Sprintf(text, set)), tableTypes(t, fmt.Sprintf(text, like))
		if got != want {
			t.Errorf("%s: the table holds %s, want %s", set, got, want)
		}
	}
}

// A table whose keys are made of what other tables have, of which nothing is known at first, is one that a kernel half
// sets.
func TestKeysOfOtherTables(t *testing.T) {
	const text = `
s, t, c = table(), table(), cell(0)
def f(e):
    x = s.get("q", c.get())
    x -= e.cpu
    t[%s] = %s
    was = t.get(%s)
    return was[0] + 1 if was != None else x
probe("rawtracepoint:sched_switch", lambda e: print(e.value), kernel = f)
`
	for _, key := range []string{"x & 3", "(x & 3, e.comm)", "(e.comm, (x, 1))"} {
		for _, value := range []string{"(x, e.comm, x < 3)", "(1, e.comm, \"w\" in s)"} {
			got := tableTypes(t, fmt.Sprintf(text, key, value, key))
			if want := "s64 (s64, str[16], bool) s64"; got != want {
				t.Errorf("t[%s] = %s: the tables hold %s, want %s", key, value, got, want)
			}
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

// A table that only user code sets, and a cell that begins as None, hold what kernel halves compare their values with,
// in whichever way, and if several tests are made of a variable.
func TestTablesByComparison(t *testing.T) {
	for uses, want := range map[string]string{
		`t.get(1) == "x"`:                                     "str[264]",
		`"x" != t[e.pid]`:                                     "str[264]",
		`t.get(1) in ("x", "longer")`:                         "str[264]",
		`"x" in t[1]`:                                         "str[264]",
		`t[1] < "x"`:                                          "str[264]",
		`t[1].startswith("x")`:                                "str[264]",
		`matches(t[1], "x*")`:                                 "str[264]",
		`t.get(1) == e.comm`:                                  "str[264]",
		`t.get(1) == syscall_name(0)`:                         "str[264]",
		`t.get(1) and t[1] == "x"`:                            "str[264]",
		`t.get(1) != None and t.get(1) == "x"`:                "str[264]",
		`None == t.get(1) or not t[1] == "x"`:                 "str[264]",
		`t.get(1) != FAULT and t.get(1) == "x"`:               "str[264]",
		`(lambda v: v != None and (v == "x" or 1))(t.get(1))`: "str[264]",
		`1 in t and t[1] == b"x"`:                             "bytes[256]",
		`t.get(1) == True`:                                    "bool",
		`t.get(1) == ("x", (e.pid, False))`:                   "(str[264], (s64, bool))",
		`t.get(1) == record(a = "x", b = 1)`:                  "record(a=str[264], b=s64)",
		`t.get(1) == 7`:                                       "s64",
		`t.get(1) == e.pid`:                                   "s64",
		`t.get(1) == None`:                                    "s64",
		`1 in t`:                                              "s64",
		`t.get(1) == "x" and t.get(2, 5) != 6`:                "s64", // the default says it
		`t.get(1, "") == 5`:                                   "str[264]",
	} {
		const text = "t = table()\nprobe('rawtracepoint:sched_switch', lambda e: print(e.comm), where = lambda e: %s)\n"
		if got := tableTypes(t, fmt.Sprintf(text, uses)); got != want {
			t.Errorf("%s: the table holds %s, want %s", uses, got, want)
		}
	}
}

// A cell that begins as None holds what it is compared with, if user code sets it.
func TestCellsByComparison(t *testing.T) {
	for text, want := range map[string]string{
		`probe('rawtracepoint:sched_wakeup', lambda e: c.set(str(e.pid)))`: "str[264]?",
		`c.set("y")`: "str[264]?",
		``:           "None",
	} {
		got := tableTypes(t, "c = cell(None)\n"+text+
			"\nprobe('rawtracepoint:sched_switch', lambda e: print(e.comm), where = lambda e: c.get() == 'x')\n")
		if got != want {
			t.Errorf("%s: the cell holds %s, want %s", text, got, want)
		}
	}
}

// What the script itself has put into a table says what it holds, also where kernel halves only ask for keys.
func TestTablesByEntries(t *testing.T) {
	for entry, want := range map[string]string{
		`"y"`: "str[264]", `True`: "bool", `("y", 1)`: "(str[264], s64)", `None`: "s64", `5`: "s64",
	} {
		for _, use := range []string{"1 in t", "t.get(1)", "t.get(1) == 1"} {
			got := tableTypes(t, "t = table()\nt[1] = "+entry+
				"\nprobe('rawtracepoint:sched_switch', lambda e: print(e.value), kernel = lambda e: "+use+")\n")
			if got != want {
				t.Errorf("%s, %s: the table holds %s, want %s", entry, use, got, want)
			}
		}
	}
}

// What the message about a cell's first value advises can be followed: a label gives a string where a script begins a
// cell, so that such a cell begins as None.
func TestAdviceForCells(t *testing.T) {
	const text = "c = cell(%s)\nprobe('rawtracepoint:sched_switch', kernel = lambda e: c.set(%s))\n"
	for _, cell := range []struct{ init, set, other string }{
		{"signal(9)", "signal(e.pid)", ""}, {"errno(2)", "errno(e.pid)", ""},
		{"names(2, 'AF_')", "names(e.pid, 'AF_')", ""},
		{"('a', signal(9))", "(e.comm, signal(e.pid))", ""}, {"0", "e.stack()", ""}, {"'x'", "inet(uint32(e.pid))", ""},
		{"0", "e.comm", "''"}, {"''", "e.pid", "0"}, {"0", "(e.pid, e.comm)", "(0, '')"}, {"0", "e.pid == 1", "False"},
	} {
		_, err := infer.Plan(planOf(t, fmt.Sprintf(text, cell.init, cell.set)), testFacts(t), infer.Options{})
		if err == nil || !strings.Contains(err.Error(), "write cell(None)") {
			t.Errorf("cell(%s), set to %s: got %v", cell.init, cell.set, err)
			continue
		}
		advised := []string{"None"}
		if strings.Contains(err.Error(), "or begin it with a value of this kind") != (cell.other != "") {
			t.Errorf("cell(%s), set to %s: got %v", cell.init, cell.set, err)
		}
		if cell.other != "" {
			advised = append(advised, cell.other)
		}
		for _, init := range advised {
			tableTypes(t, fmt.Sprintf(text, init, cell.set))
		}
	}
}
