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
