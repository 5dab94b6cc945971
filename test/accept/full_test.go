package accept

import (
	"fmt"
	"strings"
	"testing"
)

// fullScript is a handler that gives each call of a workload a key of its own, in containers of ten entries. What
// stands for PLACE decides where it runs.
const fullScript = numbering + `
n, h, g = count(size = 10), hist(size = 10), group(size = 10, a = count(), b = highest())
t, s = table(size = 10), table(size = 10)

def handler(e):
    k = PLACE
    n[k].add()
    h[k].add(3)
    g[k].a.add()
    t[k] = 1
    t[k] += 1
    s.set(k, 2)
    s.add(k, 3)

def report():
    for x in (n, h, g, t, s):
        print(len(x), sorted([k for k, _ in x.items()]))
    print(sorted(t.items()), sorted(s.items()), n[3].value, n[30].value)

at_exit(report)
PROBE
`

// > Aggregations keep their keys as tables do, also after `take()` and `clear()`.
// > All this is the same in user code.
// > A container that both sides use is one container, with one `size=`.

// Containers have the same room, and what they have none for is counted in the same way, on both sides.
func TestFullContainers(t *testing.T) {
	var stderr []string
	for _, line := range []string{"13:13", "14:13", "15:15", "16:[56]", "17:10", "18:10", "19:10"} {
		stderr = append(stderr,
			`startrace: 90 updates of [nhgts] lost: all its entries are in use \(.*:`+line+`\); give it a size=.*`)
	}
	var stdout []string
	for range 5 {
		stdout = append(stdout, `10 \[1, 2, 3, 4, 5, 6, 7, 8, 9, 10\]`)
	}
	pairs := func(v int) string {
		var out []string
		for k := 1; k <= 10; k++ {
			out = append(out, fmt.Sprintf(`\(%d, %d\)`, k, v))
		}
		return `\[` + strings.Join(out, ", ") + `\]`
	}
	stdout = append(stdout, pairs(2)+" "+pairs(5)+" 1 0")
	place := func(k, probe string) string {
		return strings.NewReplacer("PLACE", k, "PROBE", probe).Replace(fullScript)
	}
	work := []string{"getppid", "100"}
	tell(t, map[string]telling{
		"kernel half": {script: place("number(e)", `probe("syscall:getppid", kernel = handler)`), work: work,
			stdout: stdout, stderr: stderr},
		"user half": {script: place("e.value", `probe("syscall:getppid", handler, kernel = number)`), work: work,
			stdout: stdout, stderr: stderr},
	})
}

// What removes an entry gives the same in both halves.
//
// > `t.remove(k)` is None, also where there was no entry.
func TestRemoved(t *testing.T) {
	needTracing(t)
	const code = `
where = lambda e: e.comm == "wl-edge"
t = table()
def tried(e):
    t.set("a", 5)
    said = t.pop("a")
    t.set("a", 6)
    if t.remove("a"):
        said += 10
    return (said, t.remove("b"), "a" in t, t.pop("a"))
`
	for half, probe := range map[string]string{
		"kernel": `probe("syscall:write", lambda e: print(e.value), kernel = tried, where = where)`,
		"user":   `probe("syscall:write", lambda e: print(tried(e)), where = where)`,
	} {
		e, _ := traced(t, code+probe, []string{"-q"}, "edge", "x")
		if e.stdout != "(5, None, False, None)\n" {
			t.Errorf("%s half: %s", half, e.stdout)
		}
	}
}

// A container that both sides use is one; so is that of keys that read as text.
//
// > With `lru = True` it drops an old entry, which is not counted.
// > A table that only user space has drops the oldest.
// > Of one that a kernel half has the kernel drops what was put in long ago on the same CPU, several entries at a time.
// > So an entry that another CPU has put in can stay longer, and such a table can hold fewer entries than its size.
func TestFullShared(t *testing.T) {
	tell(t, map[string]telling{
		"shared": {
			script: numbering + `
n, t = count(size = 10), table(size = 10)

def kern(e):
    k = number(e)
    if k <= 6:
        n[k].add()
        t[k] = 1
    return k

def user(e):
    n[1000 + e.value].add()
    t[1000 + e.value] = 1

probe("syscall:getppid", user, kernel = kern)
at_exit(lambda: print(len(n), len(t), n.take() and len(n), n[1].value))
`,
			work: []string{"getppid", "100"}, stdout: []string{"10 10 0 0"},
			stderr: []string{`startrace: 9\d updates of n lost.*`, `startrace: 9\d updates of t lost.*`},
		},
		"labels": {
			script: numbering + `
n = count(size = 10)

def kern(e):
    k = number(e)
    n[errno(k if k < 5 else 4)].add()
    return k

def user(e):
    n[errno(e.value)].add()

probe("syscall:getppid", user, kernel = kern)
at_exit(lambda: print(len(n), n[1].value, n[4].value))
`,
			work: []string{"getppid", "100"}, stdout: []string{"10 2 98"},
			stderr: []string{`startrace: 90 updates of n lost.*`},
		},
		"after take and clear": {
			script: numbering + `
n = count(size = 10)

def kern(e):
    n[number(e)].add()

def report():
    for forget in (n.take, n.clear):
        forget()
        n[200].add()
        n[1].add()
        print(n.items())

probe("syscall:getppid", kernel = kern)
at_exit(report)
`,
			work: []string{"getppid", "100"}, stdout: []string{`\[\(1, 1\)\]`, `\[\(1, 1\)\]`},
			stderr: []string{`startrace: 90 updates of n lost.*`, `startrace: 2 updates of n lost.*`},
		},
		"lru": {
			script: numbering + `
t = table(size = 10, lru = True)

def user(e):
    t[e.value] = 1
    t.get(1)

probe("syscall:getppid", user, kernel = number)
at_exit(lambda: print(sorted(t.keys())))
`,
			work: []string{"getppid", "100"}, stdout: []string{`\[1, 92, 93, 94, 95, 96, 97, 98, 99, 100\]`},
			stderr: []string{`startrace: t dropped 90 of its oldest entries`},
		},
		"before the tracing": {
			script: `
t, n = table(size = 10), count(size = 10)
for i in range(30):
    t[i] = i
    n[i].add()
probe("syscall:getppid", lambda e: t.set(e.pid, 1))
at_exit(lambda: print(sorted(t.items())[-1], len(t), len(n)))
`,
			stdout: []string{`\(9, 9\) 10 10`}, stderr: []string{`startrace: 20 updates of t lost.*`,
				`startrace: 20 updates of n lost.*`, `startrace: 4 updates of t lost.*`},
		},
	})
}
