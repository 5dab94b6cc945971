package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A function that stands at a constant place of a record, a tuple or a list is called alone: what the others there need
// of the event is not asked for.
func TestOneFunctionOfSeveral(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `
__attribute__((noinline)) long take(int *v, long n) { __asm__ volatile("" ::: "memory"); return n; }
int main(void) {
	static int v[2] = {20, 30};
	return take(v, 4) != 4;
}
`
	const probes = `
def g(e): return e.args.n + 1
def gp(p): return p[0] * 2
def g2(e, k): return e.args.n * k
R = record(g = g, gp = gp, n = 7)
TT = ((g,), gp, 9, [g2, gp])
LR = [R]
def h(e):
    print(R.g(e), getattr(R, "g")(e), getattr(R, "gp")(e.args.v), getattr(R, "zz", g)(e), getattr(R, "g", gp)(e),
          getattr(LR[0], "gp")(e.args.v), getattr(R, "n"))
    print(TT[0][0](e), TT[1](e.args.v), TT[2], TT[-1][0](e, 3), TT[3][-1](e.args.v))
    r, tt = R, TT
    print(getattr(r, "gp")(e.args.v), tt[0][0](e), tt[-4][-1](e), tt[1](e.args.v))
probe("ufunc:BIN:take", h)
`
	binary := need.Built(t, "gcc -g -O1", "take.c", source)
	shows(t, "5 5 40 5 5 40 7\n5 40 9 12 40\n40 5 5 40\n", "-q", script(t, strings.ReplaceAll(probes, "BIN", binary)),
		"-c", binary)
}
