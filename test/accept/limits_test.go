package accept

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A limit is a script just below or just above something that the kernel or the compiler limits.
type limitCase struct {
	name   string
	text   string
	stdout string // of a script that runs, a regular expression
	stderr string // of one that is refused, or of the report at the end
	runs   bool
	slow   bool
}

// repeat joins what line makes of the numbers below n.
func repeat(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

// handler is a script whose kernel half has a body that leaves its result in got[0]; before stands in front of it.
func handler(before, body string) string {
	return before + "\ngot = table()\ndef h(e):\n" + body + "\n" +
		`probe("rawtracepoint:sys_enter", kernel = h)` + "\n" +
		`at_exit(lambda: print("got", got.get(0)))` + "\n"
}

// result is what such a script prints.
func result(n int) string { return fmt.Sprintf(`(?m)^got %d$`, n) }

func tables(n int) string {
	return handler(
		repeat(n, func(i int) string { return fmt.Sprintf("t%d = table()\n", i) }),
		repeat(n, func(i int) string { return fmt.Sprintf("    t%d[0] = %d\n", i, i) })+
			"    sum = 0\n"+repeat(n, func(i int) string {
			return fmt.Sprintf("    sum += t%d.get(0, 0)\n", i)
		})+"    got[0] = sum")
}

func branches(n int) string {
	return handler("n = count()", "    x = e.args[1]\n"+
		repeat(n, func(i int) string {
			return fmt.Sprintf("    if x == %d:\n        n.add(%d)\n", 7*i+1, i%5+1)
		})+"    got[0] = 7")
}

func locals(n int) string {
	return handler("", repeat(n, func(i int) string { return fmt.Sprintf("    v%d = got.get(%d, 1)\n", i, i+1) })+
		"    sum = 0\n"+repeat(n, func(i int) string {
		return fmt.Sprintf("    sum += v%d * %d\n", i, i)
	})+"    got[0] = sum")
}

func fields(n int) string {
	return "probe('rawtracepoint:sys_enter', kernel = lambda e: record(" +
		repeat(n, func(i int) string { return fmt.Sprintf("a%d = cstr(e.args[1]), ", i) }) + "))\n"
}

func nestedCalls(n int) string {
	return handler("def f0(x): return x + 1\n"+
		repeat(n-1, func(i int) string { return fmt.Sprintf("def f%d(x): return f%d(x) + 1\n", i+1, i) }),
		fmt.Sprintf("    got[0] = f%d(0)", n-1))
}

func nestedIfs(n int) string {
	return handler("", repeat(n, func(i int) string {
		return strings.Repeat(" ", i+4) + fmt.Sprintf("if e.pid != %d:\n", 1<<30+i)
	})+strings.Repeat(" ", n+4)+"got[0] = 7")
}

func constantLoop(n int) string {
	return handler("", fmt.Sprintf("    a = 0\n    for i in range(%d):\n        a += i\n    got[0] = a", n))
}

func computedLoop(n int) string {
	return handler(fmt.Sprintf("n = cell(%d)", n),
		"    a = 0\n    for i in range(n.get()):\n        a += i\n    got[0] = a")
}

// branchingLoop is a computed loop whose body has branches that the verifier cannot decide.
func branchingLoop(n int) string {
	return handler(fmt.Sprintf("n = cell(%d)", n),
		"    a = 0\n    for i in range(n.get()):\n        if got.get(i + 1, 0) > 5:\n            a += 1\n"+
			"        a += 1\n    got[0] = a")
}

// forkedLoop has so many branches that the verifier follows fewer than a thousand rounds.
func forkedLoop(n int) string {
	return handler(fmt.Sprintf("n = cell(%d)", n), "    a = 0\n    for i in range(n.get()):\n"+
		repeat(10, func(i int) string {
			return fmt.Sprintf("        if got.get(i + %d, 0) > 5:\n            a += 7\n", i+1)
		})+
		"        a += 1\n    got[0] = a")
}

// askingLoop branches in each round by a number of the event, of which the verifier knows less than the branches say.
// It follows the other rounds once for each of them.
func askingLoop(n int) string {
	return handler("t = table(size = 100)", fmt.Sprintf("    a, c = e.args[1], 0\n    for i in range(%d):\n"+
		"        if a in (1000, 1004, 1007, 1009, 1020) and a %% 5 in t:\n"+
		"            t[a] |= i\n            t[a + 1] |= i\n            t[a + 2] |= i\n"+
		"        c += 1\n    got[0] = c", n))
}

// stringLoop returns a string from a loop, which one that the kernel runs cannot.
func stringLoop(n int) string {
	return handler("seen = table()\n"+stringFunction(n), "    got[0] = len(find(e))")
}

func stringFunction(n int) string {
	return fmt.Sprintf("def find(e):\n    for i in range(%d):\n"+
		"        if seen.get(i) != None:\n            return e.comm\n        elif seen.get(i + 1) != None:\n"+
		"            seen[i] = 1\n    return \"\"\n", n)
}

// calledLoop is such a loop in a function that is called in each round of another one.
func calledLoop(n int) string {
	return strings.Replace(stringLoop(n), "    got[0] = len(find(e))",
		"    for i in range(40):\n        got[i] = len(find(e))", 1)
}

// loopsBeside are such loops one behind the other.
func loopsBeside(loops, n int) string {
	text := "seen = table()\n" + repeat(loops, func(i int) string {
		return strings.ReplaceAll(stringFunction(n), "find", fmt.Sprint("find", i))
	})
	return handler(text, repeat(loops, func(i int) string {
		return fmt.Sprintf("    got[%d] = len(find%d(e))\n", i, i)
	}))
}

// listLoops goes over lists, one in another: each round is written out.
func listLoops(n int) string {
	return handler(fmt.Sprintf("L = list(range(%d))", n), "    for x in L:\n        for y in L:\n"+
		"            if got.get(x * y) != None:\n                got[x] = y")
}

// tupleLoop changes a tuple with a string, which a loop that the kernel runs cannot, too.
func tupleLoop(n int) string {
	return handler("", "    p = (\"a\", 0)\n    n = 0\n"+fmt.Sprintf("    for i in range(%d):\n", n)+
		"        if i & e.args[1] == 3 and n % 7 < 5:\n            p = (e.comm, i)\n            n += 1\n"+
		"        elif i % 11 == e.args[1] & 7:\n            n += 2\n"+
		"        elif n % 5 == 1 and i & 8:\n            p = (\"b\", n)\n    got[0] = p[1] + len(p[0])")
}

func nestedLoops(n int) string {
	return handler("", fmt.Sprintf("    a = 0\n    for i in range(%d):\n        for j in range(%d):\n"+
		"            a += 1\n    got[0] = a", n, n))
}

func longKey(n int) string {
	return handler("seen = count()", fmt.Sprintf("    seen[mem(e.args[1], %d)].add()\n    got[0] = 7", n))
}

var limitCases = []limitCase{
	{name: "60 tables", text: tables(60), runs: true, stdout: result(60 * 59 / 2)},
	{name: "63 tables", text: tables(63),
		stderr: `script.star:\d+:\d+: this handler uses 6\d of the kernel's maps, and a program may use 64`},
	{name: "200 tables", slow: true, text: tables(200),
		stderr: `script.star:\d+:\d+: this handler uses 20\d of the kernel's maps`},
	{name: "600 branches", text: branches(600), runs: true, stdout: result(7)},
	{name: "3000 branches", slow: true, text: branches(3000),
		stderr: `script.star:\d+:1: this handler has more branches than this kernel's verifier follows`},
	{name: "50 locals", text: locals(50), runs: true, stdout: result(50 * 49 / 2)},
	{name: "90 locals", slow: true, text: locals(90),
		stderr: `script.star:\d+:1: this handler keeps \d+ bytes of values at the same time, and a program has 512`},
	{name: "80 strings", text: fields(80), runs: true, stdout: `a79=`},
	{name: "130 strings", text: fields(130), stderr: `script.star:1:\d+: this takes \d+ bytes, and a key, a value, a ` +
		`record or a string of a handler takes 32760 at most`},
	{name: "47 calls", text: nestedCalls(47), runs: true, stdout: result(47)},
	{name: "60 calls", text: nestedCalls(60), stderr: `script.star:\d+:\d+: calls are nested more than 48 deep`},
	{name: "400 ifs", text: nestedIfs(400), runs: true, stdout: result(7)},
	{name: "16384 steps", text: constantLoop(16384), runs: true, stdout: result(16384 * 16383 / 2)},
	{name: "16385 steps", text: constantLoop(16385),
		stderr: `script.star:5:19: this range has 16385 steps; a kernel half takes 16384`},
	{name: "4096 computed steps", text: computedLoop(4096), runs: true, stdout: result(4096 * 4095 / 2)},
	{name: "4097 computed steps", text: computedLoop(4097), runs: true, stdout: `(?m)^got None$`,
		stderr: `ended early: loop of more than 4096 iterations \(\S*script.star:5:5\)`},
	{name: "1000 computed steps with branches", text: branchingLoop(1000), runs: true, stdout: result(1000)},
	{name: "5000 computed steps with branches", text: branchingLoop(5000), runs: true, stdout: `(?m)^got None$`,
		stderr: `ended early: loop of more than \d+ iterations \(\S*script.star:5:5\)`},
	{name: "100 by 100 steps", text: nestedLoops(100), runs: true, stdout: result(10000)},
	{name: "9000 steps that return a string", text: stringLoop(9000),
		stderr: `script.star:3:5: this kernel's verifier does not follow a loop of this size to its end: it may go ` +
			`round 9000 times, and .*\(bpf_loop\)`},
	{name: "9000 steps that change a tuple with a string", text: tupleLoop(9000),
		stderr: `script.star:6:5: this kernel's verifier does not follow a loop of this size to its end: it may go ` +
			`round 9000 times, and .*\(bpf_loop\)`},
	{name: "loops beside each other", text: loopsBeside(6, 1500),
		stderr: `script.star:3:5: this kernel's verifier does not follow this loop and those beside it to their ` +
			`ends: it may go round 1500 times, and .*\(bpf_loop\)`},
	{name: "60 by 60 elements", slow: true, text: listLoops(60),
		stderr: `script.star:4:5: this handler is too large by this loop, of which each of 3660 rounds stands in the ` +
			`program`},
	{name: "key of 480 bytes", text: longKey(480), runs: true, stdout: result(7)},
	{name: "huge table", text: handler("t = table(size = 67108864)", "    t[cstr(e.args[1], 400)] = 1"),
		stderr: `script.star:1:5: table "t" of 67108864 entries needs about \d+ MB of memory .*: ` +
			`give it a smaller size=`},
}

// scanningLoops go over the bytes of a string in each round, of which each is a branch for the verifier.
func scanningLoops() (out []limitCase) {
	for _, test := range []string{`"\1" in e.comm`, `matches(e.comm, "*\1*\2*")`, `len(e.comm) == 17`} {
		for _, rounds := range []string{"300", "500", "1000", "2000", "3000", "n.get()", "n.get() & 511"} {
			text := handler("n = cell(7)", "    a = 7\n    for i in range("+rounds+"):\n"+
				"        if "+test+":\n            a += 1\n    got[0] = a")
			out = append(out, limitCase{name: test + " in " + rounds + " rounds", text: text, runs: true,
				stdout: result(7)})
		}
	}
	return out
}

// loopCases are loops that the kernel runs by itself, if it can (bpf_loop).
func loopCases(t *testing.T) []limitCase {
	if atLeast(t, 5, 17) {
		return append([]limitCase{
			{name: "1000 by 1000 steps", text: nestedLoops(1000), runs: true, stdout: result(1000000)},
			{name: "4000 computed steps with many branches", text: forkedLoop(4000), runs: true, stdout: result(4000)},
			{name: "a loop of branches behind a computed one", text: handler("n = cell(7)",
				"    a = 0\n    for k in range(n.get()):\n        a = k\n    for i in range(3000):\n"+
					"        if got.get(i + 1, 0) == 77:\n            a += 1\n    got[0] = a"),
				runs: true, stdout: result(6)},
			{name: "300 steps that ask what no step changes", text: askingLoop(300), runs: true, stdout: result(300)},
			{name: "a loop that is called at 40 places", text: calledLoop(300), runs: true, stdout: result(0)},
		}, scanningLoops()...)
	}
	return []limitCase{
		{name: "1000 by 1000 steps", text: nestedLoops(1000),
			stderr: `script.star:6:9: this kernel's verifier does not follow a loop of this size to its end: ` +
				`it may go round 1000000 times, ` +
				`and kernels before Linux 5.17 cannot run it by themselves \(bpf_loop\)`},
		{name: "4000 computed steps with many branches", text: forkedLoop(4000), runs: true, stdout: `(?m)^got None$`,
			stderr: `ended early: loop of more than \d+ iterations \(\S*script.star:5:5\)`},
		{name: "a loop that is called at 40 places", text: calledLoop(300),
			stderr: `script.star:\d+:5: this kernel's verifier does not follow a loop of this size to its end: it ` +
				`may go round \d+ times, and .*\(bpf_loop\)`},
	}
}

// TestLimits: what is below a limit runs and gives the right result; what is above it is refused with the reason and
// the place, and never in the words of the verifier.
//
// > | tables, cells and aggregations in one handler | 64 less what startrace needs itself, about 3 |
// > | values that a handler keeps at the same time | 512 bytes |
// > | strings, keys and records that a handler builds | 32760 bytes |
// > | steps of `range(…)` with computed bounds | 4096, or fewer before Linux 5.17 and where each step is followed by
// > the verifier, as of a short loop with a table: 1750; a loop that goes on longer ends the handler and is counted |
// > | branches, and steps of loops times what they do | what the kernel's verifier follows: a million instructions,
// > 8192 undecided branches; loops that the kernel runs count once |
func TestLimits(t *testing.T) {
	needTracing(t)
	for _, c := range slices.Concat(limitCases, loopCases(t), nestCases(t)) {
		t.Run(c.name, func(t *testing.T) {
			beside(t)
			if c.slow && testing.Short() {
				t.Skip("needs the long form (make test, make test-vm): " +
					"compiling this takes an emulated CPU 10 s or more")
			}
			c.check(t)
		})
	}
}

func (c limitCase) check(t *testing.T) {
	e := startrace(t, script(t, c.text), "-c", "true")
	if c.runs != (e.status == 0) {
		t.Fatalf("exit status %d\nstderr: %s", e.status, excerpt(e.stderr))
	}
	if c.stdout != "" {
		e.has(t, c.stdout)
	}
	if c.stderr != "" {
		if !regexp.MustCompile(c.stderr).MatchString(e.stderr) {
			t.Errorf("want %q in %s", c.stderr, excerpt(e.stderr))
		}
	}
	if strings.Contains(e.stderr, "processed ") || strings.Contains(e.stderr, "argument list too long") {
		t.Errorf("the kernel's words: %s", excerpt(e.stderr))
	}
}

// Hash tables take keys above 512 bytes since 5.16.
//
// > | a key | 512 bytes before Linux 5.16, else no limit of its own |
func TestLongKeys(t *testing.T) {
	needTracing(t)
	c := limitCase{text: longKey(1000), runs: true, stdout: result(7)}
	if !atLeast(t, 5, 16) {
		c = limitCase{text: longKey(1000),
			stderr: `script.star:1:8: the keys of count "seen" take \d+ bytes, and this kernel allows 512`}
	}
	c.check(t)
}
