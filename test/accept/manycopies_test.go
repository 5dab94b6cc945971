package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// doubling is a script in which f11 calls f0 2048 times: each function calls the one before it twice.
func doubling(t *testing.T, point, part, uses string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "def f0(x): return len(str([%s]))\n", uses)
	for i := range 11 {
		fmt.Fprintf(&b, "def f%d(x): return f%d(x) + f%d(x)\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "probe(%q, lambda e: print(f11(%s)))\n", point, part)
	return script(t, b.String())
}

// > | calls in a user half with structs, or ints with a sign of less than 64 bits, each as often as it is reached
// > | 2000 |
//
// What the functions get is the same without such calls, so numbers of 64 bits and texts have no bound.
func TestCallsWithoutCopies(t *testing.T) {
	const refused = "calls functions with parts of the event more than 2000 times"
	for _, c := range []struct{ point, part, uses, want string }{
		{"syscall:openat", "e.task", "x.pid", refused},
		{"syscall:openat", "e.args.dfd", `"%x" % x, sprintf("%x", x)`, refused},
		{"syscall:lseek", "e.args.offset", "x", ""},
		{"syscall:openat", "e.args.filename", "x", ""},
	} {
		e := startrace(t, "explain", doubling(t, c.point, c.part, c.uses))
		if got := strings.Contains(e.stderr, refused) || strings.Contains(e.stdout, refused); got != (c.want != "") {
			t.Errorf("%s: %s%s", c.part, excerpt(e.stdout), excerpt(e.stderr))
		}
	}
	tried.Many(t, "%d kinds of values", 4)
}
