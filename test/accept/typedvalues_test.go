package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// oddValues is a program of values that are passed or kept in ways of their own. Each function destroys the registers
// that it was called with.
const oddValues = `
#include <stdbool.h>
struct small { int a; short b; char c; };
struct two { long a; int b; };
union number { int i; float f; unsigned char c[4]; };
struct letters { char s[8]; };
enum big { LARGE = 0xfffffffff0, SMALL = 1 };
enum few { NONE, SOME = 5 };
struct bits { bool on : 1, off : 1; unsigned x : 3; enum few few : 4; float f; enum big big; };
struct large { long a[5]; int z; };
#define CALL __attribute__((noinline, noclone))
#define END(x) long r = (x); __asm__ volatile("" : "+r"(r)); destroy(1, 2, 3, 4, 5, 6); return r
CALL void destroy(long a, long b, long c, long d, long e, long f) { __asm__ volatile("" : : : "memory"); }
CALL long bysmall(struct small s, int k) { END(s.a + k); }
CALL long bytwo(struct two s, struct two t) { END(s.a + t.b); }
CALL long byunion(union number s) { END(s.i); }
CALL long byletters(struct letters s) { END(s.s[0]); }
CALL long bybits(struct bits s, struct bits *p, enum big b) { END(p->x + b); }
CALL struct large bylarge(long x) { destroy(1, 2, 3, 4, 5, 6); return (struct large){{x, 2, 3, 4, 5}, -9}; }
int main(void) {
	struct bits b = {true, false, 5, SOME, 1.5, LARGE};
	bysmall((struct small){-1, -2, 99}, 3);
	bytwo((struct two){-9, 5}, (struct two){7, -8});
	byunion((union number){.i = -55});
	byletters((struct letters){"abc"});
	bybits(b, &b, LARGE);
	bylarge(-1);
}
`

// What e.start.args is as a whole is what e.args was at the start, whatever has happened to its registers.
//
// > A struct that is passed in registers is put together from them, and prints as a record.
// > Where types tell that a value is in such a register, the value is FAULT, too, and prints as `<float>`.
// > A `char[N]` in it is a string, as it is in memory, and FAULT as a whole where the compiler keeps only some of its
// > bytes.
func TestWholeArgumentsOfTheStart(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "clang -g -O0"} {
		binary := need.Built(t, command, "odd.c", oddValues)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
probe("uprobe:BIN:by*", lambda e: print(e.func, e.args))
probe("ufunc:BIN:by*", lambda e: print(e.func, e.start.args))
probe("ufunc:BIN:bytwo", lambda e: n[e.start.args.s, e.start.args.t.b].add())
at_exit(lambda: print(n.items()))
`, "BIN", binary)), "-c", binary).ok(t)
		out := lines(e.stdout) // in the order of their texts
		if len(out) != 13 || out[0] != "[((record(a = -9, b = 5), -8), 1)]" {
			t.Fatalf("%s: got %q, want the count and two lines of each of six functions", command, out)
		}
		for _, line := range []string{
			"bysmall record(s = record(a = -1, b = -2, c = 99), k = 3)",
			"bytwo record(s = record(a = -9, b = 5), t = record(a = 7, b = -8))",
			"byunion record(s = record(i = -55, f = nan, c = (201, 255, 255, 255)))",
			"byletters record(s = record(s = \"abc\"))",
		} {
			if !slices.Contains(out, line) {
				t.Errorf("%s: got %q without %q", command, out, line)
			}
		}
		for i := 1; i < len(out); i += 2 {
			if out[i] != out[i+1] {
				t.Errorf("%s: %s at the start, and %s at the end, or the other way round", command, out[i], out[i+1])
			}
		}
	}
}

// > A `char *` is a string, a bool True or False, an enum its number, of which `names(e.args.state)` is the name.
// > With debug information a struct and a pointer have their fields there.
// > A struct that is passed in memory, or returned there because it has more than two words, has its fields, and as a
// > value of its own it is its address.
func TestBitFieldsAndEnumsOfPrograms(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "odd.c", oddValues)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def show(e):
    p = e.args.p
    print(p.on, p.off, p.on == True, p.x, names(p.few), p.f, p.big, names(p.big), e.args.b, names(e.args.b))

n = count()
probe("uprobe:BIN:bybits", show)
probe("uprobe:BIN:bybits", lambda e: n[e.args.p.on, e.args.p.few, e.args.b].add())
probe("ufunc:BIN:bylarge", lambda e: print(e.ret.a[0], e.ret.a[4], e.ret.z, e.ret + 0 > 4096))
at_exit(lambda: print(n.items()))
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{
		"-1 5 -9 True", "True False True 5 SOME 1.5 1099511627760 LARGE 1099511627760 LARGE",
		"[((True, 5, 1099511627760), 1)]"})
}

// A copy of a C++ function that gcc has changed is not told from the function by its name without parameters.
//
// What such an argument leads to has its word, as that of a variable has.
//
// > What debug information does not know there is FAULT, and prints as `<optimized out>`. So is what such a variable
// > leads to: `e.vars.order.total`, where `order` is optimized out.
// > A string of Go or Rust, a `std::string` and a `std::string_view` are strings.
func TestChangedCopiesOfCPlusPlus(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "g++ -g -O2", "changed.cc", `
#include <string>
volatile int sink;
namespace shop {
	struct item {
		int extra;
		__attribute__((noinline)) int price(int unused, int more) const { sink = more + extra; return more; }
	};
	__attribute__((noinline)) static int plain(int n) { sink = n; return n; }
}
__attribute__((noinline)) std::string repeated(int n) { return std::string(n, 'z'); }
int main(int n, char **) {
	shop::item one{n + 70};
	one.price(3, -5 - n);
	sink = shop::plain(n + 6);
	sink = repeated(3).size() + repeated(40).size();
}
`)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:shop::item::price", lambda e: print("price", e.start.args, e.start.args.this.extra, e.ret))
probe("ufunc:BIN:shop::plain", lambda e: print("plain", e.start.args.n, e.ret))
probe("ufunc:BIN:repeated*", lambda e: print(e.start.args.n, e.ret))
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"3 zzz", "40 " + strings.Repeat("z", 40), "plain 7 7",
		"price record(more = -6, unused = <optimized out>, this = <optimized out>) <optimized out> " +
			"<optimized out>"})
}
