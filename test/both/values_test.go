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
		"x[None, e.args.fd].add()\nif e.args.fd == 8999: x['s', e.args.fd].add()\ny[None, 1] = 2\ny.get((e.args.fd, 1))",
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
	return fmt.Sprintf("%s\nCONTAINERS = [%s]\ndef h(e):\n    %s\n%s\nprobe('syscall:%s', h, where = lambda e: e.comm == 'wl-raw')\n",
		c.state, strings.Join(list, ", "), strings.ReplaceAll(c.body, "\n", "\n    "), report, c.point)
}

// TestValues compares what handlers leave in containers with what is known beforehand, on both sides.
func TestValues(t *testing.T) {
	needTracing(t)
	work(t)
	bin, _ := filepath.Abs("../../bin/workload")
	command := bin + " -report /dev/null raw " + strings.Join(rawCalls, " ")
	for _, c := range sameValues {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "case.star")
			if err := os.WriteFile(file, []byte(c.script()), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, text := answerOf(t, plainly+"=1", command, []string{file}); printed(text) != c.want {
				t.Errorf("in the kernel alone: got\n%s\nwant\n%s", text, c.want)
			}
			a, text := answerOf(t, plainly+"=", command, []string{file})
			if a.Err != "" || a.Exit != 0 || len(a.Losses) > 0 || len(a.Alone) > 0 {
				t.Fatalf("exit %d: %s, lost %v, alone %v\n%s%s", a.Exit, a.Err, a.Losses, a.Alone, text, c.script())
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
