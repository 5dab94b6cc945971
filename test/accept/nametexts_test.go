package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A textSource is a point and a text of its event.
type textSource struct{ point, text string }

// Names of all kinds of points beside other texts, each pair of them: an entry counts what the two count alone, in
// kernel halves, in user halves and in one of each, whatever keeps the text: as a key, as a part of a key and as a
// value. The program is called forms, as one of its functions, so that both are one key.
//
// > Beside other strings a name is its text, so `n[e.func].add()` and `n[e.comm].add()` count in one container.
func TestNamesShareContainersWithTexts(t *testing.T) {
	sources := []textSource{
		{"uprobe:BIN:{forms,signs}", "e.func"}, {"ufunc:BIN:{forms,main}", "e.func"},
		{"usdt:BIN:work:{forms,inlined}", "e.probe"}, {"syscall:{write,exit_group}", "e.func"},
		{"syscall:{write,exit_group}", "e.probe"}, {"t:raw_syscalls:sys_enter", "syscall_name(e.args.id)"},
		{"syscall:{write,exit_group}", "e.comm"}, {"uprobe:BIN:signs", `"forms" if e.pid % 2 else "signs"`},
		{"uprobe:BIN:{forms,signs}", "e.comm if e.func == \"signs\" else e.func"},
		{"t:sched:sched_process_{exec,exit}", "e.probe"},
	}
	if inGuest() {
		sources = append(sources, textSource{"kprobe:vfs_{read,write}", "e.func"})
	}
	for name, inUser := range map[string]func(i int) bool{
		"kernel": func(int) bool { return false }, "user": func(int) bool { return true },
		"mixed": func(i int) bool { return i%2 == 1 },
	} {
		t.Run(name, func(t *testing.T) {
			text := pairsOfTexts(sources, inUser, name != "mixed")
			path := calledForms(t)
			file := script(t, strings.ReplaceAll(text, "BIN", path))
			e := startrace(t, file, "-c", path+" 2").ok(t)
			equalLines(t, sorted(e.stdout, "differs"), nil)
			e.has(t, fmt.Sprintf(`(?m)^sources that counted: %d$`, len(sources)))
			e.has(t, `(?m)^one key: True$`)
			if name == "kernel" {
				if x := startrace(t, "explain", file).ok(t); strings.Contains(x.stdout, "user half: h") {
					t.Errorf("not all handlers run in the kernel:\n%s", x.stdout)
				}
			}
		})
	}
}

// calledForms is the program static as a file of the name forms.
func calledForms(t *testing.T) string {
	data, err := os.ReadFile(traceable(t, "static"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "forms")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// pairsOfTexts is a script that counts texts: of each source alone, and of each two in containers of both.
func pairsOfTexts(sources []textSource, inUser func(int) bool, tables bool) string {
	var s strings.Builder
	for i := range sources {
		fmt.Fprintf(&s, "a%d = count()\n", i)
		for j := range i {
			fmt.Fprintf(&s, "n%[1]d_%[2]d, p%[1]d_%[2]d, g%[1]d_%[2]d = count(size = 99), count(size = 99), "+
				"group(by = (\"text\"), n = count(), most = highest(), size = 99)\n", j, i)
			fmt.Fprintf(&s, "t%[1]d_%[2]d, v%[1]d_%[2]d = table(size = 99), table(size = 99)\n", j, i)
		}
	}
	for i, source := range sources {
		fmt.Fprintf(&s, "def h%d(e):\n    x = %s\n", i, source.text)
		if inUser(i) {
			s.WriteString("    unused = [1 for i in range(2)]\n")
		}
		fmt.Fprintf(&s, "    a%d[x].add()\n", i)
		for j := range sources {
			if j == i {
				continue
			}
			pair := fmt.Sprintf("%d_%d", min(i, j), max(i, j))
			fmt.Fprintf(&s, "    n%[1]s[x].add()\n    p%[1]s[x, 7].add()\n    g%[1]s[x].n.add()\n"+
				"    g%[1]s[x].most.add(1)\n", pair)
			if tables {
				fmt.Fprintf(&s, "    t%[1]s[x] = t%[1]s.get(x, 0) + 1\n    v%[1]s[%[2]d] = (x, 1)\n", pair, i)
			}
		}
		fmt.Fprintf(&s, "probe(%q, h%d)\n", source.point, i)
	}
	s.WriteString(`
def same(what, got, want):
    if got != want: print("differs", what, got, want)
def both(x, y, n, p, g, t, v, i, j):
    want = dict(x.items())
    for k, c in y.items():
        want[k] = want.get(k, 0) + c
    items = sorted(want.items())
    same("count", sorted(n.items()), items)
    same("part", sorted(p.items()), [((k, 7), c) for k, c in items])
    same("group", sorted([(k, m.n) for k, m in g.items()]), items)
    for k, c in items:
        same("look up", (n[k].value, p[k, 7].value), (c, c))
    if TABLES:
        same("table", sorted(t.items()), items)
        same("values", [v[i][0] in dict(x.items()), v[j][0] in dict(y.items())], [True, True])
        for k, c in items:
            same("change", (k in t, t[k], t.pop(k), k in t), (True, c, c, False))
def done():
`)
	for i := range sources {
		for j := range i {
			fmt.Fprintf(&s, "    both(a%[1]d, a%[2]d, n%[1]d_%[2]d, p%[1]d_%[2]d, g%[1]d_%[2]d, t%[1]d_%[2]d, "+
				"v%[1]d_%[2]d, %[1]d, %[2]d)\n", j, i)
		}
	}
	s.WriteString("    print(\"sources that counted:\", len([x for x in (")
	for i := range sources {
		fmt.Fprintf(&s, "a%d, ", i)
	}
	s.WriteString(") if x.items()]))\n    print(\"one key:\", n0_6[\"forms\"].value == a0[\"forms\"].value + " +
		"a6[\"forms\"].value)\nat_exit(done)\n")
	return strings.ReplaceAll(s.String(), "TABLES", map[bool]string{true: "True", false: "False"}[tables])
}

// > The name of a function or point beside other strings is cut as they are.
func TestCutNamesBesideTexts(t *testing.T) {
	path := calledForms(t)
	e := startrace(t, "-q", "--str-max", "12", script(t, strings.ReplaceAll(`
n = count()
probe("uprobe:BIN:{forms,signs}", lambda e: n[e.probe].add())
probe("uprobe:BIN:{forms,signs}", lambda e: n[e.func].add())
probe("syscall:write", lambda e: n[e.comm].add())
at_exit(lambda: print(sorted([(k[:12], len(k), c) for k, c in n.items()])))
`, "BIN", path)), "-c", path+" 2").ok(t)
	e.has(t, `\[\("forms", 5, \d+\), \("signs", 5, \d+\), \("uprobe:/tmp/…", 12, \d+\)\]`)
}

// A name of a system call that is cut is another key than the whole string of the same bytes.
func TestCutCallsBesideTexts(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", "--str-max", "7", script(t, `
n = count()
probe("syscall:{newfstatat,fstat,exit_group}", lambda e: n[e.func].add())
probe("syscall:openat", lambda e: n[e.args.filename].add(), where = lambda e: e.args.filename.startswith("exit"))
at_exit(lambda: print(sorted([(str(k), c) for k, c in n.items() if k.startswith("exit")])))
`), "-c", "cat exit_gr exit_group")
	e.has(t, `\[\("exit_gr", 1\), \("exit_gr…", 2\)\]`)
}

// A cell that begins with a text has that text beside names, too.
func TestCellsOfNamesBegin(t *testing.T) {
	needTracing(t)
	e := startrace(t, script(t, `
last, pair, n = cell(""), cell(("none", 0)), count()
def calls(e):
    n["last", last.get(), e.func].add()
    n["pair", pair.get()[0], e.func].add()
    last.set(e.func)
    pair.set((e.func, 1))
probe("syscall:{close,exit_group}", calls)
at_exit(lambda: print(sorted([k for k in dict(n.items()) if k[1] in ("", "none")])))
`), "-c", "sleep 0").ok(t)
	e.has(t, `\[\("last", "", "\w+"\), \("pair", "none", "\w+"\)\]`)
	if strings.Contains(e.stderr, "ended early") {
		t.Error(e.stderr)
	}
}

// > One that user code alone has put into a container ends a handler in a kernel half that wants its text.
func TestNameOfUserCodeBesideTexts(t *testing.T) {
	path := calledForms(t)
	e := startrace(t, script(t, strings.ReplaceAll(`
n, names = count(), table()
probe("uprobe:BIN:{forms,signs}", lambda e: names.set(0, e.func), where = lambda e: e.func == "nothing")
def ends(e):
    n["reached"].add()
    n[names.get(0, "none")].add()
probe("syscall:write", ends)
probe("syscall:write", lambda e: n[e.comm].add())
names[0] = "of user code"
at_exit(lambda: print(sorted([k for k, _ in n.items()])))
`, "BIN", path)), "-c", path+" 2").ok(t)
	e.has(t, `\["forms", "reached"\]`)
	if !strings.Contains(e.stderr, "a name that only user space knows") {
		t.Errorf("not said: %s", e.stderr)
	}
}
