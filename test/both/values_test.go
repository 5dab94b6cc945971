package both

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// rawCalls are the calls that the handlers below see: their numbers, and their arguments in hex. All fail.
var rawCalls = []string{
	raw(unix.SYS_LSEEK, "2327", "5", "0"), raw(unix.SYS_LSEEK, "2327", "fffffffffffffffb", "1"),
	raw(unix.SYS_LSEEK, "ffffffff", "8000000000000000", "2"),
	raw(unix.SYS_READ, "2327", "0", "a"), raw(unix.SYS_READ, "2328", "1", "b"), raw(unix.SYS_READ, "2328", "0", "b"),
	raw(unix.SYS_OPENAT, "ffffff9c", "0", "0"), raw(unix.SYS_OPENAT, "ffffff9c", "1", "800"),
}

func raw(number uintptr, words ...string) string {
	return fmt.Sprintf("%d,%s", number, strings.Join(words, ","))
}

// A sameCase is a handler that can run on both sides, and what its containers hold in the end.
type sameCase struct {
	name, point string
	// state declares the containers x, y, … ; body is the handler.
	state, body string
	want        string
}

// sameValues has values of all kinds where halves could take them for others: keys, values of tables and cells.
var sameValues = []sameCase{
	{"a key of None", "read", "x = count()", "x[e.args.buf].add()", "x: 1=1 None=2"},
	{"None in a tuple", "read", "x = count(by = ('buf', 'fd'))\ny = table()",
		"x[e.args.buf, e.args.fd].add()\ny[e.args.fd, e.args.buf] = e.args.count",
		"x: (1, 9000)=1 (None, 8999)=1 (None, 9000)=1\ny: (8999, None)=10 (9000, 1)=11 (9000, None)=11"},
	{"None in a record", "read", "x = count()", "x[record(b = e.args.buf, n = 1)].add()",
		"x: record(b = 1, n = 1)=1 record(b = None, n = 1)=2"},
	{"a key of None for ever", "read", "x = count()", "x[None].add()", "x: None=3"},
	{"a part of None for ever", "read", "x = count(by = ('a', 'b'))\ny = table()\neach = False",
		"x[e.pid if each else None, e.args.fd].add()\ny[None, e.args.count] = 1",
		"x: 8999=1 9000=2\ny: 10=1 11=1"},
	{"None in one of two uses", "read", "x = count()\ny = table()",
		"x[None, e.args.fd].add()\nif e.args.fd == 8999: x['s', e.args.fd].add()\ny[None, 1] = 2\n" +
			"y.get((e.args.fd, 1))",
		"x: (\"s\", 8999)=1 (None, 8999)=1 (None, 9000)=2\ny: (None, 1)=2"},
	{"a tuple of one", "read", "x = count()\ny = table()", "x[(e.args.buf,)].add()\ny[(e.args.fd,)] = 1",
		"x: (1,)=1 (None,)=2\ny: (8999,)=1 (9000,)=1"},
	{"arguments by number", "lseek",
		"x = count()\ny = table()\nWHICH = (2, 1)\ndef pick(a, i):\n    return a[i]\ndef summed(e, n):\n    s = 0\n" +
			"    for i in range(n):\n        s += e.args[i]\n    return s",
		"for i in WHICH:\n    k = i - 1\n    x[k, pick(e.args, k)].add()\n    if e.args[i] == 2: continue\n" +
			"    if i == 1: break\n    for j, n in ((0, i), (i, 1)): y[i, j] = e.args[n]\ny[5, 5] = summed(e, 2)",
		"x: (0, 4294967295)=1 (0, 8999)=2 (1, -5)=1 (1, -9223372036854775808)=1 (1, 5)=1\n" +
			"y: (2, 0)=1 (2, 2)=-5 (5, 5)=-9223372032559808513"},
	{"names of a negative int", "openat", "x = count()\ny = table()",
		"x[names(e.args.dfd, 'PROT_')].add()\ny[names(e.args.dfd, 'AT_')] = names(e.args.dfd, 'PROT_')",
		"x: PROT_EXEC|PROT_SEM|PROT_GROWSDOWN|PROT_GROWSUP|0xfcffff90=2\n" +
			"y: AT_FDCWD=PROT_EXEC|PROT_SEM|PROT_GROWSDOWN|PROT_GROWSUP|0xfcffff90"},
	{"bools", "read", "x = count()\ny = table()\nz = cell(False)",
		"x[e.args.fd == 9000].add()\ny[e.args.count > 10] = e.args.fd == 8999\nz.set(e.args.count == 11)",
		"x: False=1 True=2\ny: False=True True=False\nz: True"},
	{"texts that cannot be read", "openat", "x = count()\ny = table()\nz = table()",
		"f = e.args.filename\nx[f, e.args.flags].add()\ny[f == FAULT, f == None, bool(f)] = f\n" +
			"z[e.args.flags] = record(f = f, d = e.args.dfd, b = e.args.dfd < 0)",
		"x: (<fault>, 0)=1 (<fault>, 2048)=1\ny: (True, False, True)=<fault>\n" +
			"z: 0=record(f = <fault>, d = -100, b = True) 2048=record(f = <fault>, d = -100, b = True)"},
	{"values of None and FAULT", "read", "x = table()\ny = count()\nz = table()",
		"x[e.args.count] = None if e.args.fd == 9000 else e.args.fd\ny[x.get(e.args.count)].add()\n" +
			"z[e.args.fd] = FAULT if e.args.fd == 9000 else e.args.count\ny[z.get(e.args.fd)].add()",
		"x: 10=8999 11=None\ny: 10=1 8999=1 <fault>=2 None=2\nz: 8999=10 9000=<fault>"},
	{"what pop and in find", "read", "x = table()\ny = count()\nz = count()",
		"z[e.args.fd in x].add()\nv = x.pop(e.args.fd, 7)\ny[v].add()\nx[e.args.fd] = e.args.count",
		"x: 8999=10 9000=11\ny: 11=1 7=2\nz: False=2 True=1"},
	{"extremes", "lseek", "x = total()\ny = lowest()\nz = highest()\nw = mean()",
		"x[e.args.whence].add(e.args.fd)\ny.add(e.args.offset)\nz.add(e.args.fd)\nw.add(e.args.whence)",
		"x: 0=8999 1=8999 2=4294967295\ny: None=-9223372036854775808\nz: None=4294967295\nw: None=1.0"},
	{"updates", "lseek", "x = table()\ny = cell(-5)\nz = cell('a')",
		"x['a'] += e.args.whence\nx['b'] -= e.args.fd\nx['c'] |= e.args.whence\nx['d'] ^= e.args.fd\nx['e'] *= 3\n" +
			"y.add(-1)\nz.set(e.comm)",
		"x: a=3 b=-4294985293 c=3 d=4294967295 e=0\ny: -8\nz: wl-raw"},
	{"numbers", "lseek", "x = table()\ny = table()",
		"o, w = e.args.offset, e.args.whence\nx[w] = (o >> 1, o // 3, o % 7, -w, ~w)\n" +
			"y[w] = (min(o, 3), max(o, 3), abs(w - 1), int(w == 2), w and e.args.fd, w or o)",
		"x: 0=(2, 1, 5, 0, -1) 1=(-3, -2, 2, -1, -2) 2=(-4611686018427387904, -3074457345618258603, 6, -2, -3)\n" +
			"y: 0=(3, 5, 1, 0, 0, 5) 1=(-5, 3, 0, 0, 8999, 1) 2=(-9223372036854775808, 3, 1, 1, 4294967295, 2)"},
	{"tuples in tuples", "lseek", "x = table()",
		"w = e.args.whence\nx[(w, (e.args.fd, None if w else 3))] = (None, w or None)",
		"x: (0, (8999, 3))=(None, None) (1, (8999, None))=(None, 1) (2, (4294967295, None))=(None, 2)"},
	{"records", "lseek", "x = table(by = ('a', 'b'))",
		"x[record(a = e.args.whence, b = e.comm)] = record(x = 1, y = (e.args.fd, e.args.fd == 8999))",
		"x: record(a = 0, b = \"wl-raw\")=record(x = 1, y = (8999, True)) " +
			"record(a = 1, b = \"wl-raw\")=record(x = 1, y = (8999, True)) " +
			"record(a = 2, b = \"wl-raw\")=record(x = 1, y = (4294967295, False))"},
	{"bytes and labels", "lseek", "x = table()\ny = count()\nz = table()",
		"x[mem(e.task.comm, 3)] = mem(e.task.comm, 6)\ny[errno(e.ret), signal(e.args.whence)].add()\n" +
			"z[e.args.whence] = errno(e.ret)",
		"x: wl-=wl-raw\ny: (\"EBADF\", \"0\")=1 (\"EBADF\", \"SIGHUP\")=1 (\"EBADF\", \"SIGINT\")=1\n" +
			"z: 0=EBADF 1=EBADF 2=EBADF"},
	{"strings", "lseek", "x = count()",
		"c = e.comm\nx[c.startswith('wl'), 'raw' in c, c.endswith('x'), matches(c, 'w*w'), c < 'z', len(c)].add()",
		"x: (True, True, False, True, True, 6)=3"},
	{"reads at constant addresses", "lseek", "x = count()\ny = table()",
		"t = cast('struct task_struct', 8)\nx[t.pid, t.comm].add()\n" +
			"y[1] = (cstr(8), cast('struct task_struct', 0) == None)",
		"x: (<fault>, <fault>)=3\ny: 1=(<fault>, True)"},
	{"null pointers", "lseek", "x = table()\ny = count()\nz = table()",
		"p = e.task.pi_blocked_on\nx[p] = p\ny[p, e.args.whence].add()\nz[p, 1] = (p, p == FAULT)\nx.get(p)",
		"x: None=None\ny: (None, 0)=1 (None, 1)=1 (None, 2)=1\nz: (None, 1)=(None, False)"},
	{"groups", "read", "x = group(by = ('a', 'b'), n = count(), t = total())",
		"x[e.args.buf, None].n.add()\nx[e.args.buf, None].t.add(e.args.count)",
		"x: 1=record(n = 1, t = 11) None=record(n = 2, t = 21)"},
}

// report prints containers: entries by their text.
const report = `
def text(c):
    if type(c) == "cell":
        return str(c.get())
    if type(c) != "table" and not c.items():
        return "None=" + str(c.value)
    for k, v in c.items():
        if not k in c or c.get(k) != v:
            fail("%s: %s is no key of it" % (c, k))
    return " ".join(sorted(["%s=%s" % (str(k), str(v)) for k, v in c.items()]))

at_exit(lambda: [print("=", name + ":", text(c)) for name, c in CONTAINERS])
`

// script is the whole of a case.
func (c *sameCase) script() string {
	var list []string
	for _, line := range strings.Split(c.state, "\n") {
		name, what, _ := strings.Cut(line, " = ")
		kind, _, _ := strings.Cut(what, "(")
		switch kind {
		case "count", "table", "cell", "group", "total", "lowest", "highest", "mean":
			list = append(list, fmt.Sprintf("(%q, %s)", name, name))
		}
	}
	return fmt.Sprintf("%s\nCONTAINERS = [%s]\ndef h(e):\n    %s\n%s\nprobe('syscall:%s', h, "+
		"where = lambda e: e.comm == 'wl-raw')\n",
		c.state, strings.Join(list, ", "), strings.ReplaceAll(c.body, "\n", "\n    "), report, c.point)
}

// TestValues compares what handlers leave in containers with what is known beforehand, on both sides; in the short form
// of every sixth case.
func TestValues(t *testing.T) {
	needTracing(t)
	work(t)
	bin, _ := filepath.Abs("../../bin/workload")
	command := bin + " -report /dev/null raw " + strings.Join(rawCalls, " ")
	for i, c := range sameValues {
		if testing.Short() && i%6 != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "case.star")
			if err := os.WriteFile(file, []byte(c.script()), 0o600); err != nil {
				t.Fatal(err)
			}
			if !testing.Short() {
				if _, text := answerOf(t, plainly+"=1", command, []string{file}); printed(text) != c.want {
					t.Errorf("in the kernel alone: got\n%s\nwant\n%s", text, c.want)
				}
			}
			a, text := answerOf(t, plainly+"=", command, []string{file})
			for n := 0; n < 5 && len(a.Losses) > 0 && (len(a.Differ) > 0 || printed(text) != c.want); n++ {
				a, text = answerOf(t, plainly+"=", command, []string{file}) // the kernel has skipped programs (7.2)
			}
			if a.Err != "" || a.Exit != 0 || len(a.Alone) > 0 {
				t.Fatalf("exit %d: %s, alone %v\n%s%s", a.Exit, a.Err, a.Alone, text, c.script())
			}
			for _, d := range a.Differ {
				t.Errorf("not the same on both sides: %s", d)
			}
			if got := printed(text); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if len(a.Same) != strings.Count(c.want, "\n")+1 {
				t.Errorf("compared were %v", a.Same)
			}
		})
	}
}

// printed is what a case reported.
func printed(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "= "); ok {
			lines = append(lines, rest)
		}
	}
	return strings.Join(lines, "\n")
}
