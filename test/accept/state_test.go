package accept

import (
	"os"
	"path/filepath"
	"testing"
)

// numbering gives each call of a workload its number, from 1.
const numbering = `
i = cell(0)

def number(e):
    i.add(1)
    return i.get()
`

// Aggregations side by side, under one key and under none; what take() gives, and what is left then.
func TestGroups(t *testing.T) {
	hundred := []string{"getppid", "100"}
	tell(t, map[string]telling{
		"columns": {
			script: numbering + `
g = group(by = ("call", "comm"), n = count(), low = lowest(), high = highest(), sum = total(), middle = mean(),
          all = stats())

def note(e):
    v = number(e)
    row = g[e.func, e.comm]
    row.n.add()
    row.low.add(v)
    row.high.add(v)
    row.sum.add(v)
    row.middle.add(v)
    row.all.add(v)

probe("syscall:getppid", kernel = note)
`,
			work: hundred, stdout: []string{
				`call +comm +n +low +high +sum +middle +all count +all mean +all lowest +all highest +all total`,
				`getppid +wl-getppid +100 +1 +100 +5050 +50.50 +100 +50.50 +1 +100 +5050`,
			},
		},
		"without a key": {
			script: `
g = group(n = count(), sum = total())

def note(e):
    g.n.add()
    g.sum.add(2)

def report():
    part = g.take()
    print("part", part.n, part.sum)
    part = g.take()
    print("rest", part.n, part.sum)

probe("syscall:getppid", kernel = note)
at_exit(report)
`,
			work: hundred, stdout: []string{`part 100 200`, `rest 0 0`},
		},
		"parts of keys": {
			script: `
each = False
n = count(by = ("comm", "call"))
probe("syscall:getppid", kernel = lambda e: n[e.comm if each else None, e.func].add())
`,
			work: hundred, stdout: []string{`call +n`, `getppid +100`},
		},
		"whole keys": {
			script: `
each = False
n = hist()
probe("syscall:getppid", kernel = lambda e: n[e.comm if each else None].add(5))
`,
			work: hundred, stdout: []string{`n:`, `\[4, 8\) +100 \|@+\|`},
		},
		"keys that may be None": {
			script: `
seen, n = table(), count()
probe("syscall:getppid", kernel = lambda e: n[seen.get(e.comm), seen.get("there")].add())
seen["there"] = 5
`,
			work: hundred, stdout: []string{`None +5 +100`},
		},
		"cleared": {
			script: `
n, t = count(), table()

def note(e):
    n[e.comm].add()
    t[e.comm] = 1

def report():
    print("before", n.items(), t.items())
    n.clear()
    t.clear()
    print("after", n.items(), t.items())

probe("syscall:getppid", kernel = note)
at_exit(report)
`,
			work: hundred, stdout: []string{`before \[\("wl-getppid", 100\)\] \[\("wl-getppid", 1\)\]`,
				`after \[\] \[\]`},
		},
	})
}

// Buckets are exact, quantiles lie within a sixteenth, merged ones too.
func TestHistograms(t *testing.T) {
	tell(t, map[string]telling{
		"merge": {
			script: `
q, h = quantiles(), hist()

def note(e):
    q["few"].add(10)
    q["many"].add(1000, 3)
    h["few"].add(1)
    h["many"].add(1000)
    h["many"].add(1, 2)

def near(got, want):
    return got > want * 15 / 16 and got < want * 17 / 16

def report():
    both = q["few"].value + q["many"].value
    print("both", near(both.quantile(0.2), 10), near(both.quantile(0.5), 1000))
    print("less", near((both - q["few"].value).quantile(0.1), 1000))
    show(h["few"].value + h["many"].value)
    show(h["many"].value - h["few"].value)

probe("syscall:getppid", kernel = note)
at_exit(report)
`,
			stdout: []string{`both True True`, `less True`, `\[1\] +12 \|@+\|`, `\[512, 1K\) +4 \|@+ *\|`,
				`\[1\] +4 \|@+ *\|`},
		},
		"taken": {
			script: numbering + `
q = quantiles()

def report():
    part = q.take()["x"]
    print("median", part.quantile(0.5) > 470 and part.quantile(0.5) < 532, "left", q.take().items())

probe("syscall:getppid", kernel = lambda e: q["x"].add(number(e)))
at_exit(report)
`,
			work: []string{"getppid", "1000"}, stdout: []string{`median True left \[\]`},
		},
		"linear, of all 64 bits": {
			script: `
TOP = 9223372036854775807
VALUES = [-TOP - 1, -TOP, -6 << 60, -1, 0, 1, 5, 1 << 60, 6 << 60, 7 << 60, TOP - 1, TOP]
k, u = lhist(-TOP, TOP, 1 << 60), lhist(-TOP, TOP, 1 << 60)

def note(e):
    for v in VALUES:
        k.add(v)

def report():
    for v in VALUES:
        u.add(v, 4)
    rows = [(b.lo, b.hi, b.count) for b in k.value.buckets]
    print(rows == [(b.lo, b.hi, b.count) for b in u.value.buckets], k.value.count)
    print(rows[0][1] == -TOP, rows[-1][0] == TOP, all([rows[i][1] == rows[i + 1][0] for i in range(len(rows) - 1)]))

probe("syscall:getppid", kernel = note)
at_exit(report)
`,
			stdout: []string{`True 48`, `True True True`},
		},
		"linear": {
			script: numbering + `
h = lhist(0, 40, 10)
probe("syscall:getppid", kernel = lambda e: h.add(number(e)))
`,
			work: []string{"getppid", "100"}, stdout: []string{`\[0, 10\) +9 .*`, `\[10, 20\) +10 .*`,
				`\[30, 40\) +10 .*`, `\[40, ….* +61 .*|.*40.* +61 .*`},
		},
	})
}

// What user code writes the kernel sees at once, in the kind of value that kernel halves use; what does not fit is
// refused at the write.
func TestUserWrites(t *testing.T) {
	tell(t, map[string]telling{
		"chosen": {
			script: `
chosen, others, n = table(), table(), count()
probe("syscall:getppid", kernel = lambda e: n[others.get(e.comm, "nobody")].add(),
      where = lambda e: chosen.get(e.comm, False))
chosen["wl-getppid"] = True
others["wl-getppid"] = "somebody"
at_exit(lambda: print("read", chosen["wl-getppid"], chosen.get("x"), "x" in chosen, others.items()))
`,
			stdout: []string{`somebody +4`, `read True None False \[\("wl-getppid", "somebody"\)\]`},
		},
		"from both": {
			script: `
t = table()

def add():
    t["k"] += 1000000
    t["k"] *= 1

probe("syscall:getppid", kernel = lambda e: t.add("k", 1))
every("1ms", add)
at_exit(lambda: print("kernel", t["k"] % 1000000, "user", t["k"] >= 1000000))
`,
			work: []string{"getppid", "100000", "4"}, stdout: []string{`kernel 100000 user True`},
		},
	})
	e := startrace(t, script(t, `
step, n = table(), count()

def note(e):
    if not step.get("on", False):
        return record(waits = True)
    n.add()

def chose(e):
    step["on"] = True

probe("syscall:getppid", chose, kernel = note)
every("10ms", lambda: exit() if n.value > 0 else None)
at_exit(lambda: print("seen after:", n.value > 0))
`), "-c", program(t, "workload")+" getppid endless").ok(t)
	e.has(t, `(?m)^seen after: True$`)
	e = startrace(t, script(t, `
t = table()

def refused(key, value):
    t[key] = value

probe("syscall:getppid", kernel = lambda e: t.set(e.pid, 1))
at_exit(lambda: refused("text", 1))
`), "-c", program(t, "workload")+" -report /dev/null getppid 4")
	if e.status != failedBeside || len(linesWith(e.stderr,
		"script.star:5:6: key of <table t>: got string, want an unsigned 64-bit int")) != 1 {
		t.Errorf("status %d, stderr %s", e.status, excerpt(e.stderr))
	}
}

// Rows of columns, and reports, as text and for programs: numbers are numbers, control characters are escaped.
func TestOutput(t *testing.T) {
	const rows = `
out = columns(pid = "%-7d", comm = "%-16s", share = "%8.2f", text = "%s")
probe("syscall:getppid", lambda e: out(7, e.comm, 1.5, "a,\"b\"\n"))
`
	ten := []string{"getppid", "10"}
	strange := filepath.Join(t.TempDir(), "a\x1b[31mb\tc")
	if err := os.WriteFile(strange, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t, map[string]telling{
		"columns text": {script: rows, stdout: []string{`PID     COMM                SHARE TEXT`,
			`7       wl-getppid           1\.50 a,"b"\\n`}},
		"columns json": {script: rows, flags: []string{"--format", "json"},
			stdout: []string{`\{"pid":7,"comm":"wl-getppid","share":1\.5,"text":"a,\\"b\\"\\n"\}`}},
		"columns csv": {script: rows, flags: []string{"--format", "csv"},
			stdout: []string{`pid,comm,share,text`, `7,wl-getppid,1\.5,"a,""b""\\x0a"`}},
		"top": {
			script: `
n = count(by = "weight")

def note(e):
    n[1].add(10)
    n[2].add(30)
    n[3].add(60)

probe("syscall:getppid", kernel = note)
at_exit(lambda: show(n, top = 2, percent = True))
at_exit(lambda: show(n.take(), sort = "weight"))
`,
			work:   []string{"getppid", "1"},
			stdout: []string{`weight +n +%\n +2 +30 +30\.0%\n +3 +60 +60\.0%\n\nweight +n\n +1 +10\n +2 +30\n +3 +60`},
		},
		"typed json": {
			script: `
h, n = hist(by = "who"), count()

def note(e):
    h[e.comm].add(7)
    n[e.comm == "wl-getppid", e.cpu >= 0, -5].add()

probe("syscall:getppid", kernel = note)
`,
			flags: []string{"--format", "json"}, work: ten,
			stdout: []string{
				`\{"type":"hist","name":"h","key":\{"who":"wl-getppid"\},"value":\[\{"from":4,"to":8,"count":10\}\]\}`,
				`\{"type":"count","name":"n","key":\[true,true,-5\],"value":10\}`,
			},
		},
		"typed csv": {
			script: `
n = count(by = ("who", "number"))
probe("syscall:getppid", kernel = lambda e: n[e.comm, -5].add())
`,
			flags: []string{"--format", "csv"}, work: ten, stdout: []string{`name,who,number,value`,
				`n,wl-getppid,-5,10`},
		},
		"screen": {
			script: `
n = count(by = "who")
probe("syscall:getppid", kernel = lambda e: n[e.comm].add())
at_exit(lambda: show(n, screen = True))
`,
			work: ten, stdout: []string{`.*who +n`, `wl-getppid +10`},
		},
	})
	needTracing(t)
	e := startrace(t, "-e", `probe("syscall:openat", lambda e: print("name", e.args.filename), `+
		`where = lambda e: "31mb" in e.comm or e.args.filename.endswith("\tc"))`, "-c", "cat '"+strange+"'").ok(t)
	e.has(t, `(?m)^name .*/a\\x1b\[31mb\\tc$`)
}

// A module declares events and functions; the script that loads it starts what it wants of them.
//
// > Such a file is a tool and a module at once:
func TestModules(t *testing.T) {
	needTracing(t)
	folder := t.TempDir()
	for name, text := range map[string]string{
		"mine.star": `
def called(times = 1):
    """A call of getppid."""
    return event(("syscall:getppid", lambda e: record(times = times, who = e.comm)))

def doubled(e):
    return 2 * e.times

def main():
    print("main of the module")
`,
		"user.star": `
load("./mine.star", "called", "doubled")
load("std/slowprocs.star", "slow")

def main():
    times = flag("times", 3, "how often", short = "t")
    unit = flag("unit", "ms", "of what", choices = ["ms", "us"])
    what = flag("what", "nothing", "a word", positional = True)
    long = flag("long", 5 * MSEC, "at least", type = duration)
    if flag("on", False, "do it", short = "O"):
        print("flags", times, unit, what, long)
    probe(called(times), lambda e: print("called", doubled(e), e.who))
    probe(slow(3600 * SEC), lambda e: print("never"))
`,
		"starts.star": `
probe("syscall:getppid", lambda e: None)
`,
		"loads.star": `
load("./starts.star", "anything")
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := program(t, "workload") + " -report /dev/null getppid 4"
	e := startrace(t, filepath.Join(folder, "user.star"), "-t", "21", "--unit=us", "word", "--long", "2s", "-O", "-c",
		command).ok(t)
	e.has(t, `(?m)^flags 21 us word 2000000000$`)
	e.has(t, `(?m)^called 42 wl-getppid$`)
	if lines := linesWith(e.stdout, "main of the module"); len(lines) > 0 {
		t.Errorf("main() of a loaded file was called: %s", e.stdout)
	}
	e = startrace(t, filepath.Join(folder, "loads.star"), "-c", command)
	if e.status != failedBeside ||
		len(linesWith(e.stderr, "starts.star:2:6: probe() at the top level of a loaded file")) != 1 {
		t.Errorf("status %d, stderr %s", e.status, e.stderr)
	}
	e = startrace(t, filepath.Join(folder, "user.star"), "--unit", "s", "-c", command)
	if e.status != 2 || len(linesWith(e.stderr, `--unit: got "s", want one of ms, us`)) != 1 {
		t.Errorf("status %d, stderr %s", e.status, e.stderr)
	}
}
