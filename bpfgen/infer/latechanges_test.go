package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
)

// At the prompt each probe is a unit. A handler that is attached cannot be changed any more: that its change of a table
// is late is said once, with the first probe that reads the table. When it is detached and entered again the change is
// moved.
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
	var first *infer.Result
	for i := range all {
		p.Probes = all[i : i+1]
		if i == 3 {
			types.Remove(first)
		}
		r, err := infer.Plan(p, facts, infer.Options{Earlier: &types})
		if err != nil {
			t.Fatal(err)
		}
		types.Add(r)
		if i == 0 {
			first = r
		}
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
		`getattr(RF, "y")[e.pid] = 1`:                    true,
		`w = getattr(RF, "y"); w[e.pid] = 1`:             true,
		`getattr(RF, "nope", t)[e.pid] = 1`:              true,
		`getattr("", "nope", t)[e.pid] = 1`:              true,
		`getattr(RF, "m")(e.pid, 1)`:                     true,
		`x = [getattr]; x[0](RF, "y")[e.pid] = 1`:        true,
		`max(t, t, key = lambda x: 1)[e.pid] = 1`:        true,
		`min(u, t, key = lambda x: 1).set(e.pid, 1)`:     true,
		`q = max; q(t, t, key = len)[e.pid] = 1`:         true,
		`RS[0].y[e.pid] = 1`:                             true,
		`[r.y.set(e.pid, 1) for r in RS]`:                true,
		`r = DR["x"]; r.y[e.pid] = 1`:                    true,
		`gr().y[e.pid] = 1`:                              true,
		`(RF if e.cpu else RF).y[e.pid] = 1`:             true,
		`RR.l[0].y[e.pid] = 1`:                           true,
		`x = {"r": RF}; x["r"].y[e.pid] = 1`:             true,
		`sorted([e.pid], key = getattr(RF, "m"))`:        true,
		`print(RF.name, RR.a.name, RF.y.get(1))`:         false,
	} {
		for _, more := range []string{"", ", kernel = lambda e: e.cpu > 1", ", keep = 5"} {
			said, err := warningsOfFilter(t, strings.ReplaceAll(body, "; ", "\n    "), more)
			const may = "is read by the filter of this probe when an event happens, and may be changed here"
			if got := strings.Contains(said, may); got != want || err != nil {
				t.Errorf("%s%s: %v, warnings: %s", body, more, err, said)
			}
		}
	}
}

// warningsOfFilter are those of a handler whose probe has a filter that reads t, and more arguments.
func warningsOfFilter(t *testing.T, body, more string) (string, error) {
	p := planOf(t, `
t = table()
l = [t]
m = t.set
u = table()
RF = record(y = t, m = t.set, name = "a")
RR = record(a = RF, l = [RF])
RS, DR = [RF, record(y = u)], {"x": RF}
def gr():
    return RF
def h(e):
    print(e.comm)
    `+body+`
probe("rawtracepoint:sched_wakeup", h, where = lambda e: e.pid not in t`+more+`)
`)
	r, err := infer.Plan(p, testFacts(t), infer.Options{})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(r.Warnings), nil
}

// A handler that reads what a kernel half writes is warned of also where it has the table out of a record, and one that
// only reads another field of the record is not.
//
// > Where the table is in a record, and it is not followed which of its fields is taken, as out of a list of records, a
// > warning says that it may be read or changed.
func TestTablesInRecords(t *testing.T) {
	for body, want := range map[string]string{
		`print(RS[0].y.get(1))`:                "may be read or changed here in user space",
		`for r in RS: print(r.y.get(1))`:       "may be read or changed here in user space",
		`print([1 in r.y for r in RS])`:        "may be read or changed here in user space",
		`print(getattr(RF, "y").get(1))`:       "may be read or changed here in user space",
		`print(given(RF).y.get(1))`:            "may be read or changed here in user space",
		`print(RF.y.get(1), 1 in RR.a.y)`:      "and read here in user space",
		`print(RF.name, RR.a.name, given(""))`: "",
	} {
		p := planOf(t, `
t = table()
RF = record(y = t, name = "a")
RR = record(a = RF)
RS = [RF]
def given(r):
    return r
def h(e):
    print(e.comm)
    `+body+`
probe("rawtracepoint:sched_wakeup", lambda e: t.set(e.pid, 1))
probe("rawtracepoint:sched_switch", h)
`)
		r, err := infer.Plan(p, testFacts(t), infer.Options{})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		said := fmt.Sprint(r.Warnings)
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%s: warnings: %v", body, r.Warnings)
		}
	}
}

// The kernel goes on making the change of a probe that is attached beside one that is late, which a warning says.
// A late change that is attached makes those late that come after it, whatever reads the table by then.
//
// > Likewise the kernel goes on making the change of a probe that is attached when a later one changes the table late.
// > Then the order is not kept, and a warning says which probe to detach and to enter again.
func TestOrderOfChangesInSeveralUnits(t *testing.T) {
	const warning = "the changes are not made in the order of their events"
	const reader, kernel = `probe("rawtracepoint:sched_switch", lambda e: print(e.comm), where = lambda e: e.pid in t)`,
		`probe("rawtracepoint:sched_wakeup", inKernel)`
	for _, c := range []struct {
		late   string
		probes []string
		moved  string
		said   bool
	}{
		{"t[e.pid] = 1 if e.comm.upper() == 'DD' else 2", []string{reader, kernel, "late"}, "[0 1 0]", true},
		{"m(e.pid, 1)", []string{reader, kernel, "late"}, "[0 1 0]", true},
		{"print(e.pid in t)", []string{reader, kernel, "late"}, "[0 1 0]", false},
		{"after('1s', lambda: t.set(1, 1))", []string{reader, kernel, "late"}, "[0 1 0]", false},
		{"t[e.pid] = 1 if e.comm.upper() == 'DD' else 2", []string{reader, "late", kernel}, "[0 0 0]", false},
		{"m(e.pid, 1)", []string{reader, "late", kernel}, "[0 0 0]", false},
		{"m(e.pid, 1)", []string{"late", reader, kernel}, "[0 0 0]", false},
		{"print(e.pid in t)", []string{reader, "late", kernel}, "[0 0 1]", false},
		{"after('1s', lambda: t.set(1, 1))", []string{reader, "late", kernel}, "[0 0 1]", false},
	} {
		p := planOf(t, `
t = table()
m = t.set
def inKernel(e):
    t[e.pid] = 1
    print(e.comm)
def late(e):
    `+c.late+`
    print(e.comm)
`+strings.ReplaceAll(strings.Join(c.probes, "\n"), "late", `probe("rawtracepoint:sched_wakeup", late)`)+"\n")
		all, facts := p.Probes, testFacts(t)
		var types infer.Types
		var moved []int
		said := false
		for i := range all {
			p.Probes = all[i : i+1]
			r, err := infer.Plan(p, facts, infer.Options{Earlier: &types})
			if err != nil {
				t.Fatal(err)
			}
			types.Add(r)
			moved = append(moved, len(r.Halves[i].Moved))
			said = said || strings.Contains(fmt.Sprint(r.Warnings), warning)
		}
		if got := fmt.Sprint(moved); got != c.moved || said != c.said {
			t.Errorf("%s, %s: moved %s, order warned of: %t", c.late, c.probes, got, said)
		}
	}
}

// A probe that is entered again at the prompt has its warning about the order of changes once. One that changes
// another table has its own.
func TestOrderIsSaidOnce(t *testing.T) {
	p := planOf(t, `
t, other = table(), table()
def inKernel(e):
    t[e.pid] = 1
    other[e.pid] = 1
    print(e.comm)
def late(e):
    t[e.pid] = 1 if e.comm.upper() == 'DD' else 2
    print(e.comm)
def lateOther(e):
    other[e.pid] = 1 if e.comm.upper() == 'DD' else 2
    print(e.comm)
probe("rawtracepoint:sched_switch", lambda e: print(e.comm), where = lambda e: e.pid in t and e.pid in other)
probe("rawtracepoint:sched_wakeup", inKernel)
probe("rawtracepoint:sched_wakeup", late)
probe("rawtracepoint:sched_wakeup", late)
probe("rawtracepoint:sched_wakeup", lateOther)
probe("rawtracepoint:sched_wakeup", late)
`)
	all, facts := p.Probes, testFacts(t)
	var types infer.Types
	var said []bool
	var last *infer.Result
	for i := range all {
		p.Probes = all[i : i+1]
		r, err := infer.Plan(p, facts, infer.Options{Earlier: &types})
		if err != nil {
			t.Fatal(err)
		}
		if i > 2 {
			types.Remove(last)
		}
		types.Add(r)
		last = r
		said = append(said, strings.Contains(fmt.Sprint(r.Warnings), "not made in the order of their events"))
	}
	if got := fmt.Sprint(said); got != "[false false true false true false]" {
		t.Errorf("the order was warned of: %s", got)
	}
}
