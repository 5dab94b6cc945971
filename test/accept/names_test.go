package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Names from points of all kinds share a container, two patterns of each kind and each pair of them: an entry counts
// what the patterns count alone, in kernel halves, in user halves and in one of each.
//
// > `e.func`, and `e.probe` where a probe has several points, are numbers too.
// > One name has one number in the whole script, so `n[e.func].add()` in probes of any kinds counts a name in one
// > entry.
func TestNamesShareContainers(t *testing.T) {
	points := []string{
		"uprobe:BIN:{forms,signs}", "uprobe:BIN:{signs,main}", "uretprobe:BIN:{forms,signs}", "uretprobe:BIN:signs",
		"ufunc:BIN:{forms,signs}", "ufunc:BIN:{signs,forms}", "usdt:BIN:work:{forms,inlined}", "usdt:BIN:work:forms",
		"syscall:{write,exit_group}", "syscall:write",
	}
	if inGuest() {
		points = append(points, "kprobe:vfs_{read,write}", "kprobe:{vfs_write,ksys_write}", "func:{vfs_read,vfs_write}",
			"fentry:vfs_write")
	}
	for name, inUser := range map[string]func(i int) bool{
		"kernel": func(int) bool { return false }, "user": func(int) bool { return true },
		"mixed": func(i int) bool { return i%2 == 1 },
	} {
		t.Run(name, func(t *testing.T) {
			e := onTarget(t, "static", pairsOfNames(points, inUser), "2")
			equalLines(t, sorted(e.stdout, "differs"), nil)
			e.has(t, `(?m)^forms as text: True$`)
			e.has(t, fmt.Sprintf(`(?m)^patterns that counted: %d$`, len(points)))
		})
	}
}

// pairsOfNames is a script that counts names at points: of each pattern alone, and of each two in a container of both.
func pairsOfNames(points []string, inUser func(int) bool) string {
	var s strings.Builder
	for i := range points {
		fmt.Fprintf(&s, "a%d = count()\n", i)
		for j := range i {
			fmt.Fprintf(&s, "b%d_%d = count()\n", j, i)
		}
	}
	for i, p := range points {
		fmt.Fprintf(&s, "def h%d(e):\n", i)
		if inUser(i) {
			s.WriteString("    unused = [1 for i in range(2)]\n")
		}
		fmt.Fprintf(&s, "    a%d[e.func].add()\n", i)
		for j := range points {
			if j != i {
				fmt.Fprintf(&s, "    b%d_%d[e.func].add()\n", min(i, j), max(i, j))
			}
		}
		fmt.Fprintf(&s, "probe(%q, h%d)\n", p, i)
	}
	s.WriteString("def both(x, y, z):\n    want = dict(x.items())\n    for k, v in y.items():\n" +
		"        want[k] = want.get(k, 0) + v\n    if sorted(want.items()) != sorted(z.items()): " +
		"print(\"differs\", z, sorted(want.items()), sorted(z.items()))\n    for k, v in want.items():\n" +
		"        if z[k].value != v: print(\"differs\", k, v, z[k].value)\n")
	s.WriteString("def done():\n")
	for i := range points {
		for j := range i {
			fmt.Fprintf(&s, "    both(a%d, a%d, b%d_%d)\n", j, i, j, i)
		}
	}
	s.WriteString("    print(\"forms as text:\", b0_2[\"forms\"].value == 4)\n" +
		"    print(\"patterns that counted:\", len([x for x in (")
	for i := range points {
		fmt.Fprintf(&s, "a%d, ", i)
	}
	s.WriteString(") if x.items()]))\nat_exit(done)\n")
	return s.String()
}

// Names in tables and cells, set and looked up by both halves, and their tests in kernel halves.
//
// > A constant string beside names is one of them, and `t["read"]` of user space finds the entry.
// > `==`, `<`, `in (…)`, `startswith`, `endswith`, `"part" in e.func` and `matches(e.func, "glob")` work with names in
// > a kernel half.
func TestNamesInTables(t *testing.T) {
	e := onTarget(t, "static", `
t, last, k, n, s = table(), table(), cell("none"), count(), count()
def keep(e):
    t[e.func] = t.get(e.func, 0) + 1
    last[0] = e.func
    k.set(e.func)
probe("uprobe:BIN:{forms,signs}", keep)
probe("syscall:{write,exit_group}", keep)
probe("usdt:BIN:work:forms", lambda e: n["write"].add(5))
probe("syscall:{write,exit_group}", lambda e: n[e.func].add(100), where = lambda e: e.func == "write")
def tests(e):
    s[e.func, e.func.startswith("f"), e.func.endswith("s"), "igns" in e.probe, matches(e.func, "*o*"),
      e.func in ("main", "signs"),
      last.get(0) == e.func].add()
probe("uprobe:BIN:{forms,main}", tests)
probe("uprobe:BIN:{signs,main}", tests)
probe("syscall:*", lambda e: print("call", e.func) ,
      where = lambda e: e.func.startswith("exi") or "syscall:exit_g" in e.probe or matches(e.func, "e?it_group"))
def done():
    print("table", t["forms"], t["signs"], "nothing" in t, t["exit_group"], n["write"].value % 100,
          n["write"].value > 100, len(n.items()))
    t["new"] = 5
    t["forms"] += 1
    print("changed", t["new"], t.pop("forms"), "forms" in t, sorted([x for x in t.keys() if x != "write"]), k.get(),
          last[0])
    k.set("forms")
    print("cell", k.get())
    for key, v in sorted(s.items()): print("tests", key, v)
at_exit(done)
`, "2")
	equalLines(t, sorted(e.stdout, ""), []string{
		"call exit_group",
		"table 2 2 False 1 10 True 1",
		`changed 5 3 False ["exit_group", "new", "signs"] exit_group exit_group`,
		"cell forms", "enabled 0",
		`tests ("forms", True, True, False, True, False, True) 2`,
		`tests ("main", False, False, False, False, True, False) 2`,
		`tests ("signs", False, True, True, False, True, True) 2`,
	})
}

// A name beside constant strings and None, where a value is one of several: the same in both halves.
//
// > So is one that a value can be instead: `e.func if e.ret < 0 else ""`.
func TestNamesBesideStrings(t *testing.T) {
	const script = `
kernel, user, kept = count(), count(), table()
def chosen(e):
    if e.func == "forms":
        return (e.func, 1)
    return ("no form", 2) if e.func == "main" else (e.probe, 3)
def ways(e):
    first = e.func == "forms"
    x = "other"
    if first:
        x = e.func
    y = None
    for i in range(4):
        if i == 2 and not first:
            y = e.func
    z = e.func if first else ""
    return (z, e.func if first else None, x, x == "other", z == "", z in ("", "main"), y, chosen(e))
def inKernel(e):
    kept[0] = e.func
    kernel[ways(e), kept.get(0, "none"), kept.get(1, "none")].add()
POINTS
def both():
    k, u = sorted([str(i) for i in kernel.items()]), sorted([str(i) for i in user.items()])
    print(k == u, len(k))
    if k != u: print("kernel", k, "user", u)
at_exit(both)
`
	var probes strings.Builder
	for _, point := range []string{"uprobe:BIN:{forms,signs}", "ufunc:BIN:{forms,main}", "usdt:BIN:work:forms",
		"syscall:{write,exit_group}"} {
		fmt.Fprintf(&probes, "probe(%[1]q, inKernel)\n"+
			"probe(%[1]q, lambda e: user[[ways(e)][0], e.func, \"none\"].add())\n", point)
	}
	e := onTarget(t, "static", strings.Replace(script, "POINTS", probes.String(), 1), "2")
	equalLines(t, sorted(e.stdout, ""), []string{"True 5", "enabled 0"})
}

// Names and other texts share a container in parts of their own.
func TestNamesBesideTexts(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, `
n = count(by = ("call", "comm"))
t = table()
def reads(e):
    n[e.func, None].add()
    t[0] = (e.func, None)
def writes(e):
    n[None, e.comm].add()
    t[1] = (None, e.comm)
probe("syscall:{read,readv}", reads, where = lambda e: e.args[2] == 77)
probe("t:syscalls:sys_enter_write", writes, where = lambda e: e.args.count == 77)
at_exit(lambda: print(n.items(), sorted(t.items())))
`), "-c", "dd if=/dev/zero of=/dev/null bs=77 count=3 status=none")
	want := `[(("read", None), 3), ((None, "dd"), 3)] [(0, ("read", None)), (1, (None, "dd"))]`
	other := `[((None, "dd"), 3), (("read", None), 3)] [(0, ("read", None)), (1, (None, "dd"))]`
	if got := strings.TrimSpace(e.stdout); got != want && got != other {
		t.Errorf("got %s, %s", e.stdout, e.stderr)
	}
}

// What names cannot do in kernel halves is said with what they can.
//
// > A test of a system call's name in a kernel half is refused if it could depend on the number of a call without a
// > name (`syscall_1000`): `e.func.endswith("64")` at `syscall:*`.
func TestNamesRefused(t *testing.T) {
	path := traceable(t, "static")
	for text, want := range map[string]string{
		`
n = count()
probe("syscall:*", kernel = lambda e: n[1 if e.func.endswith("64") else 0].add())`: `compare with whole names`,
	} {
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", path)), "-c", "true")
		if e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s\ngot %d, %s\nwant %s", text, e.status, e.stderr, want)
		}
	}
}
