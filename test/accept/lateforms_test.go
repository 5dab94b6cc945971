package accept

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// registers calls reg(i) and use(i) at once for 10 numbers, and then use(i) for 20, of which 10 were registered. Behind
// each use it calls done(i).
const registers = `
#define CALL(name) __attribute__((noinline)) void name(long k) { __asm__ volatile("" :: "r"(k) : "memory"); }
CALL(reg) CALL(use) CALL(done)
int main(void) {
	for (long i = 0; i < 30; i++) {
		if (i < 10)
			reg(i);
		use(i < 10 ? i : i - 10);
		done(i < 10 ? i : i - 10);
	}
	return 0;
}
`

// What becomes of a change that a handler in user space makes of what a kernel half of another probe reads.
const (
	isMoved   = "moved"
	isRefused = "refused"
	isWarned  = "warned"
	isSilent  = "silent"
)

// A lateForm is a way to write into what is shared, with what becomes of it. ask is what the reader asks, which is true
// for so many calls of use().
type lateForm struct {
	text, want, ask string
	count           int
}

// lateForms are those of testdata/lateforms.star, which says what they look like.
func lateForms(t *testing.T) (out []lateForm) {
	t.Helper()
	text, err := os.ReadFile("testdata/lateforms.star")
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range strings.Split("\n"+string(text), "\n--- ")[1:] {
		head, text, _ := strings.Cut(chunk, "\n")
		head, number, counted := strings.Cut(head, " # ")
		f := lateForm{text: text, ask: "e.args.k in T", count: 20}
		if want, ask, asks := strings.Cut(head, ": "); asks {
			f.want, f.ask = want, ask
		} else {
			f.want = head
		}
		if counted {
			f.count, err = strconv.Atoi(number)
		}
		if err != nil || !slices.Contains([]string{isMoved, isRefused, isWarned, isSilent}, f.want) {
			t.Fatalf("a chunk begins with %q", head)
		}
		out = append(out, f)
	}
	return out
}

// readers are the kernel halves that can read what another probe's handler writes: each adds to N, if ASK holds.
var lateReaders = map[string]string{
	"where": `probe("uprobe:BINARY:use", lambda e: N.add(), where = lambda e: ASK)`,
	"kernel": `probe("uprobe:BINARY:use", lambda e: [sprintf("x"), N.add()],
      kernel = lambda e: record(x = 1) if ASK else None)`,
	"start": `def STARTS(e):
    if ASK:
        N.add()
probe(span("uprobe:BINARY:use", "uprobe:BINARY:done", key = lambda e: e.args.k), lambda e: None, start = STARTS)`,
	"key": `probe(span("uprobe:BINARY:use", "uprobe:BINARY:done",
           key = (lambda e: e.args.k if ASK else -1, lambda e: e.args.k)), lambda e: N.add())`,
	"handler": `def READS(e):
    if ASK:
        N.add()
probe("uprobe:BINARY:use", READS)`,
}

// A lateScript has many forms with one reader. lines has the first line of each.
type lateScript struct {
	text  strings.Builder
	forms []lateForm
	lines []int
}

// add adds a form with a reader behind or before it.
func (s *lateScript) add(f lateForm, reader, binary string, before bool) {
	i := len(s.forms)
	names := strings.NewReplacer("ASK", f.ask, "BINARY", binary)
	own := regexp.MustCompile(`\b(A|T|C|N|H|M|REG|STARTS|READS|NUMBERS|on)\b`)
	number := func(text string) string { return own.ReplaceAllString(text, fmt.Sprintf("${1}%d", i)) }
	read := number(names.Replace(reader)) + "\n"
	write := number(f.text) + "\n" + number(fmt.Sprintf("probe(\"uprobe:%s:reg\", REG)\n", binary))
	s.forms = append(s.forms, f)
	s.lines = append(s.lines, strings.Count(s.text.String(), "\n")+1)
	s.text.WriteString(number("T, C, N = table(), cell(0), count()\n"))
	if before {
		s.text.WriteString(read + write)
	} else {
		s.text.WriteString(write + read)
	}
}

// said gives which forms have a message with a text.
func (s *lateScript) said(stderr, text string) map[int]bool {
	out := map[int]bool{}
	for _, line := range strings.Split(stderr, "\n") {
		m := regexp.MustCompile(`^[^ ]*\.star:(\d+):\d+: (.*)`).FindStringSubmatch(line)
		if m == nil || !strings.Contains(m[2], text) {
			continue
		}
		at, _ := strconv.Atoi(m[1])
		for i, from := range s.lines {
			if at >= from && (i+1 == len(s.lines) || at < s.lines[i+1]) {
				out[i] = true
			}
		}
	}
	return out
}

// What a handler of user space changes and a kernel half of another probe reads is right, refused or warned of, in
// whatever form it is written, and whichever of both the script declares first.
func TestLateForms(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	before := false
	for _, kind := range slices.Sorted(maps.Keys(lateReaders)) {
		t.Run(kind, func(t *testing.T) {
			runs, bad := &lateScript{}, &lateScript{}
			for _, f := range lateForms(t) {
				before = !before
				if f.want == isRefused {
					bad.add(f, lateReaders[kind], binary, before)
				} else {
					runs.add(f, lateReaders[kind], binary, before)
				}
			}
			before = !before // so that another reader comes in the other order
			bad.checkRefused(t)
			runs.checkRun(t, binary)
		})
	}
}

// What handlers print, and what is in the tables in the end, is the same whether the kernel reads these or not.
func TestLateFormsAgree(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	run := func(reader string) string {
		s := &lateScript{}
		for _, f := range lateForms(t) {
			if f.want != isRefused {
				s.add(f, reader, binary, false)
			}
		}
		for i := range s.forms {
			const shows = "at_exit(lambda: print(%d, sorted([str(x) for x in T%[1]d.items()]), C%[1]d.get()))\n"
			fmt.Fprintf(&s.text, shows, i)
		}
		e := startrace(t, script(t, s.text.String()), "-c", binary).ok(t)
		return regexp.MustCompile(`(?m)^N\d+: .*\n`).ReplaceAllString(e.stdout, "")
	}
	alone, read := strings.Split(run(""), "\n"), strings.Split(run(lateReaders["where"]), "\n")
	for i := range min(len(alone), len(read)) {
		if alone[i] != read[i] {
			t.Errorf("line %d is %q where the kernel reads, else %q", i, read[i], alone[i])
		}
	}
	if len(alone) != len(read) {
		t.Errorf("%d lines where the kernel reads, else %d", len(read), len(alone))
	}
}

// A handler in user space that reads what the kernel changes for another one is warned of; one that the kernel runs is
// not, nor are timers.
func TestReadsOfMovedChanges(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	for read, warned := range map[string]bool{
		"lambda e: print(C.get())":                              true,
		"lambda e: print(sorted(T.items()))":                    true,
		"lambda e: print(1) if e.args.k in T else None":         true,
		"lambda e: C.get() > 2 and print(1)":                    true,
		"lambda e: M.add() if e.args.k in T else None":          false,
		"lambda e: [print(1), after(\"1h\", lambda: T.get(1))]": false,
	} {
		var text strings.Builder
		text.WriteString("T, C, M = table(), cell(0), count()\n" +
			"def writes(e):\n    T[e.args.k] = 1\n    C.add(1)\n    print(e.args.k)\n")
		fmt.Fprintf(&text, "probe(\"uprobe:%s:reg\", writes)\nprobe(\"uprobe:%[1]s:reg\", %s)\n", binary, read)
		for _, ask := range []string{"e.args.k in T", "C.get() > 2"} {
			fmt.Fprintf(&text, "probe(\"uprobe:%s:use\", lambda e: None, where = lambda e: %s)\n", binary, ask)
		}
		e := startrace(t, script(t, text.String()), "-c", binary).ok(t)
		if strings.Contains(e.stderr, "is written by a kernel half") != warned {
			t.Errorf("%s: warned is not %v:\n%s", read, warned, e.stderr)
		}
	}
}

// The kernel makes no change behind a fail() that the handler comes to.
func TestFailBeforeMovedChange(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	for _, text := range []string{
		"    if e.args.k == 3:\n        fail(\"three\")\n",
		"    for i in range(4):\n        if i == 3 and e.args.k == i:\n            fail(\"three\")\n",
	} {
		e := startrace(t, script(t, fmt.Sprintf(`T = table()
def writes(e):
    print(e.args.k)
%s    T[e.args.k] = 1
probe("uprobe:%[2]s:reg", writes)
probe("uprobe:%[2]s:use", lambda e: None, where = lambda e: e.args.k in T)
at_exit(lambda: print("keys", sorted(T.keys())))
`, text, binary)), "-c", binary)
		if !strings.Contains(e.stdout, "keys [0, 1, 2, 4, 5, 6, 7, 8, 9]") || strings.Contains(e.stderr, "warning") {
			t.Errorf("%s\n%s\n%s", text, e.stdout, e.stderr)
		}
	}
}

// A change that the kernel makes is made before the handler runs, whatever becomes of that.
//
// > It makes them before the handler runs.
// > So a change is made also where a line of the handler before it then ends in an error, other than by `fail()` or
// > `exit()`.
// > What it writes, and the conditions around it, are computed as kernel halves compute, with 64 bits.
// > Where the kernel cannot compute it, as by a division by zero, the event is not sent, and the line is counted.
// > All changes of one table or cell are made on one side, in their order, also those of several handlers.
// > So one that must be late makes the others of the table late.
// > It is made late, too, where `fail()` or `exit()` may come before it in a function that the handler calls.
func TestFaultsBesideMovedChanges(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	reader := fmt.Sprintf(`probe("uprobe:%s:use", lambda e: None, where = lambda e: T.get(e.args.k, 0) > 0)
at_exit(lambda: print("table", sorted(T.items())))
`, binary)
	point := fmt.Sprintf("uprobe:%s:reg", binary)
	for _, c := range []struct{ text, stdout, stderr string }{
		{`L = [0]
def writer(e):
    print("at", e.args.k, L[e.args.k])
    T[e.args.k] = 1
probe(%q, writer, where = lambda e: e.args.k < 3)
`, "at 0 0\ntable [(0, 1), (1, 1), (2, 1)]\n", "index 1"},
		{`def writer(e):
    print("at", e.args.k)
    T[e.args.k] = 10 // (e.args.k - 1)
probe(%q, writer, where = lambda e: e.args.k < 3)
`, "at 0\nat 2\ntable [(0, -10), (2, 10)]\n", "division by zero"},
		{`def writer(e):
    print("at", e.args.k)
    if e.args.k << 64 == 0:
        T[e.args.k] = (e.args.k << 62) >> 62
probe(%q, writer, where = lambda e: e.args.k < 3)
`, "at 0\nat 1\nat 2\ntable [(0, 0), (1, 1), (2, -2)]\n", ""},
		{`L = [0, 1]
def late(e):
    L.append(2)
    if e.args.k in L[:2]:
        T[0] = 1
def moved(e):
    print("at", e.args.k)
    T[0] = 10 + e.args.k
probe(%[1]q, late)
probe(%[1]q, moved, where = lambda e: e.args.k < 3)
`, "at 0\nat 1\nat 2\ntable [(0, 12)]\n", "warning: table T"},
		{`def late(e):
    print("at", e.args.k, T.get(1))
    T[1] = e.args.k
def moved(e):
    print("and", e.args.k)
    T[1] = 10 + e.args.k
probe(%[1]q, late, where = lambda e: e.args.k < 2)
probe(%[1]q, moved, where = lambda e: e.args.k < 2)
`, "at 0 None\nand 0\nat 1 10\nand 1\ntable [(1, 11)]\n", "warning: table T"},
		{`def check(e):
    if e.args.k == 1:
        fail("one")
def writer(e):
    check(e)
    print("at", e.args.k)
    T[e.args.k] = 1
probe(%q, writer, where = lambda e: e.args.k < 3)
`, "at 0\nat 2\ntable [(0, 1), (2, 1)]\n", "warning: table T"},
		{`def writer(e):
    print("at", e.args.k)
    e.args.k == 1 and fail("one")
    T[e.args.k] = 1
probe(%q, writer, where = lambda e: e.args.k < 3)
`, "at 0\nat 1\nat 2\ntable [(0, 1), (2, 1)]\n", "warning: table T"},
	} {
		e := startrace(t, script(t, "T = table()\n"+fmt.Sprintf(c.text, point)+reader), "-c", binary)
		if e.stdout != c.stdout || !strings.Contains(e.stderr, c.stderr) {
			t.Errorf("%s\n%s\n%s", c.text, e.stdout, e.stderr)
		}
	}
}

func (s *lateScript) checkRefused(t *testing.T) {
	t.Helper()
	e := startrace(t, "-q", script(t, s.text.String()), "-c", "true")
	told := s.said(e.stderr, "which runs before the event is sent: def mark(e)")
	for i, f := range s.forms {
		if !told[i] {
			t.Errorf("not refused:\n%s\n%s", f.text, e.stderr)
		}
	}
}

func (s *lateScript) checkRun(t *testing.T, binary string) {
	t.Helper()
	for i := range s.forms {
		fmt.Fprintf(&s.text, "at_exit(lambda: print(\"form\", %d, N%[1]d.value))\n", i)
	}
	e := startrace(t, script(t, s.text.String()), "-c", binary).ok(t)
	told := s.said(e.stderr, "warning: ")
	for i, f := range s.forms {
		right := strings.Contains(e.stdout, fmt.Sprintf("form %d %d\n", i, f.count))
		switch {
		case f.want == isMoved && (told[i] || !right):
			t.Errorf("not made in the kernel (warned: %v):\n%s", told[i], f.text)
		case f.want == isWarned && !told[i]:
			t.Errorf("made late without a word (the count is right: %v):\n%s", right, f.text)
		case f.want == isSilent && told[i]:
			t.Errorf("a false alarm:\n%s", f.text)
		}
	}
}

// A change that is late has what it needs of the start of a span.
func TestLateChangeOfAStart(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "registers.c", registers)
	e := startrace(t, script(t, fmt.Sprintf(`T = table()
L = [1]
def writes(e):
    print("at", e.args.k)
    if e.start.args.k in (3, 5):
        T.add((e.start.args.k + len(L)) %% 5, e.args.k)
probe(span("uprobe:%[1]s:reg", "uprobe:%[1]s:use", key = lambda e: e.args.k), writes)
probe("uprobe:%[1]s:use", lambda e: None, where = lambda e: e.args.k in T)
at_exit(lambda: print("table", sorted(T.items())))
`, binary)), "-c", binary).ok(t)
	if !strings.Contains(e.stdout, "at 9\ntable [(1, 5), (4, 3)]\n") {
		t.Errorf("%s\n%s", e.stdout, e.stderr)
	}
}
