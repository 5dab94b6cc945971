package code

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/script"
)

// TestGrowth compiles scripts of many shapes in two sizes, the one four times the other. The time that
// takes grows as n log n, and no test can ask for time. It asks for the memory that is allocated: what
// is copied at each branch, for each probe or in each pass shows there. At n log n, four times the size
// is at most some five times the memory; at n², sixteen.
func TestGrowth(t *testing.T) {
	facts := smallKernel(t)
	const most = 7
	for _, g := range growths {
		t.Run(g.name, func(t *testing.T) {
			small, large := allocated(t, g, g.n, facts), allocated(t, g, 4*g.n, facts)
			if r := float64(large) / float64(small); r > most {
				t.Errorf("%d MB for %d, %d MB for %d: %.1f times as much", small>>20, g.n, large>>20, 4*g.n, r)
			}
		})
	}
}

// BenchmarkGrowth shows the time of each shape by its size, up to the larger one of TestGrowth: beyond it some shapes
// are refused, as they need more stack than a program has.
func BenchmarkGrowth(b *testing.B) {
	facts := smallKernel(b)
	for _, g := range growths {
		for n := g.n; n <= 4*g.n; n *= 2 {
			text := g.script(n)
			b.Run(fmt.Sprintf("%s/%d", g.name, n), func(b *testing.B) {
				for b.Loop() {
					g.check(b, compileAll(text, facts))
				}
			})
		}
	}
}

// allocated is how many bytes compiling takes, in sum.
func allocated(t *testing.T, g growth, n int, facts *kernel.Facts) uint64 {
	text := g.script(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := compileAll(text, facts)
	runtime.ReadMemStats(&after)
	g.check(t, err)
	return after.TotalAlloc - before.TotalAlloc
}

// check wants an error of a script that has one, and of no other.
func (g growth) check(t testing.TB, err error) {
	t.Helper()
	if (err != nil) != g.wrong {
		t.Errorf("%s: %v", g.name, err)
	}
}

// compileAll takes a script through all stages, and explains it.
func compileAll(text string, facts *kernel.Facts) error {
	h := script.New(script.Options{Constant: kernel.Constant, Runtime: builtins.Idle{}})
	if err := h.ParseText("t.star", []byte(text)); err != nil {
		var found script.Errors
		if errors.As(err, &found) {
			err = h.AllMistakes(found, nil, func(p *plan.Plan) error {
				_, err := infer.Plan(p, facts, infer.Options{})
				return err
			})
		}
		return err
	}
	if err := h.Run(nil); err != nil {
		return err
	}
	res, err := infer.Plan(h.Plan(), facts, infer.Options{})
	if err != nil {
		return err
	}
	u, err := bpfgen.Generate(res.Tree, bpfgen.Options{Arch: "amd64", HasLoop: true})
	if err != nil {
		return err
	}
	for _, half := range res.HalfOf {
		if _, err := h.Specialise(half, starlark.None); err != nil {
			return err
		}
	}
	explain.New(&explain.Input{Script: "t.star", Plan: h.Plan(), Result: res, Unit: u})
	return nil
}

// A growth is a shape of scripts of any size.
type growth struct {
	name   string
	n      int
	wrong  bool
	script func(n int) string
}

// lines is the text of n lines.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)) + "\n")
	}
	return b.String()
}

func list(n int, sep, format string) string {
	return strings.ReplaceAll(strings.TrimSuffix(lines(n, format), "\n"), "\n", sep)
}

const wakeup = "probe('rawtracepoint:sched_wakeup', f)\n"
const head = "c = cell(0)\nt = table()\nn = count()\ndef f(e):\n"

var growths = []growth{
	{"elif", 100, false, func(n int) string {
		return head + "  x = 0\n  if e.pid == 1: x = 1\n" + lines(n, "  elif e.pid == # + 2: x = # * 3") +
			"  t[e.tid] = x\n" + wakeup
	}},
	{"elifadd", 100, false, func(n int) string {
		return head + "  if e.pid == 1: c.add(1)\n" + lines(n, "  elif e.pid == # + 2: c.add(#)") + wakeup
	}},
	{"elifreturn", 100, false, func(n int) string {
		return head + lines(n, "  if e.pid == #: return #") + "  return 7\n" +
			"probe('rawtracepoint:sched_wakeup', kernel = f)\n"
	}},
	{"inlinereturn", 100, false, func(n int) string {
		return "c = cell(0)\ndef g(p):\n" + lines(n, "  if p == #: return # * 3") +
			"  return 7\ndef f(e): c.add(g(e.pid))\n" + wakeup
	}},
	{"ifs", 50, false, func(n int) string {
		return head + lines(n, "  if t.get(e.pid) == #: c.add(#)") + wakeup
	}},
	{"ifsset", 25, false, func(n int) string {
		return head + "  t[0] = 1\n" + lines(n, "  if t.get(e.pid) == #: t[#] = e.tid") + wakeup
	}},
	{"vars", 100, false, func(n int) string {
		return head + "  x = 0\n" + lines(n, "  if e.pid == #: x = x + #") + "  c.add(x)\n" + wakeup
	}},
	{"manyvars", 10, false, func(n int) string {
		return head + lines(n, "  x# = 0\n  if e.pid == #: x# = e.tid") + "  c.add(" + list(n, " + ", "x#") + ")\n" +
			wakeup
	}},
	{"body", 100, false, func(n int) string {
		return head + lines(n, "  y# = e.pid * #\n  c.add(y#)") + wakeup
	}},
	{"eq", 50, false, func(n int) string {
		return head + lines(n, "  if e.comm == 'name#': c.add(#)") + wakeup
	}},
	{"startswith", 50, false, func(n int) string {
		return head + lines(n, "  if e.comm.startswith('na#'): c.add(#)") + wakeup
	}},
	{"contains", 25, false, func(n int) string {
		return head + lines(n, "  if 'n#' in e.comm: c.add(#)") + wakeup
	}},
	{"matches", 25, false, func(n int) string {
		return head + lines(n, "  if matches(e.comm, 'n#*x'): c.add(#)") + wakeup
	}},
	{"inlist", 500, false, func(n int) string {
		return head + "  if e.pid in L: c.add(1)\n" + "L = [" + list(n, ", ", "# * 3") + "]\n" + wakeup
	}},
	{"instrings", 100, false, func(n int) string {
		return head + "  if e.comm in L: c.add(1)\n" + "L = [" + list(n, ", ", "'x#'") + "]\n" + wakeup
	}},
	{"dictget", 500, false, func(n int) string {
		return head + "  c.add(D.get(e.pid, 0))\n" + "D = {" + list(n, ", ", "# * 3: #") + "}\n" + wakeup
	}},
	{"dictstr", 200, false, func(n int) string {
		return "n = count()\ndef f(e):\n  n[D.get(e.pid, '?')].add()\n" + "D = {" + list(n, ", ", "# * 3: 's#'") +
			"}\n" + wakeup
	}},
	{"undefined", 250, true, func(n int) string {
		return "def f(e):\n" + lines(n, "  print(undefined#)")
	}},
	{"undeftop", 250, true, func(n int) string { return lines(n, "print(undefined#)") }},
	{"undefdefs", 250, true, func(n int) string { return lines(n, "def f#(): return undefined#") }},
	{"kmistakes", 100, true, func(n int) string {
		return "c = cell(0)\ndef f(e):\n" + lines(n, "  c.add(e.nothing#)") +
			"probe('rawtracepoint:sched_wakeup', kernel = f)\n"
	}},
	{"probes", 25, false, func(n int) string {
		return "c = cell(0)\n" + lines(n, "probe('rawtracepoint:sched_wakeup', lambda e: c.add(#))")
	}},
	{"userprobes", 15, false, func(n int) string {
		return lines(n, "probe('rawtracepoint:sched_wakeup', lambda e: print(e.pid, #))")
	}},
	{"functions", 50, false, func(n int) string {
		return "c = cell(0)\n" + lines(n, "def g#(x): return x * # + 1") + "def f(e):\n" +
			lines(n, "  c.add(g#(e.pid))") + wakeup
	}},
	{"callsame", 50, false, func(n int) string {
		return "c = cell(0)\ndef g(x):\n  if x > 5: return 3\n  return x\n" + "def f(e):\n" +
			lines(n, "  c.add(g(e.pid + #))") + wakeup
	}},
	{"unused", 500, false, func(n int) string {
		return "c = cell(0)\n" + lines(n, "def g#(x): return x * # + 1") + "def f(e): c.add(1)\n" + wakeup
	}},
	{"nested", 15, false, func(n int) string {
		return head + "  c.add(" + strings.Repeat("(", n) + "e.pid" + list(n, "", " * 3 + #)") + ")\n" + wakeup
	}},
	{"nestedright", 15, false, func(n int) string {
		return head + "  c.add(" + list(n, "", "# - (") + "e.pid" + strings.Repeat(")", n) + ")\n" + wakeup
	}},
	{"pointers", 100, false, func(n int) string {
		return head + "  c.add(e.args.p" + strings.Repeat(".parent", n) + ".pid)\n" + wakeup
	}},
	{"sum", 100, false, func(n int) string {
		return head + "  c.add(" + list(n, " + ", "e.pid * #") + ")\n" + wakeup
	}},
	{"or", 100, false, func(n int) string {
		return head + "  if " + list(n, " or ", "e.pid == #") + ": c.add(1)\n" + wakeup
	}},
	{"and", 100, false, func(n int) string {
		return head + "  if " + list(n, " and ", "e.pid != #") + ": c.add(1)\n" + wakeup
	}},
	{"orvalue", 50, false, func(n int) string {
		return head + "  c.add(" + list(n, " or ", "(e.pid & #)") + ")\n" + wakeup
	}},
	{"boolvalue", 50, false, func(n int) string {
		return head + "  x = " + list(n, " or ", "e.pid == #") + "\n  c.add(int(x))\n" + wakeup
	}},
	{"condexpr", 25, false, func(n int) string {
		return head + "  c.add(" + list(n, "", "# if e.pid == # else ") + "0)\n" + wakeup
	}},
	{"deepif", 15, false, func(n int) string {
		s := head
		for i := range n {
			s += strings.Repeat(" ", i+2) + fmt.Sprintf("if e.pid != %d:\n", i)
		}
		return s + strings.Repeat(" ", n+2) + "c.add(1)\n" + wakeup
	}},
	{"fields", 25, false, func(n int) string {
		return "probe('rawtracepoint:sched_wakeup', lambda e: print(e.a0, e.a1), kernel = lambda e: record(" +
			list(n, ", ", "a# = e.pid + #") + "))\n"
	}},
	{"usefields", 25, false, func(n int) string {
		return "def f(e):\n" + lines(n, "  print(e.a#)") +
			"probe('rawtracepoint:sched_wakeup', f, kernel = lambda e: record(" + list(n, ", ", "a# = e.pid + #") +
			"))\n"
	}},
	{"tables", 15, false, func(n int) string {
		return lines(n, "t# = table()\nprobe('rawtracepoint:sched_wakeup', lambda e: t#.set(e.pid, #))")
	}},
	{"shared", 15, false, func(n int) string {
		return "t = table()\n" + lines(n, "probe('rawtracepoint:sched_wakeup', lambda e: t.set(e.pid, #))")
	}},
	{"userbody", 100, false, func(n int) string {
		return "def f(e):\n" + lines(n, "  print(e.pid, e.comm, #)") +
			wakeup
	}},
	{"userparts", 50, false, func(n int) string { return "def f(e):\n" + lines(n, "  print(e.pid + #)") + wakeup }},
	{"userelif", 50, false, func(n int) string {
		return "def f(e):\n  x = 0\n  if e.pid == 1: x = 1\n" + lines(n, "  elif e.pid == # + 2: x = # * 3") +
			"  print(x)\n" + wakeup
	}},
	{"userifs", 50, false, func(n int) string {
		return "def f(e):\n  x = 0\n" + lines(n, "  if e.pid == #: x = e.tid") + "  print(x)\n" + wakeup
	}},
	{"usercalls", 25, false, func(n int) string {
		return "def who(x, y): print(x, y)\ndef f(e):\n" + lines(n, "  who(e.pid, #)") + wakeup
	}},
	{"userfuncs", 25, false, func(n int) string {
		return lines(n, "def who#(e): print(e.pid, #)") + "def f(e):\n" + lines(n, "  who#(e)") + wakeup
	}},
	{"uservars", 50, false, func(n int) string {
		return "def f(e):\n" + lines(n, "  x# = e.pid\n  if x# == 3: print(x#)") + wakeup
	}},
	{"userdict", 200, false, func(n int) string {
		return "def f(e): print(D.get(e.pid, 0), D)\n" + "D = {" + list(n, ", ", "# * 3: 's#'") + "}\n" + wakeup
	}},
	{"userlits", 200, false, func(n int) string {
		return "def f(e): print(e.pid, {" + list(n, ", ", "# * 3: 's#'") + "})\n" + wakeup
	}},
	{"loops", 25, false, func(n int) string {
		return head + lines(n, "  for i in range(4): c.add(i + e.pid)") + wakeup
	}},
	{"loopvars", 25, false, func(n int) string {
		return head + "  x = 0\n" + lines(n, "  for i in range(4): x = x + i * #") + "  c.add(x)\n" + wakeup
	}},
	{"toplevel", 500, false, func(n int) string {
		return lines(n, "x# = #") + "c = cell(0)\ndef f(e): c.add(1)\n" + wakeup
	}},
	{"captures", 50, false, func(n int) string {
		return lines(n, "x# = #") + head + lines(n, "  if e.pid == x#: c.add(x#)") + wakeup
	}},
	{"containers", 200, false, func(n int) string {
		return lines(n, "t# = table()") + "c = cell(0)\ndef f(e): c.add(1)\n" + wakeup
	}},
	{"points", 25, false, func(n int) string {
		return "c = cell(0)\nprobe([" + list(n, ", ", "'rawtracepoint:sched_wakeup'") + "], lambda e: c.add(1))\n"
	}},
	{"tuples", 10, false, func(n int) string {
		return head + "  x = (" + list(n, ", ", "e.pid + #") + ")\n  c.add(x[0])\n" + lines(n, "  c.add(x[#])") + wakeup
	}},
	{"keys", 20, false, func(n int) string {
		return "n = count()\ndef f(e): n[" + list(n, ", ", "e.pid + #") + "].add()\n" + wakeup
	}},
}
