package accept

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const wideSource = `
typedef struct { long a, b, c; } three;
__attribute__((noinline)) __int128 times(__int128 a, int n) { __asm__ volatile(""); return a * n; }
__attribute__((noinline)) unsigned __int128 plus(int k, unsigned __int128 a) { __asm__ volatile(""); return a + k; }
__attribute__((noinline)) three next(three t) { __asm__ volatile(""); t.a += 41; return t; }
typedef struct { __int128 v; } held;
__attribute__((noinline)) held minus(held h) { __asm__ volatile(""); h.v = -h.v; return h; }
int main(void) {
	minus((held){((__int128)7 << 64) + 5});
	times(((__int128)7 << 64) + 5, -1);
	plus(3, ((unsigned __int128)9 << 64) + 0xfffffffffffffff0);
	return (int)next((three){1, 2, 3}).b - 2;
}
`

// > An `__int128` is two words, the lower one first.
// > An `__int128` is a tuple of two numbers, the lower half first.
//
// What has more than 64 bits is never cut to a number that looks like it.
func TestWideInt(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "wide.c", wideSource)
	next, is := "e.ret.a", "next 42 3"
	if runtime.GOARCH == "arm64" { // where only the caller knows the address
		next, is = "e.ret == FAULT", "next True 3"
	}
	e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "NEXT", next).Replace(`
n, t = count(), table()

def kept(e):
    n[e.ret].add()
    t[e.ret[1]] = e.ret[0]

for f in ("times", "plus"):
    probe("ufunc:BIN:" + f, kept)
    probe("ufunc:BIN:" + f, lambda e, f = f: print(f, e.ret,
                                                   [e.start.args[i] for i in range(3)][:2 if f == "times" else 3]))
    probe("uretprobe:BIN:" + f, lambda e, f = f: print("return of", f, e.ret[0], e.ret[1]))
probe("ufunc:BIN:next", lambda e: print("next", NEXT, e.start.args.t.c))
probe("ufunc:BIN:times", lambda e: print("named", e.start.args.a, e.start.args.n))
probe("ufunc:BIN:minus", lambda e: print("held", e.start.args.h, e.start.args.h.v[1], e.ret, e.ret.v))
probe("ufunc:BIN:minus", lambda e: print("kernel held", e.value), kernel = lambda e: (e.ret.v[0], e.ret.v[1]))
at_exit(lambda: [print(*sorted(x.items())) for x in (n, t)])
`)), "-c", binary).ok(t)
	equalLines(t, sorted(e.stdout, " "), []string{
		"times (18446744073709551611, -8) [5, 7]", "return of times 18446744073709551611 -8",
		"plus (18446744073709551603, 9) [3, 18446744073709551600, 9]", "return of plus 18446744073709551603 9", is,
		"named (5, 7) -1",
		"held record(v = (5, 7)) 7 record(v = (18446744073709551611, -8)) (18446744073709551611, -8)",
		"kernel held (18446744073709551611, -8)",
		"((18446744073709551603, 9), 1) ((18446744073709551611, -8), 1)",
		"(-8, 18446744073709551611) (9, 18446744073709551603)",
	})
	e = startrace(t, "-q", script(t, `probe("ufunc:`+binary+`:times", kernel = lambda e: e.ret + 1)`), "-c", binary)
	if !strings.Contains(e.stderr, "tuple") {
		t.Errorf("nothing says that it is no number: %s", e.stderr)
	}
}

// A number of 128 bits of which nobody knows where it is has halves of which nobody knows it either.
//
// > So is what such a variable leads to: `e.vars.order.total`, where `order` is optimized out.
func TestLostWideInt(t *testing.T) {
	const source = `struct s { long a[3]; __int128 w; };
__attribute__((noinline)) static int f(__int128 x, int k, struct s s) { __asm__ volatile("":::"memory"); return k; }
int main(int c, char **v) { return f(c, c, (struct s){0}) == 0; }
`
	for _, command := range []string{"gcc -g -O2", "clang -g -O2"} {
		got := printed(t, command, "lostwide.c", source, `
n = count()
probe("uprobe:BIN:f", lambda e: print(e.args.x, e.args.x[0], e.args.x[1] == FAULT, e.args.x == FAULT, e.args.s.w[0]))
probe("uprobe:BIN:f", lambda e: n[e.args.x, e.args.x[1]].add())
probe("uprobe:BIN:f", lambda e: print("halves"), where = lambda e: e.args.x[0] == FAULT and e.args.x[1] == FAULT)
at_exit(lambda: print(n.items()))
`)
		const lost = "<optimized out>"
		want := lost + " " + lost + " True True " + lost + ", halves, [((" + lost + ", " + lost + "), 1)]"
		if got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}

// wideLocals has numbers of 128 bits in pairs of registers, also in functions that are inlined.
const wideLocals = `
typedef __int128 wide;
volatile wide s;
volatile long l;
__attribute__((noinline)) wide lines(wide a, int b) {
  wide t = a * b;
  l = 1;
  wide u = t + a;
  s = u;
  for (int i = 0; i < b; i++) {
    u += s;
    l = i;
  }
  s = t;
  return u + a;
}
static inline __attribute__((always_inline)) wide inlined(wide a, long k) { l = k; return a + k; }
__attribute__((noinline)) wide outer(wide a) { wide r = inlined(a, 5); s = r; return r + inlined(r, 6); }
int main(void) {
  wide big = -(((wide)5 << 64) + 7);
  for (int i = 1; i < 3; i++) { s = lines(big, i); s = outer(big); }
  return 0;
}
`

// A variable of 128 bits in two registers is a tuple of them where a list of places says so, and never what is in
// registers into which the compiler puts it only later.
//
// > An `__int128` is a tuple of two numbers, the lower half first.
func TestWideLocals(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const text = `
probe("uprobe:BIN:widelocals.c:6", lambda e: print("first|%s" % (e.vars.a,)))
probe("uprobe:BIN:widelocals.c:11", lambda e: print("loop%d|%s|%s" % (e.vars.i, e.vars.a, e.vars.t)))
probe("uprobe:BIN:widelocals.c:12", lambda e: print("sum%d|%s|%s" % (e.vars.i, e.vars.t, e.vars.u)))
probe("uprobe:BIN:inlined", lambda e: print("inlined%d|%s" % (e.args.k, e.args.a)))
`
	const big, twice, lost = "(18446744073709551609, -6)", "(18446744073709551602, -11)", "<optimized out>"
	both := []string{"inlined5|" + big, "inlined6|(18446744073709551614, -6)"}
	want := slices.Concat(
		[]string{"first|" + big, "loop0|" + big + "|" + big, "sum0|" + big + "|(18446744073709551588, -21)"}, both,
		[]string{"first|" + big, "loop0|" + big + "|" + twice, "sum0|" + twice + "|(18446744073709551574, -31)",
			"loop1|" + big + "|" + twice, "sum1|" + twice + "|(18446744073709551553, -46)"}, both)
	for _, command := range []string{"gcc -g -O0", "gcc -g -O1", "gcc -g -O2", "gcc -g -O3", "gcc -gdwarf-4 -O2",
		"clang -g -O0", "clang -g -O1", "clang -g -O2"} {
		binary := need.Built(t, command, "widelocals.c", wideLocals)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		got := strings.Split(strings.TrimSpace(e.stdout), "\n")
		for i := range min(len(got), len(want)) {
			// gcc has one place for a parameter of optimized code, which is wrong at times.
			if strings.HasPrefix(command, "gcc") && !strings.Contains(command, "O0") &&
				strings.Replace(want[i], "|"+big, "|"+lost, 1) == got[i] && !strings.HasPrefix(got[i], "sum") {
				got[i] = want[i]
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s\n%s", command, strings.Join(got, "\n"), strings.Join(want, "\n"), e.stderr)
		}
	}
}
