package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

const captureScript = `
load("std/sched.star", "runnable")
limit = 5
opened = table()
names = {1: "a", 2: "b"}
loop = []
loop.append(loop)

def helper(e):
    return runnable(e) and limit + later > 3

later = 7

for n in [1, 2]:
    def where(e, n = n):
        return helper(e) and n in names and e.args.fd == O_CREAT
    probe("sc:open{,at}", where = where, kernel = lambda e: opened.get(e.pid), name = "p%d" % n)

def closure(x):
    return lambda e: x == len(loop)

probe(["t:a:b", "u:/bin/x:f:g"], kernel = closure(1))
probe("k:f", kernel = closure("two"))
def main():
    mine = count(by = "pid")
    a, b = (hist(), cell((1, "x")))
    probe("p:99hz", kernel = lambda e: mine[e.pid].add())
`

func TestCapture(t *testing.T) {
	h, _ := runTest(t, captureScript)
	p := h.Plan()
	if len(p.Probes) != 5 {
		t.Fatalf("%d probes", len(p.Probes))
	}
	w1, w2 := p.Probes[0].Where, p.Probes[1].Where
	if w1 == w2 || w1.Def != w2.Def {
		t.Error("two closures of one def are not two Funcs with one tree")
	}
	if fmt.Sprint(w1.Defaults[1], w2.Defaults[1]) != "{1} {2}" || w1.Defaults[0] != nil {
		t.Errorf("defaults %v %v", w1.Defaults, w2.Defaults)
	}
	if _, ok := w1.Names["O_CREAT"].(plan.Int); !ok {
		t.Errorf("O_CREAT is %#v", w1.Names["O_CREAT"])
	}
	helper := w1.Names["helper"].(*plan.Func)
	if v := helper.Names["later"].(plan.Int); v.Big.Int64() != 7 {
		t.Errorf("later is %v", v)
	}
	if f, ok := helper.Free[0].(*plan.Func); !ok || f.Name != "runnable" || f.Pos.Filename() != "std/sched.star" {
		t.Errorf("runnable is %#v", helper.Free[0])
	}
	if d := w1.Names["names"].(plan.Dict); len(d) != 2 || d[1].Value != plan.String("b") {
		t.Errorf("names is %v", d)
	}
	if r := p.Probes[0].Kernel.Names["opened"].(plan.Ref); r.Container != p.Containers[0] || r.Name != "opened" {
		t.Errorf("opened is %v", r)
	}
}

// > | elements of a constant of a kernel half, each as often as it stands there; levels of them | 1048576; 1000 |
func TestConstantsThatAreTooLarge(t *testing.T) {
	const deep = "tuple that is nested more than 1000 deep"
	for grows, want := range map[string]string{
		"a = (a, a)":                       "tuple of more than 1048576 elements",
		"a = record(x = a, y = a)":         "record of more than 1048576 elements",
		"a = (record(x = a), [a], a)":      "tuple of more than 1048576 elements",
		"a = [a, a]":                       "", // one list stands in many places
		"a = {1: (a, a)}":                  "", // one dict
		"a = (a,) if i < 10 else a":        "",
		"a = (a,)\n    b = [a]\n    a = b": "",
	} {
		h, _ := runTest(t, "a = (1, [])\nfor i in range(19):\n    "+grows+"\nprobe('k:f', kernel = lambda e: a)")
		got := h.Plan().Probes[0].Kernel.Names["a"]
		if o, opaque := got.(plan.Opaque); opaque != (want != "") || opaque && o.Type != want {
			t.Errorf("%s: %.100v, want %s", grows, o, want)
		}
	}
	// A function in a list captures what is too large, and the list itself.
	h, _ := runTest(t, "big = (1, 2)\nfor i in range(19):\n    big = (big, big)\na = []\n"+
		"def f():\n    return (a, big, (big, a))\na.extend([f, a, f])\nprobe('k:f', kernel = lambda e: a)")
	got := h.Plan().Probes[0].Kernel.Names["a"].(plan.List)
	f, ok := got[0].(*plan.Func)
	if !ok || f.Names["big"] != (plan.Opaque{Type: "tuple of more than 1048576 elements"}) ||
		got[1] != (plan.Opaque{Type: "list that holds itself"}) {
		t.Errorf("%.100v", got)
	}
	// What was captured before counts in another value, too.
	h, _ = runTest(t, "a = []\nfor i in range(600):\n    a = [a]\nb = a\nfor i in range(600):\n    b = [b]\n"+
		"probe('k:f', kernel = lambda e: a or b)")
	o, is := h.Plan().Probes[0].Kernel.Names["b"].(plan.Opaque)
	if !is || o.Type != strings.Replace(deep, "tuple", "list", 1) {
		t.Errorf("a list of 1,200 levels, of which 600 were captured: %.100v", o)
	}
	h, _ = runTest(t, "a = ()\nfor i in range(2000):\n    a = (a,)\nprobe('k:f', kernel = lambda e: a)")
	if got := h.Plan().Probes[0].Kernel.Names["a"]; got != (plan.Opaque{Type: deep}) {
		t.Errorf("%.100v, want %s", got, deep)
	}
}

func TestCaptureClosures(t *testing.T) {
	h, _ := runTest(t, captureScript)
	p := h.Plan()
	k2, k3 := p.Probes[2].Kernel, p.Probes[3].Kernel
	if k2.Lambda != k3.Lambda || k2.Free[0].(plan.Int).Big.Int64() != 1 || k3.Free[0] != plan.String("two") {
		t.Errorf("captured %v and %v", k2.Free, k3.Free)
	}
	if l := k2.Names["loop"].(plan.List); l[0] != (plan.Opaque{Type: "list that holds itself"}) {
		t.Errorf("loop is %v", l)
	}
	if k2.Names["len"] != plan.Builtin("len") {
		t.Errorf("len is %v", k2.Names["len"])
	}
	if again := h.Capture(h.Origin(k2)); again != k2 {
		t.Error("a function was captured twice")
	}
}

func TestDeclarations(t *testing.T) {
	h, _ := runTest(t, captureScript)
	p := h.Plan()
	var got []string
	for i, c := range p.Containers {
		got = append(got, fmt.Sprintf("%d %s %s %v %d:%d", c.ID, c.Kind, c.Name, c.By, c.Pos.Line, c.Pos.Col))
		if i != c.ID || h.Env().Containers()[i].Decl() != c {
			t.Errorf("container %d is %d", i, c.ID)
		}
	}
	want := []string{"0 table opened [] 4:10", "1 count mine [pid] 25:12", "2 hist a [] 26:13", "3 cell b [] 26:21"}
	if !slices.Equal(got, want) {
		t.Errorf("containers\n%q, want\n%q", got, want)
	}
	pt := p.Probes[2].Points
	u := pt[1].(*plan.Pattern)
	if u.Provider != "uprobe" || !slices.Equal(u.Args, []string{"/bin/x", "f:g"}) || u.Pos.Line != 22 {
		t.Errorf("pattern %+v", u)
	}
	if sc := p.Probes[0].Points[0].(*plan.Pattern); sc.Provider != "syscall" || sc.Args[0] != "open{,at}" ||
		p.Probes[0].Name != "p1" {
		t.Errorf("pattern %+v", sc)
	}
}

func TestPoints(t *testing.T) {
	h, _ := runTest(t, `
key = lambda e: e.args.dev
io = span(["t:block:a", "t:block:b"], "t:block:c", key = key, again = "first", timeout = "2s")
ev = event((io, lambda e: record(dev = ev2)), ("k:f", None), doc = "d")
ev2 = first("k:new", ev)
probe(ev2, kernel = lambda e: ev)
`)
	p := h.Plan()
	f := p.Probes[0].Points[0].(*plan.First)
	ev := f.Points[1].(*plan.Event)
	sp := ev.Arms[0].Points[0].(*plan.Span)
	if sp.StartKey == nil || sp.StartKey != sp.EndKey || sp.Timeout != 2e9 || sp.Again != "first" ||
		len(sp.Start) != 2 {
		t.Errorf("span %+v", sp)
	}
	if ev.Doc != "d" || ev.Arms[1].Fn != nil || ev.Pos.Line != 4 {
		t.Errorf("event %+v", ev)
	}
	if ev.Arms[0].Fn.Names["ev2"] != (plan.PointValue{Point: f}) ||
		p.Probes[0].Kernel.Names["ev"] != (plan.PointValue{Point: ev}) {
		t.Error("points held by variables are not those of the probe")
	}
}

// A function that captured itself is no trap for freezing, also where a list
// holds it; what else it captured is frozen.
func TestFreezeFunctionThatCapturedItself(t *testing.T) {
	h, _ := runTest(t, `
def make():
    seen = [1]
    def again(e):
        return again(e) if seen else held[0](e)
    held = [again]
    return again, seen

again, seen = make()
probe("rawtracepoint:sched_switch", kernel = again)
def change():
    seen.append(2)
`)
	h.Plan()
	_, err := h.Call(h.globals["change"].(starlark.Callable))
	if err == nil || !strings.Contains(err.Error(), "cannot change any more") {
		t.Errorf("a change of what a kernel half captured: got %v, want an error that says that it cannot", err)
	}
}

// What functions in lists, dicts, tuples and records captured is frozen as what is captured by name is, and of a record
// the fields that a kernel half names.
func TestFreezeFunctionsInContainers(t *testing.T) {
	byField := []string{"R.f()", "R.f() and R.n", "LIST[0]()", "DICT[\"f\"]()", "PAIR[1]()", "R.r.f()"}
	whole := []string{"given()", "closure()", "(lambda r = R: r.f())()", "getattr(R, \"f\")()"}
	for _, asks := range slices.Concat(byField, whole) {
		for _, change := range []string{"seen.append(2)", "R.free.append(2)"} {
			h, _ := runTest(t, `
seen = [1]
def size(): return len(seen)
R = record(f = size, n = 1, free = [], r = record(f = lambda: size()))
LIST, DICT, PAIR = [size], {"f": size}, (1, size)
def given(r = R): return r.f()
def closed(r): return lambda: r.f()
closure = closed(R)
probe("rawtracepoint:sched_switch", kernel = lambda e: `+asks+`)
def change():
    `+change+`
`)
			h.Plan()
			_, err := h.Call(h.globals["change"].(starlark.Callable))
			told := err != nil && strings.Contains(err.Error(), "cannot change any more")
			if want := change == "seen.append(2)" || slices.Contains(whole, asks); told != want {
				t.Errorf("%s beside %s: refused is %v: %v", change, asks, told, err)
			}
		}
	}
}
