package accept

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// linesSource is a program with lines of which it is known how often they are passed.
const linesSource = `#include <stdio.h>
static int counter = 40;
struct item { const char *name; int price; };
static inline __attribute__((always_inline)) int doubled(int n) {
	int twice = 2 * n;
	return twice + 1; /* 6 */
}
__attribute__((noinline)) int checkout(struct item *items, int count) {
	int total = 0; /* 9 */
	for (int i = 0; i < count; i++) { /* 10 */
		int price = doubled(items[i].price); /* 11 */
		total += price; /* 12 */
		{
			int total = -price; /* 14 */
			counter += total; /* 15 */
		}
	}
	total += doubled(count); /* 18 */
	return total; /* 19 */
}

int main(int argc, char **argv) {
	struct item items[] = {{"tea", 3}, {"milk", 5}};
	counter += items[0].name[0] == 'x'; /* what nobody has touched cannot be read */
	for (int i = 0; i < 3; i++)
		checkout(items, 2);
	printf("%d\n", counter);
}
`

func linesProgram(t *testing.T, command string) string {
	t.Helper()
	needTracing(t)
	need.Sources(t, "../..")
	return need.Built(t, command, "cart.c", linesSource)
}

// The variables of a line are those of its function and its block, and a line is passed as often as it begins.
//
// > | `uprobe:BINARY:FILE:LINE` | `u` | a line of the source, with the variables there |
// > It has its type as arguments have.
// > See [semantics.md](semantics.md#variables-at-lines).
// > Where a program has debug information, `uprobe:BINARY:FILE:LINE` stands at a line of its source, before what the
// > line does.
// > `e.vars` are the variables that are in sight there: the parameters and the locals of the function, those of inner
// > blocks before those of outer ones.
// > `e.func` is the function that the line belongs to, and `e.source` the line, as the point has it:
// > `cart.c:120`.
// > A variable of an inner block hides one of an outer block with its name.
// > So does a local at the line that declares it, and before it, because it has no value yet.
// > There its memory has what was left in it.
// > In code without optimization a line is probed once for each block of the source that it begins in.
// > So a `for` that begins with a statement is seen once for each loop, not for each turn: `for i := 0; i < n;
// > i++ {`.
// > A line can have several places.
// > It is probed at all of them, also where its function was inlined into another one.
// > At the first line of a function, without optimization, the probe stands behind the instructions that store the
// > parameters.
func TestLines(t *testing.T) {
	for _, command := range []string{"gcc -g -O0", "clang -g -O0", "gcc -g -O0 -gdwarf-4 -no-pie",
		"clang -g -O0 -gdwarf-4"} {
		binary := linesProgram(t, command)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
[probe("uprobe:BIN:cart.c:%d" % i, lambda e: n[e.source, e.func].add()) for i in (9, 10, 11, 12, 15, 18, 19)]
probe("uprobe:BIN:cart.c:6", lambda e: n["inlined", e.func].add())
probe("uprobe:BIN:cart.c:15", lambda e: print("inner", e.vars.total, e.vars.items.name),
      where = lambda e: e.vars.i == 1)
probe("uprobe:BIN:cart.c:14", lambda e: print("unset", e.vars.total, e.vars.total == FAULT, e.vars.i))
probe("uprobe:BIN:cart.c:12", lambda e: print("outer", e.vars.total, e.vars.price, e.probe == "uprobe:BIN:cart.c:12"))
probe("uprobe:BIN:cart.c:8", lambda e: print("first", e.vars.count, e.vars.items.price, e.vars.total))
probe("uprobe:BIN:cart.c:6", lambda e: print("twice", e.vars.n, e.vars.twice))
at_exit(lambda: print(sorted(n.items())))
`, "BIN", binary)), "-c", binary).ok(t)
		got := map[string]int{}
		for line := range strings.Lines(e.stdout) {
			got[strings.TrimSpace(line)]++
		}
		for line, times := range map[string]int{
			"inner -11 tea": 3, "unset <optimized out> True 0": 3, "unset <optimized out> True 1": 3,
			"outer 0 7 True": 3, "outer 7 11 True": 3, "first 2 3 <optimized out>": 3,
			"twice 3 6": 3, "twice 5 10": 3, "twice 2 4": 3, "-14": 1,
			`[(("cart.c:10", "checkout"), 3), (("cart.c:11", "checkout"), 6), (("cart.c:12", "checkout"), 6), ` +
				`(("cart.c:15", "checkout"), 6), (("cart.c:18", "checkout"), 3), (("cart.c:19", "checkout"), 3), ` +
				`(("cart.c:9", "checkout"), 3), (("inlined", "doubled"), 9)]`: 1,
		} {
			if got[line] != times {
				t.Errorf("%s: %d times %q, want %d; all: %q", command, got[line], line, times, e.stdout)
			}
		}
	}
}

// What cannot be had of a line is said, with what there is.
//
// > FILE is the name of the source file, or as much of the end of its path as is needed to tell it from others.
// > With `-p` and `-c` BINARY may be left out: `uprobe:cart.c:120`.
// > A line without code is refused, and the message names the next one that has some.
// > `print(e.vars)` shows all that can be read.
// > They have types as arguments have.
func TestLinesRefused(t *testing.T) {
	binary := linesProgram(t, "gcc -g -O0")
	for _, c := range []struct{ code, want string }{
		{`probe("uprobe:BIN:cart.c:7777")`, "line 7777 of SRC has no code in BIN, nor has one behind it"},
		{`probe("uprobe:BIN:cart.c:16")`, "line 16 of SRC has no code in BIN; the next that has some is line"},
		{`probe("uprobe:BIN:art.c:16")`, "no source file is called art.c"},
		{`probe("uprobe:BIN:CART.C:16")`, "no source file is called CART.C; there is SRC"},
		{`probe("ufunc:BIN:cart.c:12")`, "a line is a place, and has no return: uprobe:BIN:cart.c:12"},
		{`probe("uprobe:BIN:cart.c:12", lambda e: print(e.args))`, "e.vars.NAME is a variable there"},
		{`probe("uprobe:BIN:cart.c:12", lambda e: print(e.vars.totl))`,
			"no variable totl is in sight at uprobe:BIN:cart.c:12 (did you mean total?); there are items, count, "},
		{`probe("uprobe:BIN:checkout", lambda e: print(e.vars.total))`, "only places in programs have it"},
		{`probe("uprobe:/bin/sh:cart.c:12")`, "has no debug information"},
	} {
		fill := strings.NewReplacer("BIN", binary, "SRC", filepath.Join(filepath.Dir(binary), "cart.c")).Replace
		e := startrace(t, "-q", "-e", fill(c.code), "-c", binary)
		if e.status == 0 || !strings.Contains(e.stderr, fill(c.want)) {
			t.Errorf("%s: exit %d, %q; want %q", c.code, e.status, e.stderr, fill(c.want))
		}
	}
	tail := filepath.Base(filepath.Dir(binary)) + "/cart.c:19"
	for _, point := range []string{"uprobe:cart.c:19", "uprobe:" + binary + ":" + tail} {
		e := startrace(t, "-q", "-e", `probe("`+point+`", lambda e: print(e.vars.total, e.vars))`, "-c", binary).ok(t)
		if strings.Count(e.stdout, "23 record(items = ") != 3 ||
			!strings.Contains(e.stdout, ", count = 2, total = 23") {
			t.Errorf("%s: %q", point, e.stdout)
		}
	}
}

// A Go program has lines, too: with its strings, what lies on the heap, and results by their names.
func TestLinesOfGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for command, want := range map[string][]string{
		"go build -gcflags=-N": {`sum main.checkout [0, "big", 0]`, `sum main.checkout [5, "big", 1]`,
			`kept [24, 12, "big"]`},
		"go build": {`sum main.checkout ["big"]`, `kept [24, "big"]`},
	} {
		binary := need.Built(t, command, "main.go", linesOfGo)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def known(*values):
    return [v for v in values if v != FAULT]
probe("uprobe:BIN:main.go:14", lambda e: print("sum", e.func, known(e.vars.total, e.vars.label, e.vars.i)))
probe("uprobe:BIN:main.go:18", lambda e: print("kept", known(e.vars.escaped, e.vars.total, e.vars.label)))
`, "BIN", binary)), "-c", binary).ok(t)
		for _, line := range want {
			if !strings.Contains(e.stdout, line+"\n") {
				t.Errorf("%s: got %q without %q", command, e.stdout, line)
			}
		}
	}
}

const linesOfGo = `package main

import "os"

var kept *int

//go:noinline
func keep(p *int, s string) { kept = p; if len(s) > 7 { os.Exit(3) } }

//go:noinline
func checkout(prices []int, label string) (total int) {
	for i, price := range prices {
		if i >= 0 {
			total += price // 14
		}
	}
	escaped := total * 2
	keep(&escaped, label) // 18
	return total + escaped
}

func main() {
	if checkout([]int{5, 7}, "big") != 36 {
		os.Exit(1)
	}
}
`

// manyPlaces is a program with a line of two functions, a loop that is unrolled and a float.
const manyPlaces = `volatile int sink;
int one(int x) { return x + 1; } int two(int y) { return y + 2; } /* 2 */
__attribute__((noinline)) void turns(int k) {
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		sink = i * k; /* 6 */
}
int main(void) {
	double rate = 1.5;
	sink = one(7) + two(8) + (int)rate; /* 10 */
	turns(3);
	turns(5);
}
`

// A line with several places has its variables at each.
//
// > What a place of the probe does not have in sight, where another one has it, is None there.
// > So is what lies in a register for floats, which prints as `<float>`.
// > In other optimized code compilers mix the instructions of lines.
// > A line has a copy for each turn of a loop that was unrolled, and all copies are probed.
// > One pass over the line can come by several of them, or by none, so counts of lines say little there.
func TestLinesOfManyPlaces(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for command, want := range map[string]string{
		"gcc -g -O0": "rate 1.5 False,place one 7 None,place two None 8",
		"gcc -g -O2": "place one 7 None,place two None 8,turn 0,turn 1,turn 2,turn 3,turn 0,turn 1,turn 2,turn 3",
	} {
		binary := need.Built(t, command+" -fno-inline", "places.c", manyPlaces)
		code := `
probe("uprobe:BIN:places.c:2", lambda e: print("place", e.func, e.vars.x, e.vars.y))
probe("uprobe:BIN:places.c:10", lambda e: print("rate", e.vars.rate, e.vars.rate == FAULT))
`
		if command == "gcc -g -O2" {
			code = `
probe("uprobe:BIN:places.c:2", lambda e: print("place", e.func, e.vars.x, e.vars.y))
probe("uprobe:BIN:places.c:6", lambda e: print("turn", e.vars.i))
`
		}
		e := startrace(t, "-q", script(t, strings.ReplaceAll(code, "BIN", binary)), "-c", binary).ok(t)
		got := strings.ReplaceAll(strings.TrimSpace(e.stdout), "\n", ",")
		if got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}

// What there is at a line is listed, and instructions of a function have variables, too.
//
// > `startrace list -v 'uprobe:./shop:cart.c:120'` shows the places, and the variables with their types.
// > In a program with debug information `e.vars` are the variables there.
func TestLinesListed(t *testing.T) {
	binary := linesProgram(t, "gcc -g -O0")
	e := startrace(t, "list", "-v", "uprobe:"+binary+":cart.c:12").ok(t)
	for _, want := range []string{"uprobe:" + binary + ":cart.c:12\n", ", in checkout", "e.source:      string",
		"e.vars.items:  pointer  struct item *", "e.vars.total:  int", "e.vars.price:  int"} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("got %q without %q", e.stdout, want)
		}
	}
	at := regexp.MustCompile(`address (0x[0-9a-f]+), in`).FindStringSubmatch(e.stdout)
	if at == nil {
		t.Fatalf("no address: %q", e.stdout)
	}
	e = startrace(t, "-q", "-e", `probe("uprobe:`+binary+`:`+at[1]+`", lambda e: print(e.vars.total, e.vars.price))`,
		"-c", binary).ok(t)
	if strings.Count(e.stdout, "0 7\n") != 3 || strings.Count(e.stdout, "7 11\n") != 3 {
		t.Errorf("%q", e.stdout)
	}
}

// Variables outside of functions have their values of the moment, wherever the program is loaded.
//
// > `e.globals.NAME` is a variable of the program outside of functions, with its type, at entries and calls of
// > functions and at places in them: `e.globals.config.limit`.
// > At a call `e.globals.NAME` is what it is at the end, and `e.start.globals.NAME` what it was at the start.
func TestGlobals(t *testing.T) {
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "gcc -g -O1 -static", "gcc -g -O0 -no-pie -gdwarf-4",
		"clang -g -O1"} {
		binary := linesProgram(t, command)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("uprobe:BIN:checkout", lambda e: print("entry", e.globals.counter))
probe("ufunc:BIN:checkout", lambda e: print("call", e.start.globals.counter, e.globals.counter))
probe("uprobe:BIN:cart.c:18", lambda e: print("line", e.globals.counter > -15, hasattr(e.globals, "nothing")))
`, "BIN", binary)), "-c", binary).ok(t)
		for _, want := range []string{"entry 40\n", "entry 22\n", "entry 4\n", "call 40 22\n", "call 22 4\n",
			"call 4 -14\n", "line True False\n"} {
			if !strings.Contains(e.stdout, want) {
				t.Errorf("%s: got %q without %q", command, e.stdout, want)
			}
		}
	}
	two := need.Built(t, "gcc -g -O0 -x c", "two.c", `
static struct { long limit; char name[8]; } config = {-77, "here"};
__attribute__((noinline)) long f(void) { return config.limit; }
int main(void) { return f() != -77; }
`)
	code := `probe("uprobe:` + two + `:f", lambda e: print(e.globals.config.limit, e.globals.config.name))`
	e := startrace(t, "-q", "-e", code, "-c", two).ok(t)
	if e.stdout != "-77 here\n" {
		t.Errorf("%q", e.stdout)
	}
	golang := need.Built(t, "go build", "main.go", linesOfGo)
	code = `probe("ufunc:` + golang + `:main.keep", lambda e: print(e.start.globals.kept, e.globals.kept != 0))`
	e = startrace(t, "-q", "-e", code, "-c", golang).ok(t)
	if e.stdout != "0 True\n" {
		t.Errorf("%q", e.stdout)
	}
	e = startrace(t, "-q", "-e", `probe("uprobe:`+two+`:f", lambda e: print(e.globals.confi))`, "-c", two)
	if e.status == 0 || !strings.Contains(e.stderr, "has no variable confi outside of functions") {
		t.Errorf("%q", e.stderr)
	}
}
