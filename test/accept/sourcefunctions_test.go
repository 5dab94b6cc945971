package accept

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// countedCalls is a program that counts the calls of its functions itself, and keeps what they were called with.
const countedCalls = `#include <stdio.h>
static volatile int sink;
static long calls_half, calls_twice, calls_deep, calls_both, calls_cold;
static int with[64];
static volatile int in[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static inline __attribute__((always_inline)) int half(int n, const int *from) {
	with[calls_half++ & 63] = n;
	n = n * 3 + 1;
	sink = n;
	return sink + from[n & 3];
}
static inline __attribute__((always_inline)) int twice(int k, long wide) {
	calls_twice++;
	sink = k;
	int got = half(k, (const int *)in) + half(k + 1, (const int *)in + 1);
	for (int i = 0; i < (k & 3); i++)
		sink += i;
	return got + (int)wide + sink;
}
static inline __attribute__((always_inline)) int deep(int d) { return twice(d, d * 3L); }
int both(int x) {
	calls_both++;
	sink = x;
	return x * 2 + sink;
}
static inline __attribute__((always_inline)) void cold(int why) {
	calls_cold++;
	sink = why;
	puts("cold");
}
__attribute__((noinline)) int work(int a) {
	int sum = 0;
	for (int i = 0; i < a; i++) {
		int v = in[i & 15];
		calls_deep++;
		sum += deep(v);
		sum += both(v + 1);
		if (__builtin_expect(v == 9, 0))
			cold(v);
	}
	return sum;
}
int (*volatile through)(int) = both;
int main(int argc, char **argv) {
	int n = work(13) + through(3);
	printf("both=%ld cold=%ld deep=%ld half=%ld twice=%ld\n", calls_both, calls_cold, calls_deep, calls_half,
		calls_twice);
	for (long i = 0; i < calls_half; i++)
		printf("with %d\n", with[i]);
	return n == 77;
}
`

// A function is probed wherever its code is: the numbers of calls are those that the program counts, and arguments are
// what it was called with, or nothing.
//
// > A function that the compiler has put into its caller (inlined) is probed at each place where it was, in a program
// > with debug information.
// > With the code of its own, if it has some, these are all of its calls, as far as [debug
// > information](semantics.md#calls-that-are-not-seen) tells where each begins.
// > There an argument is FAULT, and prints as `<optimized out>`, unless debug information knows it there.
// > `e.source` is where a call that was inlined stands, and elsewhere where the function is defined: `cart.c:120`.
// > | `uprobe:BINARY:@FILE:FUNCTION` | `u` | functions by their source file; also `ufunc`, `uretprobe` |
// > `uprobe:BINARY:@FILE:FUNCTION` are the functions that a source file defines, as far as they have code.
// > FILE is as above, or a pattern: `@cart.c`, `@src/*.c`.
func TestFunctionsOfSource(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -g -O0", "gcc -g -O1", "gcc -g -O2", "gcc -g -O3", "gcc -g -O2 -gdwarf-4",
		"gcc -g -O2 -flto", "clang -g -O0", "clang -g -O1", "clang -g -O2", "clang -g -O3 -gdwarf-4"} {
		binary := need.Built(t, command, "calls.c", countedCalls)
		for _, of := range []string{"", "@calls.c:", "@*.c:", "@ca{lls,rds}.?:"} {
			e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "OF", of).Replace(`
n = count()
probe("uprobe:BIN:OF{half,twice,deep,both,cold}", lambda e: n[e.func].add())
probe("uprobe:BIN:OFhalf", lambda e: print("arg", e.args.n, e.args[0], e.source))
at_exit(lambda: print(" ".join(["%s=%d" % item for item in sorted(n.items())])))
`)), "-c", binary).ok(t)
			checkCounted(t, command+" "+of, e.stdout)
		}
	}
}

// checkCounted compares what was seen with what the program itself has printed.
func checkCounted(t *testing.T, what, out string) {
	t.Helper()
	var counts, with, args []string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "both="):
			counts = append(counts, line)
		case strings.HasPrefix(line, "with "):
			with = append(with, line[len("with "):])
		case strings.HasPrefix(line, "arg "):
			args = append(args, line[len("arg "):])
		}
	}
	if len(counts) != 2 || counts[0] != counts[1] {
		t.Errorf("%s: the counts are %q, want two that are equal", what, counts)
	}
	if len(args) != len(with) {
		t.Errorf("%s: %d calls of half, want %d", what, len(args), len(with))
		return
	}
	for i, got := range args {
		n := with[i]
		known, lost := fmt.Sprintf("%s %s calls.c:15", n, n), "<optimized out> <optimized out> calls.c:15"
		if got != known && (got != lost || strings.Contains(what, "-O0")) {
			t.Errorf("%s: call %d of half with %s, got %q", what, i, n, got)
		}
	}
}

// Calls that were inlined have no end, and what has an end says so.
//
// > Ends of calls that were inlined are not to be had: `ufunc` and `uretprobe` see the calls of the code of its own,
// > and a warning tells how many copies they do not see.
// > A function that has no other code is refused there.
func TestEndsOfInlined(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O2", "calls.c", countedCalls)
	e := startrace(t, script(t, `
n = count()
probe("ufunc:`+binary+`:both", lambda e: n.add())
at_exit(lambda: print("seen", n.value))
`), "-c", binary).ok(t)
	if !strings.Contains(e.stdout, "seen 1\n") || !strings.Contains(e.stderr,
		"calls of 1 function that were inlined are not seen, as they have no end: 1 copy (both); uprobe:") {
		t.Errorf("%q, %q", e.stdout, e.stderr)
	}
	for _, kind := range []string{"ufunc", "uretprobe"} {
		e = startrace(t, "-q", "-e", `probe("`+kind+`:`+binary+`:@calls.c:half")`, "-c", binary)
		want := "half was inlined wherever it is called (2 copies)"
		if e.status == 0 || !strings.Contains(e.stderr, want) ||
			!strings.Contains(e.stderr, "uprobe:"+binary+":@calls.c:half probes where the copies begin") {
			t.Errorf("%s: %q", kind, e.stderr)
		}
	}
}

// What a file has is listed, and what it has not is said.
//
// > `startrace list 'uprobe:./shop:@*'` shows the source files, and `startrace list -v 'uprobe:./shop:@cart.c:*'` the
// > functions of one, with the places where they were inlined.
func TestFunctionsOfSourceListed(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O2", "calls.c", countedCalls)
	e := startrace(t, "list", "uprobe:"+binary+":@*").ok(t)
	if !strings.Contains(e.stdout, "uprobe:"+binary+":@calls.c:*\n") {
		t.Errorf("%q", e.stdout)
	}
	e = startrace(t, "list", "-v", "uprobe:"+binary+":@calls.c:*").ok(t)
	for _, want := range []string{":@calls.c:half\n", "no code of its own", "2 inlined at calls.c:15 in work",
		":@calls.c:both\n", "1 inlined at calls.c:"} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("got %q without %q", e.stdout, want)
		}
	}
	for _, c := range []struct{ point, want string }{
		{"uprobe:BIN:@calls.c:hlf", `no function of calls.c in BIN matches hlf; did you mean "half"?`},
		{"uprobe:BIN:@call.c:half", "no source file is called call.c"},
		{"uprobe:BIN:@*.cc:half", "no source file matches *.cc"},
		{"uprobe:BIN:@calls.c", "@FILE:* are all functions of the file"},
		{"uprobe:/bin/sh:@calls.c:half", "has no debug information"},
	} {
		point, want := strings.ReplaceAll(c.point, "BIN", binary), strings.ReplaceAll(c.want, "BIN", binary)
		e := startrace(t, "-q", "-e", `probe("`+point+`")`, "-c", "true")
		if e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %q, want %q", point, e.stderr, want)
		}
	}
}

// Functions of C++ with their colons, of Go and of Rust are found by their files, too.
func TestFunctionsOfSourceInLanguages(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, c := range []struct{ command, file, source, names string }{
		{"g++ -g -O2", "shop.cc", `#include <cstdio>
static volatile int sink; static long calls;
namespace shop { struct cart { int items;
	inline __attribute__((always_inline)) void add(int n) { calls++; sink = n; items += n; } }; }
__attribute__((noinline)) void fill(shop::cart &c) { for (int i = 0; i < 7; i++) c.add(sink + i); c.add(40); }
int main() { shop::cart c{1}; fill(c); printf("calls=%ld\n", calls); }
`, "shop::cart::add"},
		{"go build", "main.go", `package main

import "fmt"

var calls int

func add(n int) int { calls++; return n * 3 }

//go:noinline
func fill(k int) (sum int) {
	for i := range k {
		sum += add(i)
	}
	return sum + add(k)
}

func main() {
	fill(7)
	fmt.Printf("calls=%d\n", calls)
}
`, "main.add"},
		{"rustc -g -O -C llvm-args=-unroll-runtime=false", "main.rs",
			`use std::ptr::{addr_of_mut, read_volatile, write_volatile};
static mut CALLS: u64 = 0;
#[inline(always)]
fn add(n: u64) -> u64 { unsafe { let c = addr_of_mut!(CALLS); write_volatile(c, read_volatile(c) + 1) } n * 3 }
#[inline(never)]
fn fill(k: u64) -> u64 { let mut sum = 0; for i in 0..k { sum += add(i); } sum + add(k) }
fn main() { fill(std::env::args().count() as u64 + 6); println!("calls={}", unsafe { CALLS }); }
`, "main::add"},
	} {
		binary := need.Built(t, c.command, c.file, c.source)
		for _, of := range []string{"@" + c.file + ":", "", "@*" + c.file + ":*"} {
			name := c.names
			if strings.HasSuffix(of, "*") {
				name = name[strings.LastIndexAny(name, ":.")+1:]
			}
			e := startrace(t, "-q", script(t, `
n = count()
probe("uprobe:`+binary+`:`+of+name+`", lambda e: n[e.func].add())
at_exit(lambda: print(n.items()))
`), "-c", binary).ok(t)
			said := regexp.MustCompile(`calls=(\d+)`).FindStringSubmatch(e.stdout)
			if said == nil || !strings.Contains(e.stdout, `, `+said[1]+`)]`) {
				t.Errorf("%s %s: %q", c.command, of, e.stdout)
			}
		}
	}
}

// One place of debug information can stand for several copies.
//
// > Debug information has one place for a call that was inlined, also where the compiler has then unrolled the loop
// > around it.
// > LLVM (clang, rustc) does so with small loops, and with the condition of a `while`, which it copies in front of the
// > loop.
// > Otherwise such a call is counted once for several turns.
// > What the compiler has computed beforehand, or left out, has no place at all.
func TestUnrolledCopies(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "clang -g -O2", "unrolled.c", `#include <stdio.h>
static volatile long calls;
static inline __attribute__((always_inline)) void add(int n) { calls += 1; }
__attribute__((noinline)) void fill(int k) { for (int i = 0; i < k; i++) add(i); }
int main(int argc, char **argv) { fill(argc + 63); printf("calls=%ld\n", calls); }
`)
	e := startrace(t, "-q", script(t, `
n = count()
probe("uprobe:`+binary+`:add", lambda e: n.add())
at_exit(lambda: print("seen", 0 < n.value, n.value <= 64))
`), "-c", binary).ok(t)
	if e.stdout != "calls=64\nseen True True\n" {
		t.Errorf("%q", e.stdout)
	}
}

// turnedCopies is a program that tells how often its functions are called, and with what: in loops that gcc unrolls, by
// two ways, and as functions that gcc makes, whose statements stand where their names do.
const turnedCopies = `#include <stdio.h>
volatile int sink;
static int noted, bumped, shut, sums[3];
static inline long note(unsigned a) {
	noted++, sums[0] += a;
	printf("%s", "");
	return a * 6L;
}
static inline __attribute__((always_inline)) int bump(int b) { bumped++; sums[1] += b; sink = b; return sink + b; }
static inline __attribute__((always_inline)) void shut_it(int c) {
	shut++, sums[2] += c;
	while (c-- > 0)
		sink = c;
}
__attribute__((noinline)) int few(int r) {
	for (int i = 0; i < 2; i++)
		r += note(r + i);
	return r;
}
__attribute__((noinline)) int many(int k) {
	int r = 0;
#pragma GCC unroll 4
	for (int i = 0; i < k; i++)
		r += bump(i);
	return r + bump(k);
}
__attribute__((noinline)) void ways(int k) {
	for (int i = 0; i < k; i++)
		if (i & 1)
			shut_it(i & 3);
	if (k > 5)
		shut_it(k);
}
int main(int argc, char **argv) {
	sink = few(argc) + many(argc + 2) + many(argc + 8);
	ways(argc + 2);
	ways(argc + 7);
	fprintf(stderr, "note %d %d\nbump %d %d\nshut_it %d %d\n", noted, sums[0], bumped, sums[1], shut, sums[2]);
}
`

// Each turn of a loop that gcc has unrolled is a call of what was inlined in it, with the arguments of the turn where
// they are known.
//
// > GCC unrolls loops, too, but its tables of lines say where each turn begins, so that all turns are seen.
func TestCopiesThatWereCopied(t *testing.T) {
	needTracing(t)
	for _, compiler := range []string{"gcc", "g++"} {
		for _, level := range []string{"-O1", "-O2", "-O3", "-Os"} {
			file := map[string]string{"gcc": "turned.c", "g++": "turned.cc"}[compiler]
			binary := need.Built(t, compiler+" -g "+level, file, turnedCopies)
			for _, name := range []string{"note:a", "bump:b", "shut_it:c"} {
				name, arg, _ := strings.Cut(name, ":")
				e := startrace(t, script(t, strings.NewReplacer("BIN", binary, "NAME", name, "ARG", arg).Replace(`
seen, known, off = count(), total(), count()
def called(e):
    seen.add()
    if e.args.ARG == FAULT:
        off.add()
    else:
        known.add(e.args.ARG)
probe("uprobe:BIN:NAME", called)
at_exit(lambda: print("NAME", seen.value, known.value, off.value))
`)), "-c", binary).ok(t)
				var got, want [2]int
				var unknown int
				fmt.Sscanf(e.stdout, name+" %d %d %d", &got[0], &got[1], &unknown)
				_, truth, _ := strings.Cut(e.stderr, name+" ")
				fmt.Sscanf(truth, "%d %d", &want[0], &want[1])
				if got[0] != want[0] || unknown == 0 && got[1] != want[1] || got[1] > want[1] {
					t.Errorf("%s %s: %s: %d calls with %d in sum, want %d: %s", compiler, level, name, got[0], got[1],
						want, e.stderr)
				}
			}
		}
	}
}

// A function that the compiler makes has the place of its name for all of its statements, and is one call all the same.
//
// > They do not say it of constructors and destructors, of a function that is inlined into itself, and with
// > `-gno-column-info`: such a call of gcc is counted once for several turns, too.
func TestCopiesOfStructorsAreOneCall(t *testing.T) {
	needTracing(t)
	for _, level := range []string{"-O1", "-O2", "-O3", "-Os"} {
		binary := need.Built(t, "g++ -g "+level, "made.cc", `#include <string>
volatile int sink;
struct Part { Part() { sink = 1; sink = sink + 1; } ~Part() { sink = 2; sink = sink + 2; } };
struct Implicit { Part a, b; int x = sink; Part c; };
struct Own { Part a, b, c; Own() {} ~Own() {} };
struct Default { Part a, b, c; Default() = default; ~Default() = default; };
__attribute__((noinline)) void use() { Implicit i; Own o; Default d; sink = i.x; }
int main() { use(); use(); }
`)
		e := startrace(t, script(t, `
n = count()
probe("uprobe:`+binary+`:{Implicit,Own,Default}::*", lambda e: n[e.func].add())
at_exit(lambda: print([(k, v) for k, v in n.items() if v > 2]))
`), "-c", binary).ok(t)
		if e.stdout != "[]\n" {
			t.Errorf("%s: %s %s", level, e.stdout, e.stderr)
		}
	}
}

// What LLVM says of a parameter is taken where it begins with the copy.
//
// > Where a copy begins its arguments are those of debug information.
// > What gcc says of a parameter there is taken only where its numbers of moments (views) tell that it is the value
// > before the function has changed it.
// > LLVM does not tell, so only registers and constants are taken that begin with the copy.
// > A parameter that its function changes at once can have the changed value there.
func TestArgumentsOfCopies(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"gcc", "clang"} {
		binary := need.Built(t, compiler+" -g -O2", "kept.c", `
static volatile int sink;
static inline __attribute__((always_inline)) void keep(int n, long m, char *s) { sink = n; sink = m; sink = s[0]; }
__attribute__((noinline)) void with(int k, char *text) { keep(k, k + 1L, text); keep(42, 43, text); }
int main(int argc, char **argv) { sink = "words"[argc]; with(argc + 6, "words"); }
`)
		e := startrace(t, "-q", script(t, `
probe("uprobe:`+binary+`:keep", lambda e: print(e.args.n, e.args.s))
`), "-c", binary).ok(t)
		got := strings.ReplaceAll(e.stdout, "<optimized out>", "7")
		if got != "7 words\n42 words\n" || compiler == "gcc" && got != e.stdout {
			t.Errorf("%s: %q", compiler, e.stdout)
		}
	}
}

// What gcc has split and put into the callers is one call. No function has two calls with one pointer: the compiler
// would know the condition of the second one from the first.
//
// > gcc can split a function behind an early return, and put both parts into the callers.
// > The second part is no call of its own, and is counted only where nothing else is left of the first one.
// > Where a condition is known from one before it, the compiler can make a second way through the code of a call, past
// > the place where it begins: a call that comes by it is not seen.
func TestSplitFunctions(t *testing.T) {
	needTracing(t)
	const source = `#include <cstdio>
static volatile int g;
static long calls, turns;
struct S {
	int conf(int *p, int k)
	{
		calls++;
		if (p == nullptr)
			return 0;
		g += k;
		for (int i = 0; i < k; i++)
			g += 3 * i;
		printf("x%d\n", g);
		return g;
	}
};
static int conf(int *p, int k, int mode) { calls++; if (p == nullptr) return 0; g += k; for (int i = 0; i < k; i++)
	g += mode * i; printf("y%d\n", g); return g; }
static inline __attribute__((always_inline)) int turn(int n) { turns++; return g + n; }
__attribute__((noinline)) int user1(S &s, int *p, int k) { return s.conf(p, k) + turn(k) + turn(g); }
__attribute__((noinline)) int user2(S &s, int *p, int *q, int k) { return s.conf(p, k + 1) + s.conf(q, k); }
__attribute__((noinline)) int user3(int *p, int k) { return conf(p, k, 1); }
__attribute__((noinline)) int user4(int *p, int *q, int k) { return conf(p, k + 1, 2) + conf(q, k, 3); }
int main(int c, char **)
{
	S s;
	for (int i = 0; i < 3; i++) {
		int *p = i ? &c : nullptr;
		user1(s, p, i), user2(s, p, &c, i), user3(p, i), user4(&c, p, i);
	}
	printf("calls=%ld turns=%ld\n", calls, turns);
}
`
	for _, level := range []string{"-O1", "-O2", "-O3"} {
		binary := need.Built(t, "g++ -g "+level, "split.cc", source)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
for name in ("S::conf", "conf", "turn"):
    probe("uprobe:BIN:" + name, kernel = lambda e: n[e.func].add())
at_exit(lambda: print(sorted(n.items())))
`, "BIN", binary)), "-c", binary).ok(t)
		want := "calls=18 turns=6\n[(\"S::conf\", 9), (\"conf\", 9), (\"turn\", 6)]\n"
		if !strings.HasSuffix(e.stdout, want) {
			t.Errorf("%s: got %s, want %s", level, e.stdout, want)
		}
	}
}

// Clones of a function are found by its name, also by a pattern.
//
// > A clone that gcc or clang has made of a function (`conf.constprop.0`, `conf.isra.0`) is found by the name of the
// > function, also by a pattern that means it, and `e.func` is that name.
// > A part that it calls (`.part.0`) and what lies apart (`.cold`) are not calls of the function.
func TestClonesByName(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O2 -fno-inline -fipa-cp-clone", "conf.c", `#include <stdio.h>
static volatile int sink; static long calls;
static __attribute__((noinline)) int conf(int n, int mode) { calls++; sink = n; return mode ? n * mode + sink : 0; }
int main() { int s = 0, i = 0; for (; i < 9; i++) s += conf(sink + i, 5); printf("calls=%ld\n", calls); return s == 1; }
`)
	for _, name := range []string{
		"conf", "con[f]", "{conf,other}", "c*f", "@conf.c:conf", "@conf.c:{conf,other}", "@conf.c:c*",
	} {
		e := startrace(t, "-q", script(t, `
n = count()
probe("ufunc:`+binary+":"+name+`", lambda e: n[e.func].add())
at_exit(lambda: print(n.items()))
`), "-c", binary).ok(t)
		if !strings.Contains(e.stdout, "calls=9") || !strings.Contains(e.stdout, `[("conf", 9)]`) {
			t.Errorf("%s: %q %q", name, e.stdout, e.stderr)
		}
	}
}

// Functions of one name in several files are all found by it, with and without debug information, however compilers
// have renamed them so that each has a name of its own.
//
// > So is one of several functions of a name that were given other names when they were linked (`read.3`,
// > `read.lto_priv.0`, `read.llvm.77`).
func TestRenamedWhenLinked(t *testing.T) {
	needTracing(t)
	const source = `
extern long calls; extern volatile int sink;
__attribute__((noinline)) static int help(int n) { calls++; sink = n; return n + OWN; }
__attribute__((always_inline)) static inline int tiny(int n) { calls++; sink = n; return n + OWN; }
int SEEN(int n) { return help(n) + help(n + 1) + tiny(n); }
`
	sources := map[string]string{
		"a.c": "#define OWN 1\n#define SEEN fa" + source, "b.c": "#define OWN 2\n#define SEEN fb" + source,
		"m.c": `#include <stdio.h>
long calls; volatile int sink; int fa(int n), fb(int n);
int main(int argc, char **argv) {
	int sum = 0;
	for (int i = 0; i < argc + 2; i++) sum += fa(i) + fb(i);
	return printf("calls=%ld %d\n", calls, sum) == 0;
}`}
	for _, command := range []string{"clang -O2 -flto", "clang -O2 -flto=thin",
		"clang -O0 -funique-internal-linkage-names",
		"clang -O2 -flto -funique-internal-linkage-names", "clang++ -x c++ -O2 -flto", "gcc -O2 -flto", "gcc -O0 -flto",
		"g++ -x c++ -O2 -flto"} {
		for _, debug := range []string{" -g", " -g0"} {
			binary := need.BuiltOf(t, command+debug, sources)
			for _, pattern := range []string{"help", "h*p", "@*:help", "tiny"} {
				if debug == " -g0" && pattern != "help" && pattern != "h*p" {
					continue
				}
				e := startrace(t, "-q", script(t, `
n = count()
probe("uprobe:`+binary+":"+pattern+`", lambda e: n[e.func].add())
at_exit(lambda: print(n.items()))
`), "-c", binary).ok(t)
				want := `[("help", 12)]`
				if pattern == "tiny" {
					want = `[("tiny", 6)]`
				}
				if !strings.Contains(e.stdout, "calls=18") || !strings.Contains(e.stdout, want) {
					t.Errorf("%s%s: %s: %q %q", command, debug, pattern, e.stdout, e.stderr)
				}
			}
		}
	}
}
