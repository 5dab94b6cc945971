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

// Calls that are inlined are missing where ends are wanted, and those through a pointer are not.
//
// > A call that the compiler has put into its caller (inlined) is seen by `uprobe:` where the program has debug
// > information.
// > `ufunc:` and `uretprobe:` do not see it, and without debug information nothing does.
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
		e = startrace(t, "-q", script(t, `
n = count()
probe("uprobe:`+binary+`:ext", lambda e: n.add())
at_exit(lambda: print(n.value))
`), "-c", binary).ok(t)
		if got := strings.TrimSpace(e.stdout); flag == "-fno-inline" && got != "6" {
			t.Errorf("%s: got %s entries, want 6", flag, got)
		}
	}
}
