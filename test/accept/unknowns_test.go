package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// printed runs probes in a program that was built from a source, and gives what they print. BIN stands for the program.
func printed(t *testing.T, command, file, source, probes string) string {
	t.Helper()
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, command, file, source)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(probes, "BIN", binary)), "-c", binary).ok(t)
	return strings.ReplaceAll(strings.TrimSpace(e.stdout), "\n", ", ")
}

// A line with several places is one line, in each place that shows it, compares it or counts by it.
func TestSourceOfManyPlaces(t *testing.T) {
	got := printed(t, "gcc -g -O2 -fno-inline", "places.c", manyPlaces, `
n = count()
both = ["uprobe:BIN:places.c:2", "uprobe:BIN:places.c:6"]
probe(both, lambda e: n[e.source].add())
probe(both, lambda e: print(e.source), where = lambda e: e.source == "places.c:2")
probe(both, lambda e: print("other", e.source.endswith(":6")), where = lambda e: e.source != "places.c:2")
at_exit(lambda: print(sorted(n.items())))
`)
	const want = `places.c:2, places.c:2, other True, other True, other True, other True, other True, other True, ` +
		`other True, other True, [("places.c:2", 2), ("places.c:6", 8)]`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Files of one name in two folders are told apart by as much of their paths as the point has.
func TestSourceByItsPath(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O2 -fno-inline", "places.c", manyPlaces)
	file := filepath.Join(filepath.Base(filepath.Dir(binary)), "places.c:2")
	e := startrace(t, "-q", "-e", `probe("uprobe:`+binary+`:`+file+`", lambda e: print(e.source))`, "-c", binary).ok(t)
	if e.stdout != file+"\n"+file+"\n" {
		t.Errorf("got %s, want %s twice", e.stdout, file)
	}
}

// Functions of files of one name are told apart by the folders of the files, wherever a point names none: those with
// code of their own, the places at which one was inlined, and the names of points.
//
// > Where files of one name define functions or call them, it has as much of the path as tells them apart: `x/h.c:2`.
func TestSourceOfFilesOfOneName(t *testing.T) {
	const source = `static volatile int sink;
#line 1 "/src/one.h"
static inline __attribute__((always_inline)) void in(int n) { sink = n; }
#line 1 "/src/x/h.c"
__attribute__((noinline)) void f(void) { sink++; }
void first(void) { in(1); }
#line 1 "/src/y/h.c"
__attribute__((noinline)) void g(void) { sink--; }
void second(void) { in(2); }
#line 1 "/src/main.c"
int main(void) { f(); g(); first(); second(); return 0; }
`
	got := printed(t, "gcc -g -O1", "names.c", source, `
n = count()
probe("uprobe:BIN:@*/h.c:{f,g}", lambda e: print(e.source, e.probe.removeprefix("uprobe:BIN:")))
probe("uprobe:BIN:{f,g,in,main}", lambda e: n[e.source].add())
at_exit(lambda: print(sorted([k for k, _ in n.items()])))
`)
	const want = `x/h.c:1 @x/h.c:f, y/h.c:1 @y/h.c:g, ["main.c:1", "x/h.c:1", "x/h.c:2", "y/h.c:1", "y/h.c:2"]`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What a variable leads to that the compiler does not keep is optimized out as the variable is, whatever its type, in
// both halves, and what works with texts, enums and arrays does so with these.
//
// > So is what such a variable leads to: `e.vars.order.total`, where `order` is optimized out.
func TestWhatLostVariablesLeadTo(t *testing.T) {
	const source = `#include <stdlib.h>
enum color { RED, BLUE };
struct in { int k; double g; char name[8]; };
struct all { int n; float f; char name[8]; char *s; struct in in; struct in ins[2]; int a[3]; double d[2];
	struct all *next; unsigned bits:3; _Bool yes; enum color color; long double wide; };
static volatile int v = 3;
__attribute__((noinline)) static void sink(int n) { v = n; }
__attribute__((noinline)) int work(struct all *p, struct all **list) {
	int two[2] = {p->n, p->n + 1};
	sink(p->n + list[0]->n);
	v = 1;
	v = 2;
	return v;
}
int main(void) {
	struct all one = {.n = atoi("1"), .next = &one}, *list[] = {&one};
	return work(&one, list) - 2;
}
`
	var script, want strings.Builder
	for _, of := range []string{"p", "p[1]", "list[0]", "p.next", "p.next.next[2]"} {
		for _, part := range strings.Fields("n f name s in_.k in_.name ins[1].g ins[1].name a[2] d[0] next.a[0] bits " +
			"yes color wide next.in_.k next.name next.next next.s") {
			value := "e.vars." + of + "." + part
			fmt.Fprintf(&script, "probe('uprobe:BIN:lost.c:12', lambda e: print('%s', %[1]s))\n", value)
			fmt.Fprintf(&script, "probe('uprobe:BIN:lost.c:12', lambda e: print('%s', e.value), "+
				"kernel = lambda e: %[1]s)\n", value)
			fmt.Fprintf(&want, "%s <optimized out>, %[1]s <optimized out>, ", value)
		}
	}
	for _, value := range []string{"len(e.vars.two)", "len(e.vars.p.a)"} {
		fmt.Fprintf(&script, "probe('uprobe:BIN:lost.c:12', lambda e: print(%s))\n", value)
		fmt.Fprintf(&script, "probe('uprobe:BIN:lost.c:12', lambda e: print(e.value), "+
			"kernel = lambda e: %s)\n", value)
		fmt.Fprintf(&want, "%d, %[1]d, ", strings.Count(value, "two")*2+strings.Count(value, "p.a")*3)
	}
	for _, test := range []string{"s.startswith('a')", "name.endswith('a')", "s < 'a'", "name != 'a'", "s == FAULT",
		"color == FAULT"} {
		fmt.Fprintf(&script, "probe('uprobe:BIN:lost.c:12', lambda e: print('is', e.value), "+
			"kernel = lambda e: e.vars.p == FAULT or e.vars.p.%s)\n", test)
		want.WriteString("is True, ")
	}
	script.WriteString("probe('uprobe:BIN:lost.c:12', lambda e: print(names(e.vars.p.color)))\n")
	want.WriteString("<optimized out>")
	for _, command := range []string{"gcc -g -O2", "clang -g -O2"} {
		if got := printed(t, command, "lost.c", source, script.String()); got != want.String() {
			t.Errorf("%s: got\n%s, want\n%s", command, strings.ReplaceAll(got, ", ", "\n"),
				strings.ReplaceAll(want.String(), ", ", "\n"))
		}
	}
}

// lostReferences is a program of functions that do not use what is passed to them by reference.
const lostReferences = `
#include <array>
#include <string>
#include <vector>
struct base { int d; int list[4]; std::string name; };
volatile int s;
#define CALL __attribute__((noinline))
CALL int lists(const std::vector<int> &v, const std::array<int, 3> &a, const std::vector<std::string> &w, int k) {
	s += k;
	return k;
}
CALL int others(const int &n, const std::string &t, base *&p, base &b, double &d, int (&arr)[2], int k) {
	s += k;
	return k;
}
int main() {
	std::vector<int> v{1, 2, 3};
	std::array<int, 3> a{4, 5, 6};
	std::vector<std::string> w{"a"};
	std::string t("x");
	base b{7, {1}, "n"}, *p = &b;
	double d = 1.5;
	int arr[2] = {1, 2};
	return lists(v, a, w, 5) + others(4, t, p, b, d, arr, 5) - 10;
}
`

// A reference of which nobody knows where it is stands for what it refers to all the same: that is optimized out.
//
// > A value of which nobody knows where it is, is FAULT, and prints as `<optimized out>`: an argument of a function
// > that the compiler may have changed or that it says nothing of, as clang of those that are not used, and on arm64 a
// > result that C returns in memory.
// > A reference of C++ is what it refers to.
func TestLostReferences(t *testing.T) {
	for command, want := range map[string]string{
		"clang++ -g -O0 -fstandalone-debug": "(1, 2, 3) 3 1 (4, 5, 6) 3 5 1 5, 4 x 7 n 7 0 n 1.5 1 (1, 2) 5",
		"clang++ -g -O2 -fstandalone-debug": "L L L (L, L, L) 3 L L 5, L L L L L L L L L (L, L) 5",
	} {
		got := printed(t, command, "references.cpp", lostReferences, `
probe("ufunc:BIN:lists", lambda e: print(e.args.v, len(e.args.v), e.args.v[0], e.args.a, len(e.args.a), e.args.a[1],
	len(e.args.w), e.args.k))
probe("ufunc:BIN:others", lambda e: print(e.args.n, e.args.t, e.args.p.d, e.args.p.name, e.args.b.d, e.args.b.list[1],
	e.args.b.name, e.args.d, e.args.arr[0], e.args.arr, e.args.k))
`)
		if want = strings.ReplaceAll(want, "L", "<optimized out>"); got != want {
			t.Errorf("%s: got %s\nwant %s", command, got, want)
		}
	}
}

// A struct that the function does not use is known wherever its caller has written it, as all but optimizing clang do.
//
// > An optimized caller may write nothing of a struct that goes in memory (over 16 bytes, or a class with a destructor)
// > to a function that does not use it: clang does so of structs, and gcc of classes, too.
// > Debug information does not say so: startrace and debuggers read what the memory had before.
func TestUnusedStruct(t *testing.T) {
	for command, structs := range map[string]string{"gcc -g -O2": "1 2 3", "gcc -g -O0": "1 2 3",
		"clang -g -O0": "1 2 3", "clang -g -O2": ""} {
		got := printed(t, command, "unused.c", `
struct three { long a, b, c; };
__attribute__((noinline)) void f(long n, struct three s) { __asm__ volatile("" : : "r"(n)); }
int main(void) { f(7, (struct three){1, 2, 3}); }
`, `probe("ufunc:BIN:f", lambda e: print(e.args.n, e.args.s.a, e.args.s.b, e.args.s.c))`)
		if !strings.HasPrefix(got, "7 "+structs) || len(strings.Fields(got)) != 4 {
			t.Errorf("%s: got %s, want 7 %s", command, got, structs)
		}
	}
}

// An array of which nobody says how long it is has elements, and no length.
//
// > An array of which debug information does not say the length, as the last member of a struct, has elements by their
// > index, and no `len()`. An index behind its end gives what lies there, as in C: ask before, as in
// > `if i < e.vars.n`.
func TestArraysWithoutALength(t *testing.T) {
	const source = `
struct open { int n; int rest[]; };
static struct { struct open o; int more[3], behind; } s = {{3}, {7, 8, 9}, 11};
__attribute__((noinline)) int f(struct open *o, int n) {
	int list[n];
	for (int i = 0; i < n; i++) list[i] = i * i;
	return list[n - 1] + o->rest[0]; /* 7 */
}
int main(void) { return f(&s.o, 5) != 23; }
`
	for _, command := range []string{"gcc -g -O0", "clang -g -O0"} {
		got := printed(t, command, "open.c", source, `probe("uprobe:BIN:open.c:7", lambda e: print(e.vars.o.rest[2],
			e.vars.o.rest[3], e.vars.list[4], e.vars))`)
		const end = ", n = 5, list = (0, 1, 4, 9, 16))"
		if !strings.HasPrefix(got, "9 11 16 record(o = ") || !strings.HasSuffix(got, end) {
			t.Errorf("%s: %s", command, got)
		}
		binary := need.Built(t, command, "open.c", source)
		for _, wrong := range []string{"len(e.vars.o.rest)", "e.vars.o.rest", "3 in e.vars.o.rest"} {
			e := startrace(t, "-e", `probe("uprobe:`+binary+`:open.c:7", lambda e: print(`+wrong+`))`, "-c", binary)
			if e.status == 0 || !strings.Contains(e.stderr, "how many elements this array has is not known") {
				t.Errorf("%s: %s: %s", command, wrong, e.stderr)
			}
		}
	}
}

// Strings and lists of C++ are what they are, also where clang only declares their classes, and FAULT where nothing of
// them is known.
//
// > Types in namespaces and classes of C++ are named as in the source: `cast("./shop:shop::item", p)`.
// > Also where clang only declares the class, as it does by default, a `std::string` of libstdc++ is a string.
func TestStringsThatAreDeclared(t *testing.T) {
	const source = `
#include <string>
#include <vector>
struct item { int price; };
struct shop { int n; std::string name; };
namespace ns { int counter = 17; struct item { long a, b; }; item *last; }
__attribute__((noinline)) long f(std::vector<double> &d, std::vector<item> list, std::string s, shop *in,
		std::vector<std::string> names) {
	return d.size() + list.size() + s.size() + in->name.size() + names.size();
}
int main() {
	std::vector<double> d{1.5, 2.5};
	std::vector<item> list{{1}, {2}};
	shop in{4, "a name that is too long for the struct"};
	ns::item last{};
	ns::last = &last;
	return f(d, list, "hello", &in, {"x", "yy"}) != 49;
}
`
	for _, command := range []string{"g++ -g -O0", "clang++ -g -O0", "clang++ -g -O2", "clang++ -g -O0 -gdwarf-4"} {
		got := printed(t, command, "declared.cc", source, `probe("uprobe:BIN:f", lambda e: print(e.args.s,
			e.args.in_.name, e.args.in_.n, len(e.args.names), e.args.names[1], len(e.args.list), e.args.list[1].price,
			e.globals.counter, sizeof("BIN:ns::item"), sizeof("BIN:struct item")))`)
		const want = "hello a name that is too long for the struct 4 2 yy 2 2 17 16 4"
		if got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}

// The variable of the function's own namespace is meant.
//
// > Of C++ it is the one of the function's own namespace, else of those around it, else the only one of its name.
func TestGlobalsOfNamespaces(t *testing.T) {
	const source = `
namespace a { int same = 1; namespace in { __attribute__((noinline)) int f(int x) { return x + same; } } }
namespace b { int same = 2; __attribute__((noinline)) int f(int x) { return x + same; } }
__attribute__((noinline)) int g(int x) { return x + a::in::f(x) + b::f(x); }
int main() { return g(1) != 6; }
`
	for _, command := range []string{"g++ -g -O0", "g++ -g -O2 -fno-inline", "clang++ -g -O0"} {
		got := printed(t, command, "names.cc", source, `
[probe("uprobe:BIN:" + f, lambda e: print(e.globals.same)) for f in ("a::in::f", "b::f")]
`)
		if got != "1, 2" {
			t.Errorf("%s: %s", command, got)
		}
		binary := need.Built(t, command, "names.cc", source)
		e := startrace(t, "-e", `probe("uprobe:`+binary+`:g", lambda e: print(e.globals.same))`, "-c", binary)
		if e.status == 0 || !strings.Contains(e.stderr, "there are a::same and b::same") {
			t.Errorf("%s: %s", command, e.stderr)
		}
	}
}

// What debug information leaves out is not made up: parameters that clang does not mention, all types (gcc -g1), and
// which of two types of one name is meant.
//
// > A type that a program's source files define differently cannot be named in `cast` and `sizeof`.
// > Where debug information has fewer parameters than the function, as clang has without optimization, all of them are
// > FAULT.
func TestWhatDebugInformationLeavesOut(t *testing.T) {
	const passes = `
struct big { int a; big(int n); big(const big &); ~big(); };
int g(int x) { return x + 1; }
big f(int a, big t, int c) { if (a > 1) return big(g(c)); return big(a); }
big::big(int n) : a(n) {}
big::big(const big &o) : a(o.a) {}
big::~big() {}
int main() { return f(6, big(99), 7).a != 8; }
`
	for command, want := range map[string]string{"g++ -g -O0": "6 7",
		"clang++ -g -O0": "<optimized out> <optimized out>"} {
		got := printed(t, command, "leaves.cc", passes, `probe("uprobe:BIN:f", lambda e: print(e.args.a, e.args.c))`)
		if got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
	got := printed(t, "gcc -g1 -O0", "little.c", `
__attribute__((noinline)) int sum(int a, int b) { return a + b; }
int main(void) { return sum(3, 17) != 20; }
`, `probe("ufunc:BIN:sum", lambda e: print(e.ret, e.start.args[1]))`)
	if got != "20 17" {
		t.Errorf("gcc -g1: %s", got)
	}
	dir := t.TempDir()
	for name, source := range map[string]string{
		"a.c": "struct node { int a; long b; };\nint main(void) { struct node n = {1, 2}; extern int f(void); " +
			"return f() != n.a + 1; }\n",
		"b.c": "struct node { char tag[6]; int z; };\nint f(void) { struct node n = {\"x\", 2}; return n.z; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	binary := need.Built(t, "gcc -g -O0 "+filepath.Join(dir, "b.c"), "both.c",
		"#include \""+filepath.Join(dir, "a.c")+"\"\n")
	e := startrace(t, "-e", `probe("uprobe:`+binary+`:f", lambda e: print(sizeof("`+binary+`:struct node")))`,
		"-c", binary)
	if e.status == 0 || !strings.Contains(e.stderr, "node is the name of different types in its source files") {
		t.Errorf("%s", e.stderr)
	}
}

// An argument that no function has is refused, whatever its number.
func TestArgumentsOutOfRange(t *testing.T) {
	binary := linesProgram(t, "gcc -g -O0")
	for _, n := range []string{"-1", "99", "1 << 40"} {
		e := startrace(t, "-e", `probe("uprobe:`+binary+`:checkout", lambda e: print(e.args[`+n+`]))`, "-c", binary)
		if e.status == 0 || !strings.Contains(e.stderr, ": the last is e.args[1]") {
			t.Errorf("%s: %s", n, e.stderr)
		}
	}
}

// In front of the instructions that store them parameters are not there yet.
//
// > In front of the instructions that store the parameters of a function, all of its variables are FAULT.
func TestVariablesInThePrologue(t *testing.T) {
	got := printed(t, "gcc -g -O0", "early.c", `
__attribute__((noinline)) int f(int n) { return n * 2; }
int main(void) { return f(3) != 6; }
`, `probe("uprobe:BIN:f+1", lambda e: print(e.vars.n))`)
	if got != "<optimized out>" {
		t.Errorf("%s", got)
	}
}

// Behind a word that Starlark has for itself a script writes _, of variables as of arguments.
func TestVariablesWithWordsOfStarlark(t *testing.T) {
	got := printed(t, "gcc -g -O0", "words.c", `
int class = 5;
__attribute__((noinline)) int f(int def) {
	int in = def * 2;
	return in + class; /* 5 */
}
int main(void) { return f(3) != 11; }
`, `probe("uprobe:BIN:words.c:5", lambda e: print(e.vars.in_, e.vars.def_, e.globals.class_))`)
	if got != "6 3 5" {
		t.Errorf("%s", got)
	}
}

// Debug information of a struct that lies in itself is damaged, and ends no search.
func TestStructThatLiesInItself(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc", "self.s", structInItself)
	for _, use := range []string{"e.args.o", "e.args.o.m.m"} {
		e := startrace(t, "-e", `probe("uprobe:`+binary+`:work", lambda e: print(`+use+`))`, "-c", binary)
		if e.status == 0 || !strings.Contains(e.stderr, "damaged debug information") {
			t.Errorf("%s: %s", use, e.stderr)
		}
	}
}

// A struct of more parts than a record can have is refused as a whole, and its parts are told.
func TestStructOfManyParts(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	var source strings.Builder
	source.WriteString("struct s0 { int a, b, c, d; };\n")
	for i := range 5 {
		fmt.Fprintf(&source, "struct s%d { struct s%d a, b, c, d; };\n", i+1, i)
	}
	source.WriteString(`__attribute__((noipa)) int takes(struct s4 s, struct s5 *p) { return s.d.d.d.d.d; }
		struct s4 v;
		struct s5 large;
		int main(void) { v.d.d.d.d.d = 4; large.d.d.d.d.d.d = 5; return takes(v, &large); }
		__attribute__((noipa)) int wide(struct s5 s) { return s.a.a.a.a.a.a; }`)
	binary := need.Built(t, "gcc -g", "parts.c", source.String())
	e := startrace(t, "-q", "-e", `probe("uprobe:`+binary+`:takes", lambda e: print(e.args.s.d.d.d.d.d,
		e.args.p.d.d.d.d.d.d))`, "-c", binary)
	if e.stdout != "4 5\n" {
		t.Errorf("%s%s", e.stdout, e.stderr)
	}
	e = startrace(t, "-e", `probe("uprobe:`+binary+`:wide", lambda e: print(e.args.s))`, "-c", binary)
	const want = "the struct has more than 4096 parts: name those that are wanted"
	if e.status == 0 || !strings.Contains(e.stderr, want) {
		t.Errorf("%s, want %s", e.stderr, want)
	}
}

// structInItself is a program with a function of a parameter o, a struct of 8 bytes with a member m of that struct.
const structInItself = `
.globl work
.type work,@function
work: mov %rdi,%rax
 ret
.Lend_of_work:
.size work,.-work
.globl main
main: sub $8,%rsp
 call work
 xor %eax,%eax
 add $8,%rsp
 ret
.section .note.GNU-stack,"",@progbits
.section .debug_abbrev,"",@progbits
.Labbrev:
 .byte 1,0x11,1, 0x13,0xb, 0x11,1, 0x12,7, 0,0
 .byte 2,0x2e,1, 3,8, 0x27,0x19, 0x11,1, 0x12,7, 0x49,0x13, 0,0
 .byte 3,5,0, 3,8, 0x49,0x13, 0,0
 .byte 4,0x24,0, 3,8, 0xb,0xb, 0x3e,0xb, 0,0
 .byte 5,0x13,1, 3,8, 0xb,0xb, 0,0
 .byte 6,0xd,0, 3,8, 0x49,0x13, 0x38,0xf, 0,0
 .byte 0
.section .debug_info,"",@progbits
.Lunit: .long .Lend-.Lversion
.Lversion: .value 5; .byte 1,8; .long .Labbrev
 .byte 1,12; .quad work; .quad .Lend_of_work-work
 .byte 2; .asciz "work"; .quad work; .quad .Lend_of_work-work; .long .Lint-.Lunit
 .byte 3; .asciz "o"; .long .Lself-.Lunit
 .byte 0
.Lint: .byte 4; .asciz "int"; .byte 4,5
.Lself: .byte 5; .asciz "S"; .byte 8,6; .asciz "m"; .long .Lself-.Lunit; .byte 0,0
 .byte 0
.Lend:
`
