package accept

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// storedFloats hands over numbers that lie in memory, of both widths: usual ones, both zeros, infinities, no number,
// the smallest and the largest. It prints each, too.
const storedFloats = `#include <math.h>
#include <stdio.h>
struct number { int i; double d; float f; double more[2]; long double wide; };
struct small { int a; float b; };
volatile double sink;
__attribute__((noinline)) int look(struct number *n, double in_register) {
	sink = n->d + n->f + n->more[0] + n->more[1] + n->wide + in_register;
	return n->i;
}
__attribute__((noinline)) int hold(struct small s) { sink = s.b; return s.a; }
int main(void) {
	double all[] = {1.5, -2.25, 0.0, -0.0, 1e300, -1e300, NAN, INFINITY, -INFINITY, 99.5, 0.1, 4.9e-324, 16777217, -7};
	for (int i = 0; i < sizeof all / sizeof *all; i++) {
		struct number n = {i, all[i], all[i], {all[i] / 2, 0.125}, 3};
		look(&n, 0.5);
		hold((struct small){i, n.f});
		printf("%d %.17g %.17g %.17g %.17g\n", i, n.d, n.f, n.more[0], n.f);
	}
	return 0;
}
`

// comparisons are what both halves ask of a float, with constants that have no float of 32 bits among them.
var comparisons = []string{"x > 1", "x < 99.5", "x >= 99.5", "x <= -2.25", "x == 0", "x != 0.1", "x == 0.1", "5 > x",
	"0 <= x", "x < 0", "x > 16777216.5", "x <= 16777217", "x == 16777217", "x < 1e300", "x >= -1e300", "bool(x)",
	"x in (1.5, -7)",
	"x < float('inf')", "x == float('nan')", "x > -float('inf')",
	"x < 100000000000000000000000000000000000000000", "x == x",
	"x == None", "x == FAULT", "x > 1e-320"}

// Floats that lie in memory are the numbers that the program has, and a comparison gives the same in both halves.
//
// > A float or double in the memory of a program is a float in both halves.
// > A kernel half can store it, send it, use it as a key, and compare it: with a constant, or with a float of the same
// > width.
// > Both halves compare as Starlark does: 0.0 equals -0.0, and NaN equals itself and is larger than every other number.
// > As keys of kernel halves 0.0 and -0.0 are 0.0.
func TestFloatsInMemory(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	text := strings.ReplaceAll(`
inf, nan = float("inf"), float("nan")
kept, told = table(), table()
def ask(x): return (ALL)
def pairs(n): return (n.d < n.more[1], n.more[0] == n.d, n.d >= n.d)
def keep(e):
    n = e.args.n
    kept[n.i, n.d] = (n.d, n.f, n.more[0], ask(n.d), ask(n.f), pairs(n))
def tell(e):
    n = e.args.n
    told[n.i] = (n.d, n.f, n.more[0], ask(n.d), ask(n.f), pairs(n))
    print("") # user space only
held = table()
def hold(e): held[e.args.s.a] = e.args.s.b
probe("uprobe:BIN:look", kernel = keep)
probe("uprobe:BIN:look", tell)
probe("uprobe:BIN:hold", kernel = hold)
def end():
    for (i, key), v in sorted(kept.items(), key = lambda kv: kv[0][0]):
        if v != told[i] or str(v) != str(told[i]) or key != v[0]:
            print("differ", i, key, v, told[i])
        print(i, v[0], v[1], v[2], held[i])
at_exit(end)
`, "ALL", strings.NewReplacer("float('inf')", "inf", "float('nan')", "nan").Replace(strings.Join(comparisons, ", ")))
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "clang -g -O1"} {
		binary := need.Built(t, command, "floats.c", storedFloats)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		var seen, made []string
		for _, line := range strings.Split(e.stdout, "\n") {
			switch {
			case line == "":
			case len(made) < 14:
				made = append(made, sameNumbers(line))
			default:
				seen = append(seen, sameNumbers(line))
			}
		}
		if fmt.Sprint(seen) != fmt.Sprint(made) {
			t.Errorf("%s: seen\n%s\nwant\n%s", command, strings.Join(seen, "\n"), strings.Join(made, "\n"))
		}
	}
}

// TestVectorsAreInRegistersOfFloats: what a vector has is in a register for floats, whatever its elements are.
//
// > So does each element of a vector, as of `__m128i`, which is passed in such a register though its elements are ints.
func TestVectorsAreInRegistersOfFloats(t *testing.T) {
	needTracing(t)
	for _, command := range []string{"gcc -g -O0", "gcc -g -O1", "clang -g -O1"} {
		binary := need.Built(t, command, "vectors.c", `typedef int v2 __attribute__((vector_size(16)));
__attribute__((noinline)) int take(v2 v, int n) { return v[0] + n; }
__attribute__((noinline)) v2 give(int n) { return (v2){n, n + 1, 2, 3}; }
int main(void) { return take(give(3), 4) != 7; }
`)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:give", lambda e: print(e.args.n, e.ret, e.ret[1] == FAULT))
probe("ufunc:BIN:take", lambda e: print(e.args.v, e.args.v[2], e.args.n, e.ret))
seen = count()
def note(e):
    seen[e.args.v[0] == FAULT, e.args.n].add()
probe("uprobe:BIN:take", note)
`, "BIN", binary)), "-c", binary).ok(t)
		const all = "(<float>, <float>, <float>, <float>)"
		if want := "3 " + all + " True\n" + all + " <float> 4 7\n\nseen:\nTrue  4  1\n"; e.stdout != want {
			t.Errorf("%s: got\n%s\nwant\n%s", command, e.stdout, want)
		}
	}
}

// A float that cannot be read has no order: the handler ends, and what is said of it is what the script asked for.
func TestUnreadableFloatHasNoOrder(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O0", "nowhere.c", `struct number { double d; float f; };
__attribute__((noinline)) int look(struct number *n) { return n != 0; }
int main(void) { return !look((struct number *)16); }
`)
	for _, order := range []string{"n.d > 1.5", "1 <= n.f", "n.f < n.f"} {
		e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "ORDER", order).Replace(`
seen = count()
def look(e):
    n = e.args.n
    seen[n.d == 1.5, bool(n.d), ORDER].add()
probe("uprobe:BIN:look", kernel = look)
`)), "-c", binary).ok(t)
		if want := "ended early: FAULT where a float was wanted"; e.stdout != "" || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: got %q and %q, want %q", order, e.stdout, e.stderr, want)
		}
	}
}

// sameNumbers is a line of numbers in which each is written in one way, whichever language wrote it.
func sameNumbers(line string) string {
	words := strings.Fields(line)
	for i, w := range words {
		if x, err := strconv.ParseFloat(w, 64); err == nil {
			words[i] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		if strings.Contains(strings.ToLower(w), "nan") { // C gives it a sign
			words[i] = "nan"
		}
	}
	return strings.Join(words, " ")
}

// What a kernel half does not do with a float is refused with what to do.
//
// > A handler that computes with it runs in user space.
// > A `long double` is FAULT, and prints as `<float>`: it has more bits than a float of a script.
func TestFloatsAreNotComputedInTheKernel(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "floats.c", storedFloats)
	for code, want := range map[string]string{
		"e.args.n.d + 1": "got a float, want an int: a kernel half stores and compares floats; the handler, in user " +
			"space, computes with them",
		"h.add(e.args.n.d)": "got a float, want an int",
		"e.args.n.d < e.args.n.f": "" +
			"floats of 32 and 64 bits are compared in user space only: compare each with a constant",
		"e.args.n.d < e.args.n.i": "a float and an int are compared in user space only: compare with a constant",
		"e.args.n.f if e.args.n.i else e.args.n.d": "" +
			"this is a float of 32 bits or a float: a kernel half needs one kind",
	} {
		e := startrace(t, "-q", script(t, "h = hist()\nprobe('uprobe:"+binary+":look', kernel = lambda e: "+code+")"),
			"-c", binary)
		if !strings.Contains(e.stderr, want) {
			t.Errorf("%s: got %s, want %s", code, e.stderr, want)
		}
	}
	e := startrace(t, "-q", script(t, "probe('uprobe:"+binary+":look', lambda e: print(e.args.n.d * 2 + 1, "+
		"e.args.n.wide, e.args.n.wide == FAULT))"), "-c", binary).ok(t)
	if !strings.Contains(e.stdout, "\n4.0 <float> True\n") || !strings.Contains(e.stdout, "\n-3.5 <float> True\n") {
		t.Errorf("a handler in user space computes wrongly: %s", e.stdout)
	}
}

// Elements of lists are floats, too: of a std::vector in memory, and of an array.
func TestFloatsInLists(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "g++ -g -O1", "lists.cc", `#include <vector>
struct all { double p; std::vector<double> v; float w[2]; };
volatile double sink;
__attribute__((noinline)) double f(const all &x, const std::vector<float> &y) { return sink = x.p + x.v[0] + y[0]; }
int main() { all x{2.5, {1.25, 3.5}, {0.5f, 8}}; std::vector<float> y{6.5f}; f(x, y); }
`)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("uprobe:BIN:f", lambda e: print(len(e.args.x.v), e.args.x.v[1], e.args.y[0], e.args.y[1], e.args.x.w[1]))
n = count()
probe("uprobe:BIN:f", lambda e: n[e.args.x.v[1], e.args.y[0]].add(), where = lambda e: e.args.x.v[0] == 1.25)
at_exit(lambda: print(n.items()))
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"2 3.5 6.5 <fault> 8.0", "[((3.5, 6.5), 1)]"})
}

// A cell begins with a float, or is refused with its place where no kernel half could keep what it begins with.
func TestCellsOfFloats(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "floats.c", storedFloats)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
largest = cell(0.5)
def keep(e):
    d = e.args.n.d
    if d > largest.get() and d < 1e200:
        largest.set(d)
probe("uprobe:BIN:look", kernel = keep)
at_exit(lambda: print("largest", largest.get()))
`, "BIN", binary)), "-c", binary).ok(t)
	if !strings.Contains(e.stdout, "\nlargest 1.6777217e+07\n") {
		t.Errorf("got %s", e.stdout)
	}
	for code, want := range map[string]string{
		"c = cell('x' * 100000)\nprobe('uprobe:BIN:look', kernel = lambda e: c.set('y'))": "" +
			"script.star:1:5: a string of 100000 bytes; a kernel half takes 8184",
		"c = cell(True)\nprobe('uprobe:BIN:look', kernel = lambda e: c.set(e.args.n.i == 2.0))": "" +
			"2 is a float, and the other value an int: compare with an int here",
	} {
		e := startrace(t, "-q", script(t, strings.ReplaceAll(code, "BIN", binary)), "-c", binary)
		if !strings.Contains(e.stderr, want) || strings.Contains(e.stderr, "internal error") {
			t.Errorf("%s: got %s, want %s", code, e.stderr, want)
		}
	}
}

// A float of the start of a span is compared as it was at the start, whatever has become of it.
func TestFloatsOfTheStart(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "change.c", `struct n { int i; double d; float f; };
__attribute__((noinline)) int change(struct n *p) { p->d += 100; p->f += 100; p->i += 100; return 0; }
int main(void) { for (int i = 0; i < 3; i++) { struct n n = {i, i + 0.5, i + 0.25f}; change(&n); } return 0; }
`)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n, m = count(), count()
P = "ufunc:BIN:change"
probe(P, lambda e: n[e.args.p.d].add(), where = lambda e: e.start.args.p.d < 1.75)
probe(P, lambda e: m[e.start.args.p.f == 1.25, e.args.p.f == 101.25, e.start.args.p.f in (2.25, 7)].add())
probe(P, lambda e: print("user", e.start.args.p.d), where = lambda e: e.args.p.d > 101 and e.start.args.p.d != 2.5)
at_exit(lambda: [print("count", k, v) for k, v in n.items() + m.items()])
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"count (False, False, False) 1", "count (False, False, True) 1",
		"count (True, True, False) 1", "count 100.5 1", "count 101.5 1",
		"user 1.5"})
}

// A float in a key is printed whole, in each format, and an int finds the float that it is equal to.
func TestFloatsInKeys(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "near.c", `#include <math.h>
volatile double sink;
__attribute__((noinline)) int look(double *p) { sink = *p; return 0; }
int main(void) {
	double all[] = {4.123, 4.124, 123456789.25, 100, -0.0, NAN, INFINITY};
	for (int i = 0; i < 7; i++) look(&all[i]);
	return 0;
}
`)
	text := strings.ReplaceAll(`
n, seen = count(), table()
def keep(e):
    seen[e.args.p[0]] = 1.5
probe("uprobe:BIN:look", kernel = lambda e: n[e.args.p[0], 0.5].add())
probe("uprobe:BIN:look", kernel = keep)
def end():
    seen[7] = 3
    print(seen[100], seen.get(100), 100 in seen, 0 in seen, 101 in seen, (1 << 70) + 1 in seen, seen[7.0])
at_exit(end)
`, "BIN", binary)
	for format, want := range map[string][]string{
		"text": {"4.123 0.5 1", "4.124 0.5 1", "1.2345678925e+08 0.5 1", "100.0 0.5 1", "0.0 0.5 1", "nan 0.5 1",
			"+inf 0.5 1", "1.5 1.5 True True False False 3.0"},
		"csv": {"n,4.123,0.5,1", "n,4.124,0.5,1", "n,1.2345678925e+08,0.5,1", "n,100,0.5,1", "n,0,0.5,1", "n,nan,0.5,1",
			"n,+inf,0.5,1"},
	} {
		e := startrace(t, "-q", "--format", format, script(t, text), "-c", binary).ok(t)
		for _, line := range want {
			if out := spaced(e.stdout); !strings.Contains(out, "\n"+line+"\n") {
				t.Errorf("%s: no %q in\n%s", format, line, out)
			}
		}
	}
}

// spaced is a text whose columns are one space apart, on lines that all end.
func spaced(text string) string {
	var out strings.Builder
	out.WriteString("\n")
	for line := range strings.Lines(text) {
		out.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return out.String()
}

// A float in a key is found by each float that it is equal to, from either half, and so is one in a tuple that one of
// two branches makes.
//
// > In user code, too, both zeros are one key, and so is everything that is no number.
func TestFloatKeysOfBothHalves(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "floats.c", storedFloats)
	text := `
nan = float("nan")
at, pairs, narrow = table(), count(), table()
def keep(e):
    n = e.args.n
    at[n.d] = n.i
    pairs[((n.d, 1) if n.i < 4 else (n.more[0], 2))].add()
    narrow[n.f] = n.i
probe("uprobe:BIN:look", kernel = keep)
def end():
    for t in (at, narrow):
        print(t.get(-0.0), t.get(0.0), t.get(0), t.get(nan), t.get(-nan), -0.0 in t, t.get(0.3), t.get("a"))
        t[-0.0] = 70
        t[nan] += 100
        print(t[0.0], t[nan], len(t), [k for k, v in t.items() if k == 0 or k == nan])
    print(pairs[(-0.0, 1)].value, pairs[(1.5, 1)].value, pairs[(nan, 2)].value, (0.1, 2) in pairs)
at_exit(end)
`
	e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
	lines := strings.Split(strings.TrimSpace(e.stdout), "\n")
	want := `3 3 3 6 6 True None None
70 106 13 [0.0, nan]
11 11 11 6 6 True None None
70 106 10 [0.0, nan]
2 1 1 False`
	if got := strings.Join(lines[max(0, len(lines)-5):], "\n"); sortedNumbers(got) != sortedNumbers(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// sortedNumbers is a text in which the two keys of an order that the kernel chose have one order.
func sortedNumbers(text string) string { return strings.ReplaceAll(text, "[nan, 0.0]", "[0.0, nan]") }

// > A constant beside a float of 32 bits has 32, too, if it loses nothing by it: `n.f if c else 0.5`, but not 0.1.
func TestConstantsBesideNarrowFloats(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "floats.c", storedFloats)
	text := `
seen = table()
hits, pairs = count(), count()
def kept(e):
    n, set = e.args.n, 0.25
    if n.i != 0:
        set = n.f
    hits[n.f].add()
    hits[CONST].add()
    pairs[n.i, n.f].add()
    pairs[-1, CONST].add()
    seen[n.i] = (n.f if n.i != 0 else CONST, CONST if n.i == 0 else n.f, set)
probe("uprobe:BIN:look", kernel = kept)
at_exit(lambda: print(seen[0], seen[1], [c.value for c in
    (hits[CONST], pairs[-1, CONST], hits[-2.25], pairs[1, -2.25])]))
`
	calls := startrace(t, "count", "uprobe:"+binary+":look", "-c", binary).ok(t).stdout
	n, err := strconv.Atoi(strings.TrimSpace(calls[strings.LastIndex(strings.TrimSpace(calls), " ")+1:]))
	if err != nil {
		t.Fatalf("%q: %v", calls, err)
	}
	for constant, want := range map[string]string{
		"0.5": fmt.Sprintf("(0.5, 0.5, 0.25) (-2.25, -2.25, -2.25) [%d, %d, 1, 1]", n, n),
		"0.1": "this is a float of 32 bits or a float", "1e-50": "this is a float of 32 bits or a float"} {
		code := strings.NewReplacer("BIN", binary, "CONST", constant).Replace(text)
		if e := startrace(t, "-q", script(t, code), "-c", binary); !strings.Contains(e.stdout+e.stderr, want) {
			t.Errorf("%s: got %s%s, want %s", constant, e.stdout, e.stderr, want)
		}
	}
}
