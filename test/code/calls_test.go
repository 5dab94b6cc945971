package code

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
)

// callsScript makes a script with a function of some statements that is called
// several times.
func callsScript(statements, calls int) string {
	s := "t = table()\nseed = cell(0)\ndef f(x, y):\n    n = x\n"
	for i := range statements {
		s += fmt.Sprintf("    if n %% %d == y:\n        n += x * %d\n", i+3, i+7)
	}
	s += "    return n\ndef h(e):\n    s = seed.get()\n"
	for range calls {
		s += "    s = f(s, e.tid)\n"
	}
	return s + "    t[0] = s\nprobe(\"rawtracepoint:sched_switch\", kernel = h)\n"
}

// timed makes the kernel measure how long programs run.
func timed(b *testing.B) *kernel.Facts {
	b.Helper()
	need.Loading(b)
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stats.Close() })
	return kernel.Open(kernel.Options{})
}

// BenchmarkCalls compares functions that stand at each call with subprograms:
// instructions, and how long a run takes.
func BenchmarkCalls(b *testing.B) {
	facts := timed(b)
	for _, statements := range []int{1, 2, 4, 8, 16} {
		for _, calls := range []int{2, 8} {
			b.Run(fmt.Sprintf("%dx%d", statements, calls), func(b *testing.B) {
				for b.Loop() { // it would forget what was reported before
				}
				for name, o := range map[string]ssagen.Outlining{"inlined": ssagen.NeverCall,
					"called": ssagen.AlwaysCall} {
					u := compile(b, "calls.star", callsScript(statements, calls), facts,
						bpfgen.Options{RingSize: 1 << 16, Outlining: o})
					n := 0
					for _, p := range u.Spec.Programs {
						n += int(p.Instructions.Size()) / 8
					}
					b.ReportMetric(float64(n), name)
					b.ReportMetric(float64(runTime(b, u).Nanoseconds()), "ns_"+name)
				}
			})
		}
	}
}

// BenchmarkLoops compares a loop that stands in the program with one that the
// kernel runs, by the time of a round.
func BenchmarkLoops(b *testing.B) {
	facts := timed(b)
	const rounds = 2000
	text := fmt.Sprintf("got = cell(0)\ndef h(e):\n    n = got.get()\n    for i in range(%d):\n"+
		"        if n & 3 == i & 3:\n            n += i\n        n += 1\n    got.set(n)\n"+
		"probe(\"rawtracepoint:sched_switch\", kernel = h)\n", rounds)
	for b.Loop() { // it would forget what was reported before
	}
	for name, o := range map[string]ssagen.Outlining{"followed": ssagen.NeverCall, "called": ssagen.AlwaysCall} {
		u := compile(b, "loops.star", text, facts, bpfgen.Options{RingSize: 1 << 16, HasLoop: true, Outlining: o})
		b.ReportMetric(float64(runTime(b, u).Nanoseconds())/rounds, "ns_"+name)
	}
}

// runTime is how long a run of the only program takes.
func runTime(b *testing.B, u *bpfgen.Unit) time.Duration {
	c, err := ebpf.NewCollection(u.Spec)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for _, p := range c.Programs {
		for range 3000 {
			if _, err := p.Run(&ebpf.RunOptions{Context: make([]byte, 64)}); err != nil {
				b.Fatal(err)
			}
		}
		s, err := p.Stats()
		if err != nil {
			b.Fatal(err)
		}
		return s.Runtime / time.Duration(max(1, s.RunCount))
	}
	return 0
}

// TestCalls: a function that is large and called at two places becomes a
// subprogram, one that gives a string does not, and explain says both.
func TestCalls(t *testing.T) {
	text := callsScript(16, 2) + `
def name(e, x):
    s = e.comm
    if t.get(x) == 1:
        s = "one"
    elif t.get(x + 1) == 2:
        s = "two"
    elif t.get(x + 2) == 3:
        s = "three"
    elif t.get(x + 3) == 4:
        s = "four"
    return s
names = count(by = ("name",))
def g(e):
    names[name(e, e.pid)].add(1)
    names[name(e, e.tid)].add(1)
probe("rawtracepoint:sched_wakeup", kernel = g)
`
	shared := explained(t, text, ssagen.BySize)
	for _, want := range []string{
		"f, called at 2 places (first calls.star:40:10): a subprogram of 1",
		"name, called at 2 places (first calls.star:58:15): its code stands at each of them, because it gives a string",
		" call f ", " subprogram f ",
	} {
		if !strings.Contains(strings.Join(strings.Fields(shared.text), " "), want) {
			t.Errorf("explain does not say %q:\n%s", want, shared.text)
		}
	}
	apart := explained(t, text, ssagen.NeverCall)
	if s, a := shared.insns, apart.insns; a-s < 120 {
		t.Errorf("%d instructions with a subprogram, %d without", s, a)
	}
	if strings.Contains(apart.text, "subprogram") {
		t.Errorf("a subprogram where none was wanted:\n%s", apart.text)
	}
}

// TestManyCalls: a function that is short stands where it is called, unless the
// program would be too large for its jumps then.
func TestManyCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the long form (make test, make test-vm): compiling this takes an emulated CPU 20 s")
	}
	text := "t = table()\ndef f(n, y):\n" + strings.Repeat("    n = n // y\n", 20) +
		"    return n\ndef h(e):\n    if e.cpu == 77:\n        return\n    s = e.tid * 1\n" +
		strings.Repeat("    s = f(s, e.pid * 1)\n", 100) +
		"    t[0] = s\nprobe(\"rawtracepoint:sched_switch\", kernel = h)\n"
	u := compile(t, "calls.star", text, smallKernel(t), bpfgen.Options{Arch: "amd64", RingSize: 1 << 16})
	for name, calls := range u.Calls {
		if len(calls) != 1 || calls[0].Insns == 0 || calls[0].Times < 50 {
			t.Errorf("%s: %+v, want one subprogram", name, calls)
		}
	}
	need.Loading(t)
	for name, n := range translated(t, u.Spec) {
		if n > 3000 {
			t.Errorf("%s has %d instructions", name, n)
		}
	}
}

// TestLoopsExplained: explain says which loops the kernel runs, and why not the
// others.
func TestLoopsExplained(t *testing.T) {
	loop := func(before, body, end string) string {
		return "t = table()\ndef h(e):\n    s = " + before +
			"\n    n = 0\n    for i in range(9000):\n        if t.get(i) != None:\n            " + body +
			"\n        elif t.get(i + 1) != None:\n            n += 1\n    t[n] = len(" + end +
			")\nprobe(\"rawtracepoint:sched_switch\", kernel = h)\n"
	}
	for body, wants := range map[string][]string{
		loop(`""`, "n += 2", "s"): {
			"loop at calls.star:5:5: its body is a subprogram of ",
			", which the kernel calls up to 9000 times (bpf_loop)",
			" = subprogram loop ", " call bpf_loop ", " subprogram loop ",
		},
		loop(`""`, "s = e.comm", "s"): {"loop at calls.star:5:5: its body is a subprogram of "},
		loop(`("", 0)`, "s = (e.comm, 1)", "s[0]"): {
			"loop at calls.star:5:5: the kernel's verifier follows each of its rounds, because it changes a tuple " +
				"with a string",
		},
	} {
		got := strings.Join(strings.Fields(explained(t, body, ssagen.BySize).text), " ")
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: explain does not say %q:\n%s", body, want, got)
			}
		}
	}
}

type explanation struct {
	text  string
	insns int // of the first program
}

func explained(t *testing.T, text string, o ssagen.Outlining) explanation {
	in := input(t, "calls.star", text, smallKernel(t), bpfgen.Options{Arch: "amd64", HasLoop: true, Outlining: o})
	in.Stages = explain.Stages{Asm: true}
	report := explain.New(in)
	var out strings.Builder
	if err := report.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	return explanation{out.String(), report.Probes[0].Programs[0].Instructions}
}
