package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const inlinedSource = `
int ext(int a) { return a * 3; }
int (*volatile through)(int) = ext;
int main(int n, char **words) {
	volatile int sum = 0; for (int i = 0; i < 5; i++) sum += ext(n + i); return through(sum) == 0; }
`

// Calls that are inlined are missing, and those through a pointer are not.
//
// > A call that the compiler has put into its caller (inlined) is none: no probe sees it, and nothing counts it.
// > At `-O2` that happens to small functions of the same file, also where they have a symbol for calls from elsewhere.
// > A program that is built with `-fno-inline` has all its calls.
func TestInlinedCalls(t *testing.T) {
	needTracing(t)
	for flag, want := range map[string]string{"-finline": "1", "-fno-inline": "6"} {
		binary := need.Built(t, "gcc -g -O2 "+flag, "inlined.c", inlinedSource)
		e := startrace(t, "-q", script(t, `
n = count()
probe("ufunc:`+binary+`:ext", lambda e: n.add())
at_exit(lambda: print(n.value))
`), "-c", binary).ok(t)
		if got := strings.TrimSpace(e.stdout); got != want {
			t.Errorf("%s: got %s calls, want %s", flag, got, want)
		}
	}
}
