package accept

import (
	"runtime"
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
