package accept

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// oddCalls is a program whose functions clang calls as it likes.
const oddCalls = `
#define CALL __attribute__((noinline))
struct pair { long a, b; };
struct small { int a, b, c; };
volatile long sink, unknown = 7;
CALL long half(struct pair p, long c) { sink += p.b + c; return unknown; }
CALL long front(struct small s) { sink = s.a; return s.a; }
CALL long byte(struct small s) { sink += *(volatile char *)&s.a; return s.b; }
static CALL long unused(long a) { sink += a; return unknown; }
CALL __attribute__((ms_abi)) long elsewhere(long a, long b) { sink += a - b; return unknown; }
int main(void) {
	half((struct pair){1001, 2000}, unknown);
	unused(unknown);
	elsewhere(1, 2);
	front((struct small){1, 2, 3});
	byte((struct small){1, 2, 3});
	return 0;
}
`

// What an optimizer does with the calls of functions is no number that is not the value.
//
// > Some functions are as without debug information: those that the compiler may have changed (clones, static functions
// > of clang in optimized code, also those that a linker made local), those with a calling convention of their own,
// > and generic functions of Go.
// > Their results are FAULT, too, where the compiler may have taken them away: of clones of gcc (`.isra`, `.part`), and
// > of functions that clang or Rust may have changed.
// > Other results are known all the same.
func TestOddCalls(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const lost = "<optimized out>"
	localized := func(binary string) {
		command := exec.Command(need.Program(t, "objcopy"), "--localize-symbol=half", binary)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for command, want := range map[string]string{
		"clang -g -O1 -w": "byte L L,elsewhere 1 2 R,front record(a = 1, b = 2, c = L) L L," +
			"half record(a = L, b = 2000) L 2000 7,unused L L",
		"clang -g -O0 -w": "byte 3 3,elsewhere A B R,front record(a = 1, b = 2, c = 3) 3 3," +
			"half record(a = 1001, b = 2000) 1001 2000 7,unused 7 7",
		// with half as a local symbol
		"clang -g -O2 -w": "byte L L,elsewhere 1 2 R,front record(a = 1, b = 2, c = L) L L,half record(a = L, b = L)" +
			" L L L,unused L L",
	} {
		binary := need.Built(t, command, "odd.c", oddCalls)
		if strings.Contains(command, "-O2") {
			localized(binary)
		}
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:half", lambda e: print(e.func, e.args.p, e.args.p.a, e.start.args.p.b, e.ret))
probe("ufunc:BIN:front", lambda e: print(e.func, e.args.s, e.args.s.c, e.start.args[1]))
probe("ufunc:BIN:byte", lambda e: print(e.func, e.args.s.c, e.start.args[1]))
probe("ufunc:BIN:unused", lambda e: print(e.func, e.args.a, e.ret))
probe("ufunc:BIN:elsewhere", lambda e: print(e.func, e.args.a, e.args.b, e.ret))
`, "BIN", binary)), "-c", binary).ok(t)
		want = strings.NewReplacer("L", lost, "A", lost, "B", lost, "R", lost).Replace(want)
		if got := strings.Join(lines(e.stdout), ","); got != want {
			t.Errorf("%s: got %s\nwant %s", command, got, want)
		}
	}
}

// otherConventions is a program of functions that gcc calls as Windows does, without a word but for where it says that
// their parameters are, and of some that only look so: they assign to their parameters before all else.
const otherConventions = `
#define CALL __attribute__((noinline))
struct pair { long a, b; };
struct big { long a, b, c; };
struct three { char c[3]; };
volatile long sink;
CALL __attribute__((ms_abi)) int one(int a) { sink += a; return a; }
CALL __attribute__((ms_abi)) int six(int a, int b, int c, int d, int e, int f) { sink += a+b+c+d+e; return f; }
CALL __attribute__((ms_abi)) int apart(struct pair p, int c) { sink += p.b; return c; }
CALL __attribute__((ms_abi)) struct three small(int a) { sink += a; return (struct three){{a, 2, 3}}; }
CALL __attribute__((ms_abi)) int large(int a, struct big b) { sink += b.c; return a; }
CALL int plain(int a, struct big b, int c, char d, short e, int f, int g, char h) { sink += d+e+f+g; return a+b.c+c+h; }
CALL int swapped(int a, int b) { int t = a; a = b; b = t; sink += a; return a * 3 + b; }
CALL int copied(int a, int b) { a = b; sink += a; return a * 3 + b; }
CALL int assigned(int a, int b) { a = b * 2; sink += a; return a + b; }
CALL int late(register int a, register int b) { sink += a; return a * 3 + b; }
int main(void) {
	one(1); six(1, 2, 3, 4, 5, 6); apart((struct pair){1, 2}, 3); small(4); large(5, (struct big){1, 2, 3});
	plain(1, (struct big){3, 4, 5}, 6, 7, 8, 9, 10, 11);
	swapped(1, 2); copied(1, 2); assigned(1, 2); late(1, 2);
	return 0;
}
`

// Where debug information tells of other places of parameters, at the entry of their function, than the ABI has them
// in, they are there, or optimized out, and no registers of something else.
func TestOtherConventions(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skipf("needs amd64, whose compilers know the convention of Windows, not %s", runtime.GOARCH)
	}
	need.Sources(t, "../..")
	const gcc = "apart record(a = L, b = L) L 3|assigned 1 2 6|copied 1 2 8|large L 5|late 1 2 5|one L 1|" +
		"plain 1 6 7 8 10 11 23|six L L L 6|small L record(c = L)|swapped 1 2 7"
	registers := strings.NewReplacer("b = L) L 3", "b = L) 3 3", "large L", "large 5", "one L", "one 1",
		"six L", "six 1")
	for command, want := range map[string]string{
		"gcc -g -O0 -w": gcc,
		"gcc -g -O1 -w": registers.Replace(gcc),
		"gcc -g -O2 -w": strings.Replace(registers.Replace(gcc), "small L", "small 4", 1),
		"gcc -gdwarf-4 -gno-variable-location-views -Os -w": gcc,
		"clang -g -O2 -w": "apart record(a = L, b = L) 3 L|assigned L 2 6|copied L 2 8|large 5 L|late 1 2 5|one L L|" +
			"plain 1 6 7 8 10 11 23|six 1 4 L L|small 4 record(c = L)|swapped L L 7",
	} {
		binary := need.Built(t, command, "conventions.c", otherConventions)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe(["ufunc:BIN:one", "ufunc:BIN:small"], lambda e: print(e.func, e.args.a, e.ret))
probe("ufunc:BIN:large", lambda e: print(e.func, e.args.a, e.ret))
probe("ufunc:BIN:six", lambda e: print(e.func, e.args.a, e.args.d, e.args.f, e.ret))
probe("ufunc:BIN:apart", lambda e: print(e.func, e.args.p, e.args.c, e.ret))
probe("ufunc:BIN:plain", lambda e: print(e.func, e.args.a, e.args.c, e.args.d, e.args.e, e.args.g, e.args.h, e.ret))
probe(["ufunc:BIN:" + f for f in ["assigned", "copied", "late", "swapped"]],
	lambda e: print(e.func, e.args.a, e.args.b, e.ret))
`, "BIN", binary)), "-c", binary).ok(t)
		want = strings.ReplaceAll(want, "L", "<optimized out>")
		if got := strings.Join(lines(e.stdout), "|"); got != want {
			t.Errorf("%s: got %s\nwant %s", command, got, want)
		}
	}
}

const oddValuesOfC = `
typedef int ints __attribute__((vector_size(8)));
typedef long one __attribute__((vector_size(8)));
struct holds { float _Complex f; int k; };
#define CALL __attribute__((noinline, noclone))
CALL long vectors(ints a, one b, int k) { __asm__ volatile(""); return k; }
CALL long numbers(long double _Complex c, struct holds h) { __asm__ volatile(""); return h.k; }
CALL int _Complex result(int k) { __asm__ volatile(""); return 3 - 4i; }
int main(void) {
	vectors((ints){1, 2}, (one){-5}, 9);
	numbers(1, (struct holds){2, 77});
	result(1);
	return 0;
}
`

// Vectors and complex numbers are no numbers, and end no script.
//
// > A complex number is FAULT, too, and prints as `<not shown>`, one of Go as `<float>`.
func TestVectorsAndComplexNumbers(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2"} {
		binary := need.Built(t, command, "vectors.c", oddValuesOfC)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:vectors", lambda e: print("vectors", e.args.a, e.start.args.b, e.args.k, e.args))
probe("ufunc:BIN:numbers", lambda e: print("numbers", e.args.c, e.args.h.f, e.args.h.k))
probe("ufunc:BIN:result", lambda e: print("result", e.ret, e.args.k))
`, "BIN", binary)), "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), []string{"numbers <not shown> <float> 77", "result <not shown> 1",
			"vectors (<float>, <float>) (<float>,) 9 record(a = (<float>, <float>), b = (<float>,), k = 9)"})
	}
	binary := need.Built(t, "go build", "main.go", `package main

//go:noinline
func numbers(c complex128, k int) int { return int(real(c)) + k }

func main() { println(numbers(complex(1, 2), 3)) }
`)
	e := startrace(t, "-q", script(t, `probe("ufunc:`+binary+`:main.numbers", lambda e: print(e.args.c, e.args.k))`),
		"-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"<float> 3"})
}

// A bit-field whose bits are in two registers is refused, and its neighbours are read.
//
// > A bit-field that lies in two registers, as one of a packed struct can, is refused in a kernel half.
func TestBitFieldInTwoRegisters(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O1", "packedbits.c", `
struct bits { char text[6]; long n : 45; } __attribute__((packed));
__attribute__((noinline)) int take(struct bits b) { __asm__ volatile("" :: "m"(b)); return 0; }
int main(void) { return take((struct bits){"abc", 5}); }
`)
	read := `probe("ufunc:` + binary + `:take", lambda e: print(e.args.b.`
	e := startrace(t, "-q", script(t, read+`text))`), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"abc"})
	e = startrace(t, "-q", script(t, read+`n))`), "-c", binary)
	const want = "n lies in two registers, which a kernel half cannot put together"
	if e.status == 0 || !strings.Contains(e.stderr, want) {
		t.Errorf("exits with %d, and says %s; want %s", e.status, e.stderr, want)
	}
}

// A member of a class hides those of its bases.
func TestHiddenMembers(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"g++ -g -O0", "clang++ -g -O0"} {
		binary := need.Built(t, command, "hidden.cc", `
struct A { int x = 1, y = 10; };
struct B : A { int x = 2; };
__attribute__((noinline)) int f(B *b, B v) { return b->x + v.y; }
int main() { B b; return f(&b, b) != 12; }
`)
		code := `probe("ufunc:` + binary + `:f", lambda e: print(e.args.b.x, e.args.b.y, e.args.v.x))`
		e := startrace(t, "-q", "-e", code, "-c", binary).ok(t)
		if e.stdout != "2 10 2\n" {
			t.Errorf("%s: %q", command, e.stdout)
		}
	}
}

// A function of Go is a number.
func TestFunctionsOfGoAsValues(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "go build", "main.go", `package main

type holds struct{ f func() int }

//go:noinline
func mk(h *holds, k int) func() int { return func() int { return k } }

func main() {
	h := &holds{}
	h.f = mk(h, 3)
	h.f = mk(h, h.f())
}
`)
	code := `probe("ufunc:` + binary + `:main.mk", lambda e: print(e.ret != 0, e.start.args.h.f != 0))`
	e := startrace(t, "-q", "-e", code, "-c", binary).ok(t)
	if got := strings.Join(lines(e.stdout), ","); got != "True True,True True" && got != "True False,True True" {
		t.Errorf("%q", e.stdout)
	}
}

// An exception of C++ finds its way through functions of the C library whose returns are probed.
//
// > Functions of the C library that call a function of the program, as `qsort` and `pthread_once`, are probed at the
// > instructions that return, because an exception of C++ that passes them would not find its way back past a return
// > probe.
// > Patterns of `ufunc:` and `uretprobe:` leave them out.
func TestExceptionsThroughLibraries(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "g++ -g -O1", "throws.cc", `
#include <cstdio>
#include <cstdlib>
static int less(const void *a, const void *b) { if (*(int *)a < 0) throw 1; return *(int *)a - *(int *)b; }
int main() {
	int good[] = {3, 2, 1}, bad[] = {-1, -2};
	qsort(good, 3, sizeof(int), less);
	try { qsort(bad, 2, sizeof(int), less); } catch (int) { puts("caught"); }
	qsort(good, 3, sizeof(int), less);
}
`)
	for _, kind := range []string{"ufunc:c:qsort", "uretprobe:c:qsort", "ufunc:c:{qsort,puts}", "ufunc:c:qsor*",
		"ufunc:c:put*"} {
		e := startrace(t, "-q", "-e", `probe("`+kind+`", lambda e: print(e.func))`, "-c", binary)
		refused := kind == "ufunc:c:qsor*" // nothing else matches it
		if !refused && (e.status != 0 || !strings.Contains(e.stdout, "caught\n")) ||
			refused && !strings.Contains(e.stderr, "whose exceptions may pass it") {
			t.Errorf("%s: exit %d, %q, %q", kind, e.status, e.stdout, e.stderr)
		}
		if n := strings.Count(e.stdout, "qsort\n"); kind == "ufunc:c:qsort" && n != 2 {
			t.Errorf("%s: %d calls that returned: %q", kind, n, e.stdout)
		}
	}
}

// Parameters behind a pack are where they are, and those of the pack have names of their own where the compiler names
// them.
func TestParameterPacks(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for command, want := range map[string]string{
		"g++ -g -O0 -w":     "record(a = 1, last = -77) 1 2 120 -77\n",
		"clang++ -g -O0 -w": "record(a = 1, ts = 2, ts_2 = 120, last = -77) 1 2 120 -77\n",
	} {
		binary := need.Built(t, command, "pack.cc", `
template <class... T> __attribute__((noinline)) int pack(int a, T... ts, int last) { return last; }
int main() { return pack<long, char>(1, 2, 'x', -77) != -77; }
`)
		code := `probe("ufunc:` + binary + `:pack*", lambda e: print(e.args, *[e.args[i] for i in range(4)]))`
		if e := startrace(t, "-q", "-e", code, "-c", binary).ok(t); e.stdout != want {
			t.Errorf("%s: got %q, want %q", command, e.stdout, want)
		}
	}
}

// A type of Go that is made of string is one, and an int of 128 bits in memory is two numbers.
func TestNamedStringsAndWideInts(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	golang := need.Built(t, "go build", "main.go", `package main

type path string
type holds struct{ p path }

var sink int

//go:noinline
func open(p path, h *holds) path { sink += len(p); return h.p }

func main() {
	h := &holds{"held"}
	for range 2 {
		sink += len(open("abc", h))
	}
	println(h.p, sink, path("abc"))
}
`)
	code := `probe("ufunc:` + golang + `:main.open", lambda e: print(type(e.args.p), type(e.args.h.p), type(e.ret)))`
	e := startrace(t, "-q", "-e", code, "-c", golang).ok(t)
	for line := range strings.Lines(e.stdout) {
		if words := strings.Fields(line); len(words) != 3 || strings.Trim(line, "stringfaul \n") != "" {
			t.Errorf("%q", line)
		}
	}
	c := need.Built(t, "gcc -g -O0", "wide.c", `struct w { __int128 n; };
__attribute__((noinline)) int f(struct w *p) { return p->n < 0; }
int main(void) { struct w w = {-3}; return f(&w) != 1; }
`)
	e = startrace(t, "-q", "-e", `probe("ufunc:`+c+`:f", lambda e: print(e.args.p.n))`, "-c", c).ok(t)
	if e.stdout != "(18446744073709551613, -1)\n" {
		t.Errorf("%q", e.stdout)
	}
}

// Lists of programs have elements and lengths, wherever they lie, and nothing behind their last element.
//
// > A slice of Go or Rust and a `std::vector` have elements, `e.args.items[0].price`, of which `len(e.args.items)` is
// > the number.
// > An element that it has not is FAULT.
func TestListsOfPrograms(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	golang := need.Built(t, "go build", "main.go", `package main

type item struct {
	price int
	tags  []int16
}
type shop struct{ items []item }

//go:noinline
func sum(list []item, s *shop, none []int) int { return len(list) + len(s.items) + len(none) }

func main() {
	items := []item{{1, nil}, {-2, []int16{7, -8}}}
	if sum(items, &shop{items[1:]}, nil) != 3 {
		panic(1)
	}
}
`)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def seen(e):
    return (e.args.list[1].price, e.args.list[1].tags[1], len(e.args.list), e.args.list[2].price,
            e.args.s.items[0].price, len(e.args.s.items), e.args.s.items[1].price, len(e.args.none), e.args.none[0])
probe("ufunc:BIN:main.sum", lambda e: print(seen(e)))
probe("uprobe:BIN:main.sum", lambda e: print(e.value), kernel = seen)
probe("uprobe:BIN:main.sum", lambda e: print("chosen"),
      where = lambda e: len(e.args.s.items) == 1 and len(e.args.none) < 1)
`, "BIN", golang)), "-c", golang).ok(t)
	const want = "(-2, -8, 2, <fault>, -2, 1, <fault>, 0, <fault>)"
	equalLines(t, lines(e.stdout), []string{want, want, "chosen"})
	for _, command := range []string{"g++ -g -O0", "g++ -g -O2"} {
		cpp := need.Built(t, command, "vector.cc", `
#include <string>
#include <vector>
struct item { int price; std::string name; };
typedef std::vector<long> longs;
__attribute__((noinline)) unsigned long f(const std::vector<item> &v, longs *p) { return v.size() + p->size(); }
int main() { std::vector<item> v = {{5, "tea"}, {-6, "milk"}}; std::vector<long> none; return f(v, &none) != 2; }
`)
		code := `probe("uprobe:` + cpp + `:f", lambda e: print(e.args.v[1].price, e.args.v[0].name, len(e.args.v), ` +
			`e.args.v[2].price, len(e.args.p[0]), e.args.p[0][0]))`
		if e := startrace(t, "-q", "-e", code, "-c", cpp).ok(t); e.stdout != "-6 tea 2 <fault> 0 <fault>\n" {
			t.Errorf("%s: %q", command, e.stdout)
		}
	}
}
