package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// The address of what lies behind a pointer of the start is that of the start, wherever it is used: the register that
// had the pointer may have something else at the end.
func TestAddressesOfTheStart(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `
struct order { int n; int v[8]; struct { int a, b; } pair; };
volatile int sink;
__attribute__((noinline)) int total(struct order *o) {
	int s = 0;
	for (int i = 0; i < 8; i++) s += o->v[i];
	sink = s + o->pair.b + o->n;
	return s;
}
int main(void) {
	static struct order o = {11, {1, 2, 3, 4, 5, 6, 7, 8}, {9, 10}};
	total(&o);
	return 0;
}
`
	const probes = `
O = "BIN:struct order"
at = lambda e: e.start.args.o
all = lambda e: (cast("u64", at(e).v) - cast("u64", at(e)), cast("int *", at(e).v)[1], mem(at(e).v, 4),
    cast("u64", at(e).pair) - cast("u64", at(e)), container_of(at(e).v, O, "v").n,
    container_of(at(e).pair, O, "pair").n)
def named(e):
    v = at(e).v
    print("user", cast("int *", v)[2], cstr(v), cstr(at(e).v, 2))
probe("ufunc:BIN:total", lambda e: print("user", *all(e)))
probe("ufunc:BIN:total", lambda e: print("kernel", *e.value), kernel = all)
probe("ufunc:BIN:total", lambda e: print("where"),
      where = lambda e: cast("int *", at(e).v)[1] == 2 and cast("u64", at(e).v) == cast("u64", at(e)) + 4)
probe("ufunc:BIN:total", named)
`
	for _, flags := range []string{"-O0", "-O1", "-O2 -fno-tree-vectorize", "-O2"} {
		binary := need.Built(t, "gcc -g "+flags, "total.c", source)
		text := strings.ReplaceAll(probes, "BIN", binary)
		shows(t, "user 4 2 b\"\\x01\\x00\\x00\\x00\" 36 11 11\nkernel 4 2 b\"\\x01\\x00\\x00\\x00\" 36 11 11\nwhere\n"+
			"user 3 \\x01 \\x01\n", "-q", script(t, text), "-c", binary)
	}
}

// What lies at the address of an array of the start is read at the start, whatever type a script gives it.
func TestCastsOfTheStart(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `
struct order { int n; int v[8]; unsigned short u[4]; };
__attribute__((noinline)) void change(struct order *o) {
	o->n = 20;
	o->v[1] += 100;
	o->u[2] += 100;
	__asm__ volatile("" ::: "memory");
}
int main(void) {
	static struct order o = {10, {1, 2, 3}, {4, 5, 6}};
	change(&o);
	return 0;
}
`
	const probes = `
O = "BIN:struct order"
def reads(o):
    v = o.v
    return (cast("int *", o.v)[1], cast("unsigned int *", v)[1], cast("u8 *", o.v)[4], cast("u16 *", o.u)[2],
            cast("u64 *", o.u)[0] >> 32 & 0xffff, container_of(v, O, "v").n, cast(O, o).v[1], mem(v, 8)[4],
            container_of(cast("int *", v), O, "v").u[2])
probe("ufunc:BIN:change", lambda e: print("user", *reads(e.start.args.o)))
probe("ufunc:BIN:change", lambda e: print("kernel", *e.value), kernel = lambda e: reads(e.start.args.o))
probe("ufunc:BIN:change", lambda e: print("end", *reads(e.args.o)))
probe("ufunc:BIN:change", lambda e: print("where"), where = lambda e: cast("int *", e.start.args.o.v)[1] == 2)
`
	binary := need.Built(t, "gcc -g -O1", "change.c", source)
	shows(t, "user 2 2 2 6 6 10 2 2 6\nkernel 2 2 2 6 6 10 2 2 6\nend 102 102 102 106 106 20 102 102 106\nwhere\n",
		"-q", script(t, strings.ReplaceAll(probes, "BIN", binary)), "-c", binary)
}

// An index or a length of what is read at the start is any number that is computed of what the start knows, also by a
// function and in a variable.
func TestIndexesComputedOfTheStart(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `
__attribute__((noinline)) long change(int *v, long n, unsigned short *u) {
	for (int i = 0; i < n; i++) v[i] += 100;
	u[0] += 100;
	__asm__ volatile("" ::: "memory");
	return n;
}
int main(void) {
	static int v[4] = {1, 2, 3, 4};
	static unsigned short u[2] = {1, 2};
	volatile long n = 4;
	return change(v, n, u) != 4;
}
`
	const probes = `
def less(e, k): return max(int32(e.start.args.n) - k, 0)
def index(e):
    n = int32(e.start.args.n) - 2
    return e.start.args.v[n], mem(e.start.args.v, min(n, 8))
def all(e):
    s = e.start.args
    return (s.v[int32(s.n) - 1], s.v[abs(s.n) - 2], s.v[min(s.n, 3)], s.v[cast("int", s.n) - 1], s.v[s.n & 3],
            s.v[-(-s.n) - 1], s.v[s.u[0] + 2], s.v[s.n // 2], s.v[s.n % 3], s.v[s.n >> 1], s.v[~(-s.n)],
            s.v[s.u[int32(s.n) - 3]], s.v[less(e, 2)], mem(s.v, min(less(e, 3), 8)), index(e)[0], index(e)[1])
probe("ufunc:BIN:change", lambda e: print("user", *all(e)))
probe("ufunc:BIN:change", lambda e: print("kernel", *e.value), kernel = all)
probe("ufunc:BIN:change", lambda e: print("where"), where = lambda e: e.start.args.v[less(e, 1)] == 4)
`
	binary := need.Built(t, "gcc -g -O1", "change.c", source)
	const want = `4 3 4 4 1 4 4 3 2 3 4 3 3 b"\x01" 3 b"\x01\x00"`
	shows(t, "user "+want+"\nkernel "+want+"\nwhere\n", "-q", script(t, strings.ReplaceAll(probes, "BIN", binary)),
		"-c", binary)
}
