package accept

import (
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A copy that stores something in front of its loop begins there, and not at each turn of the loop: LLVM says of
// neither that it begins the copy, and puts only what computes in front of loops.
func TestCopiesThatStoreBeforeTheirLoop(t *testing.T) {
	needTracing(t)
	for _, compiler := range []string{"clang -O1", "clang -Os", "clang -O2", "gcc -O1", "gcc -O2"} {
		binary := need.Built(t, compiler+" -g", "stored.c", `
static volatile long sink, calls;
static volatile int src[64];
static int turn(int a, int b) {
	calls++;
	long r = a;
	for (int k = 0; k < 3; k++) { r += src[(r + k) & 63]; sink += b + 2; }
	return (int)r;
}
__attribute__((noinline)) long body(int a, int b) { return turn(a + 1, src[b & 63]); }
int main(void) { for (int i = 0; i < 6; i++) sink += body(src[i], i * 3); }
`)
		e := startrace(t, "-q", "-e", `n = count()
probe("uprobe:`+binary+`:turn", lambda e: n.add())
at_exit(lambda: exit(0 if n.value == 6 else n.value))`, "-c", binary)
		if e.status != 0 {
			t.Errorf("%s: %d calls, want 6: %s%s", compiler, e.status, e.stdout, e.stderr)
		}
	}
}
