package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// The variable of the function's own source file, namespace and package is meant, also where files are compiled again
// when they are linked, and where the compiler has not kept it; where none is of these, it is never one at random.
//
// > The one of the function's own source file comes before others of the name, and one that all files share before
// > those that are local to other files.
// > Of Go it is the one of the function's own package, else of `main`.
// > Where this leaves several, the name is refused, and the message names them.
// > `getattr(e.globals, NAME)` is one by its whole name, or by the end of it.
// > Of Go it has the package before it, `q.Limit` or `example.com/shop/q.Limit`, and of C++ the namespace, `n1::limit`.
// > `@cart.c:limit` is the one of a source file.
// > Each instance of a template has variables of its own, `Shelf<int>::limit` and `most<int>`.
// > Of Rust it is the one of the function itself, else as of C++.
// > A variable that the compiler has not kept prints as `<optimized out>`, and is equal to FAULT.
func TestGlobalsOfOwn(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, g := range ownGlobals {
		for _, command := range g.commands {
			binary := need.BuiltOf(t, command, g.sources)
			for point, ask := range g.asked {
				code := `probe("uprobe:` + binary + `:` + point + `", lambda e: print(">", ` + ask[0] + `))`
				e := startrace(t, "-q", "-e", code, "-c", binary).ok(t)
				if !strings.Contains(e.stdout, "> "+ask[1]+"\n") {
					t.Errorf("%s: %s at %s: got %q, want %s", command, ask[0], point, e.stdout, ask[1])
				}
			}
			for point, ask := range g.refused {
				code := `probe("uprobe:` + binary + `:` + point + `", lambda e: print(` + ask[0] + `))`
				e := startrace(t, "-q", "-e", code, "-c", binary)
				if e.status == 0 || !strings.Contains(e.stderr, ask[1]) {
					t.Errorf("%s: %s at %s: got %q, want %s", command, ask[0], point, e.stderr, ask[1])
				}
			}
		}
	}
}

// ownGlobals are programs of several files: what functions are asked for, and what they give or say.
var ownGlobals = []struct {
	commands       []string
	sources        map[string]string
	asked, refused map[string][2]string
}{{
	commands: []string{"gcc -g -O0", "gcc -g -O2", "gcc -g -O0 -flto", "gcc -g -O2 -flto -fno-inline", "clang -g -O2"},
	sources: map[string]string{
		"a.c": `static volatile int conf = 11; static volatile int mine = 1; volatile int shared = 5;
static int gone = 3;
__attribute__((noinline)) static int help(int n) { return n + conf + gone; }
__attribute__((noinline)) int fa(int n) { return help(n) + mine + shared; }`,
		"b.c": `static volatile int conf = 22; static volatile int shared; extern volatile int seen;
int gone = 4;
__attribute__((noinline)) static int help(int n) { return n + conf + gone + seen; }
__attribute__((noinline)) int fb(int n) { gone++; return help(n) + shared; }`,
		"c.c": `int fa(int n), fb(int n); volatile int seen = 7;
__attribute__((noinline)) int fc(int n) { return fa(n) + fb(n); }
int main(int argc, char **argv) { return fc(argc) == 0; }`,
	},
	asked: map[string][2]string{
		"fa":        {"e.globals.conf, e.globals.shared, e.globals.seen", "11 5 7"},
		"fb":        {"e.globals.conf, e.globals.shared, e.globals.seen, e.globals.mine", "22 0 7 1"},
		"@a.c:help": {"e.globals.conf, e.globals.gone != 4", "11 True"},
		"@b.c:help": {"e.globals.conf, e.globals.gone", "22 5"},
		"fc":        {"e.globals.shared", "5"},
		"main": {`getattr(e.globals, "@a.c:conf"), getattr(e.globals, "@b.c:conf"), hasattr(e.globals, "conf")`,
			"11 22 False"},
		"@b.c:fb":    {`getattr(e.globals, "@c.c:seen")`, "7"},
		"@c.c:main":  {"e.globals.mine", "1"},
		"@[c].c:fc*": {"e.globals.gone", "4"},
	},
	refused: map[string][2]string{
		"fc": {"e.globals.conf", "which variable conf? there are @a.c:conf and @b.c:conf, and none is of the source"},
	},
}, {
	commands: []string{"gcc -g -O2", "gcc -g -O2 -flto", "clang -g -O2"},
	sources: map[string]string{
		"a.c": `static int gone = 3; __attribute__((noinline)) int fa(int n) { return n + gone; }`,
		"b.c": `int gone = 4; int fa(int n); int main(int argc, char **argv) { gone += argc; return fa(argc) == 0; }`,
	},
	asked: map[string][2]string{"fa": {"e.globals.gone, e.globals.gone == FAULT", "<optimized out> True"},
		"main": {"e.globals.gone", "4"}},
}, {
	commands: []string{"g++ -g -O0", "g++ -g -O2", "g++ -g -O2 -flto", "clang++ -g -O2"},
	sources: map[string]string{
		"a.cc": `namespace { volatile int conf = 11; }
namespace n1 {
volatile int lim = 1;
namespace deep { volatile int lim = 3; __attribute__((noinline)) int fd(int n) { return n + lim; } }
__attribute__((noinline)) int f1(int n) { return n + lim + conf; }
}
namespace n2 {
volatile int lim = 2;
struct S { static volatile int count; __attribute__((noinline)) int m(int n) { return n + lim + count; } };
volatile int S::count = 100;
}
volatile int lim = 50;
__attribute__((noinline)) int g(int n) { return n + lim; }
int fb(int n);
int main() { n2::S s; return n1::f1(1) + n1::deep::fd(1) + s.m(1) + g(1) + fb(1) == 0; }`,
		"b.cc": `namespace { volatile int conf = 22; }
namespace n1 { extern volatile int lim; __attribute__((noinline)) int fb1(int n) { return n + conf + lim; } }
__attribute__((noinline)) int fb(int n) { return n + conf + n1::fb1(n); }`,
	},
	asked: map[string][2]string{
		"n1::f1":       {"e.globals.lim, e.globals.conf", "1 11"},
		"n1::deep::fd": {"e.globals.lim", "3"},
		"n2::S::m":     {"e.globals.lim, e.globals.count", "2 100"},
		"g":            {"e.globals.lim", "50"},
		"n1::fb1":      {"e.globals.lim, e.globals.conf", "1 22"},
		"fb": {`e.globals.conf, getattr(e.globals, "n1::lim"), getattr(e.globals, "deep::lim"),
			getattr(e.globals, "::lim"), getattr(e.globals, "S::count")`, "22 1 3 50 100"},
	},
}, {
	commands: []string{"g++ -std=c++17 -g -O0", "g++ -std=c++17 -g -O2", "clang++ -std=c++17 -g -O0",
		"clang++ -std=c++17 -g -gdwarf-4 -O2"},
	sources: map[string]string{
		"a.cc": `template<class T> volatile int most = sizeof(T) * 100;
template<class T> volatile int lone = 7;
namespace { template<class T> volatile int own = sizeof(T) * 10; }
template<class T> struct Reg {
	static volatile int n;
	__attribute__((noinline)) static int get(int k) { return k + n + most<T>; }
};
template<class T> volatile int Reg<T>::n = sizeof(T);
struct Reg2 {
	static volatile int n;
	operator Reg<int>() const;
	__attribute__((noinline)) int get(int k) { return k + n; }
};
volatile int Reg2::n = 50;
namespace x {
struct Reg2 { static volatile int n; __attribute__((noinline)) int get(int k) { return k + n; } };
volatile int Reg2::n = 60;
}
__attribute__((noinline)) int top(int k) {
	return k + most<char> + most<unsigned long> + lone<int> + own<int> + own<char>;
}
__attribute__((noinline)) int second(int k) { return k + most<int>; }
__attribute__((noinline)) int third(int k) { return k + most<short>; }
int main(int argc, char **argv) {
	Reg2 a; x::Reg2 b;
	return (Reg<char>::get(argc) + Reg<int>::get(argc) + Reg<unsigned long>::get(argc) + top(argc) + second(argc)
		+ third(argc) + a.get(argc) + b.get(argc)) == 0;
}`,
	},
	asked: map[string][2]string{
		"Reg<char>::get":          {"e.globals.n", "1"},
		"Reg<int>::get":           {"e.globals.n", "4"},
		"Reg<unsigned long>::get": {"e.globals.n", "8"},
		"Reg2::get":               {"e.globals.n", "50"},
		"x::Reg2::get":            {"e.globals.n", "60"},
		"top": {`getattr(e.globals, "Reg<int>::n"), getattr(e.globals, "most<int>"), e.globals.lone,
			getattr(e.globals, "Reg<unsigned  long>::n"), getattr(e.globals, "::most<char>"),
			getattr(e.globals, "Reg2::n"), getattr(e.globals, "::Reg2::n"), getattr(e.globals, "x::Reg2::n")`,
			"4 400 7 8 100 50 50 60"},
	},
	refused: map[string][2]string{
		"top":    {"e.globals.most", "there are most<char> and most<int> and most<short> and most<unsigned long>,"},
		"second": {`getattr(e.globals, "Reg::n")`, "there are Reg<char>::n and Reg<int>::n and Reg<unsigned long>::n,"},
		"third":  {"e.globals.own", "which variable own? there are "},
	},
}, {
	commands: []string{"rustc -g a.rs", "rustc -g -Copt-level=2 a.rs"},
	sources: map[string]string{
		"a.rs": `use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
mod c {
	use super::*;
	#[inline(never)] pub fn f(k: i32) -> i32 { static LOC: AtomicI32 = AtomicI32::new(300); LOC.fetch_add(k, Relaxed) }
	pub struct S;
	impl S { #[inline(never)] pub fn m(&self, k: i32) -> i32 {
		static LOC: AtomicI32 = AtomicI32::new(100);
		LOC.fetch_add(k, Relaxed)
	} }
}
#[inline(never)] pub fn top(k: i32) -> i32 { c::f(k) + c::S.m(k) }
fn main() { std::process::exit((top(std::env::args().count() as i32) == 0) as i32); }
`,
	},
	asked: map[string][2]string{"*c::f": {"e.globals.LOC.v.value", "300"},
		"*c::S*::m": {"e.globals.LOC.v.value", "100"}},
	refused: map[string][2]string{"*::top": {"e.globals.LOC", "there are a::c::S::m::LOC and a::c::f::LOC,"}},
}, {
	commands: []string{"go build"},
	sources: map[string]string{
		"go.mod": "module example.com/shop.v2\n\ngo 1.24\n",
		"main.go": `package main

import (
	"example.com/shop.v2/q"
	"example.com/shop.v2/r.v3"
)

var Limit = 66
var only = 8

//go:noinline
func G(x int) int { return x + Limit + only }
func main() { println(q.F(1) + G(2) + r.H(1) + (&q.T{}).M(1) + q.Add(int32(3))) }
`,
		"q/q.go": `package q

var Limit = 55
var Sought = 9
var T0 T

type T struct{ n int }

//go:noinline
func F(x int) int { return x + Limit + Sought + T0.n }

//go:noinline
func (t *T) M(x int) int { return x + Limit + t.n }

//go:noinline
func Add[N int32 | int64](n N) int { return int(n) + Limit }
`,
		"r.v3/r.go": `package r

var Limit = 77

//go:noinline
func H(x int) int { return x + Limit }
`,
	},
	asked: map[string][2]string{
		"example.com/shop.v2/q.F":      {"e.globals.Limit, e.globals.only", "55 8"},
		"example.com/shop.v2/q.(*T).M": {"e.globals.Limit", "55"},
		"*q.Add*":                      {"e.globals.Limit", "55"},
		"*/r*.H":                       {`e.globals.Limit, getattr(e.globals, "main.Limit")`, "77 66"},
		"main.G": {`e.globals.Limit, getattr(e.globals, "q.Limit"), getattr(e.globals, "r.Limit"),
			getattr(e.globals, "example.com/shop.v2/q.Limit"), getattr(e.globals, "example.com/shop.v2/r.v3.Limit"),
			getattr(e.globals, "q.Sought")`, "66 55 77 55 77 9"},
	},
	refused: map[string][2]string{
		"main.G": {"e.globals.Sought", `getattr(e.globals, "example.com/shop.v2/q.Sought") names one`},
	},
}}

// A copy of a function that was inlined sees the variables of the function's own source file, as its code does.
//
// > Entries of functions that were inlined have `e.globals`, too.
func TestGlobalsOfInlined(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	sources := map[string]string{
		"h.h": "extern volatile int shared;\n",
		"a.c": `#include "h.h"
static volatile int conf = 11;
static inline __attribute__((always_inline)) int square(int n) { conf++; return n * n + shared; }
int fa(int n) { return square(n) + square(n + 1); }`,
		"b.c": `#include "h.h"
static volatile int conf = 22; volatile int shared = 5;
static inline __attribute__((always_inline)) int cube(int n) { conf += 2; return n * n * n; }
int fa(int n);
int main(int argc, char **argv) { return fa(argc) + cube(argc) + cube(3) == 0; }`,
	}
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "gcc -g -O2 -flto", "clang -g -O1",
		"clang -g -O2 -flto"} {
		binary := need.BuiltOf(t, command, sources)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe(["uprobe:BIN:square", "uprobe:BIN:cube"], lambda e: print(e.func, e.globals.conf, e.globals.shared))
`, "BIN", binary)), "-c", binary).ok(t)
		if want := "square 11 5\nsquare 12 5\ncube 22 5\ncube 24 5\n"; e.stdout != want {
			t.Errorf("%s: got %q, want %q", command, e.stdout, want)
		}
	}
}

// Functions within functions, as GNU C has them, are found by their names and have arguments with names.
//
// > A nested function of GNU C is found by its name, and has `e.args` as others have.
func TestNestedFunctions(t *testing.T) {
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2"} {
		got := printed(t, command, "nested.c", `
volatile int sink;
__attribute__((noinline)) int outer(int k) {
	__attribute__((noinline)) int inner(int q) { sink = q + k; return q * k; }
	return inner(k + 1) + inner(k + 2);
}
__attribute__((noinline)) int other(int k) {
	__attribute__((noinline)) int inner(int p) { sink = p - k; return p - k; }
	return inner(k + 5);
}
int main(int argc, char **argv) { return outer(argc + 2) + other(argc + 3) == 0; }
`, `
probe("ufunc:BIN:inner", lambda e: print(e.func, e.start.args, e.ret))
`)
		if want := "inner record(q = 4) 12, inner record(q = 5) 15, inner record(p = 9) 5"; got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}
