package accept

import (
	"strings"
	"testing"
)

// > `k in a` asks whether an aggregation has the key, as `items()` shows it.
// > Only what was added since the last `take()` counts.
// > `a[k]` makes no entry.
//
// What user code asks of an aggregation agrees, however it asks, also after take().
func TestAsksOfAggregations(t *testing.T) {
	needTracing(t)
	startrace(t, script(t, `
c = count(by = ("k",))
c["a"].add()
print("a" in c, "nope" in c, None in c, "nope" not in c, len(c), c.get("nope"), [k for k in c])
s = c.take()
print("a" in c, c.get("a"), len(c), "a" in s, "nope" in s)
`)).ok(t).has(t, `(?m)^True False False True 1 None \["a"\]\nFalse None 0 True False$`)
	e := startrace(t, script(t, `
c = count(by = ("k",))

def at_end():
    print("mine" in c, "wl-getppid" in c, "nope" in c, sorted(c) == sorted([k for k, _ in c.items()]))
    s = c.take()
    print("mine" in c, "wl-getppid" in c, c.get("wl-getppid"), "wl-getppid" in s, len(c))

probe("syscall:getppid", kernel = lambda e: c[e.comm].add())
c["mine"].add()
at_exit(at_end)
`), "-c", program(t, "workload")+" -report /dev/null getppid 4").ok(t)
	e.has(t, `(?m)^True True False True\nFalse False None True 0$`)
}

// > An aggregation that is a member of a group holds no values of its own.
// > So `c.add()` after `g = group(a = c)` is refused in both halves.
// > Write `g.a.add()`.
//
// User code is told where a key has not the columns that by= names, and where a member of a group is used without it,
// as a kernel half is.
func TestRefusedAdds(t *testing.T) {
	needTracing(t)
	const alone = "the count is the member a of g, which holds its values: write g.a or g[…].a"
	const pair = " has 2 parts here, and by= names 1 column: k"
	for text, want := range map[string]string{
		`c = count(by = ("k",)); c[1, 2].add()`: "the key of count c" + pair,
		`c = hist(by = ("k", "l")); c[1].add(5)`: `the key of hist c has 1 part here, ` +
			`and by= names 2 columns: k, l`,
		`c = table(by = "k"); c[1, None] = 5`:               "the key of table c" + pair,
		`c = table(by = "k"); c.add((1, 2), 5)`:             "the key of table c" + pair,
		`c = table(by = "k"); c[record(a = 1, b = 2)] = 5`:  "the key of table c" + pair,
		`g = group(by = "k", a = count()); g[1, 2].a.add()`: "the key of group g" + pair,
		`c = count(); g = group(a = c); c.add()`:            alone,
		`c = count(); g = group(a = c); c[1].add()`:         alone,
		`c = count(); g = group(a = c); show(c)`:            alone,
		`c = count(); c.add(); g = group(a = c)`: `group: a has been added to: ` +
			`make the group before, and add to its member`,

		`c = count(); g = group(a = c); probe("syscall:getppid", kernel = lambda e: c.add())`:        alone,
		`c = count(); g = group(a = c); probe("syscall:getppid", kernel = lambda e: c[e.pid].add())`: alone,
	} {
		e := startrace(t, script(t, text+"\n"), "-c", "true")
		if e.status == 0 || !strings.Contains(e.stderr, want) || !strings.Contains(e.stderr, "script.star:1:") {
			t.Errorf("%s: status %d\n%s", text, e.status, excerpt(e.stderr))
		}
	}
}

// Keys that differ in their columns are each what they are.
func TestMixedKeys(t *testing.T) {
	const mixed = `
t = table()
t[record(a = 1)] = 1
t[5] = 2
t[record(a = 2, b = 3)] = 4
show(t)
`
	startrace(t, "--format", "json", script(t, mixed)).ok(t).has(t,
		`"key":\{"a":1\},"value":1\}\n.*"key":\[5\],"value":2\}\n.*"key":\{"a":2,"b":3\}`)
	startrace(t, "--format", "csv", script(t, mixed)).ok(t).has(t,
		`(?m)^name,key1,key2,value\nt,1,,1\nt,5,,2\nt,2,3,4$`)
}
