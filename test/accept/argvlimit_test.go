package accept

import (
	"strings"
	"testing"
)

// > | a list of strings, as `e.args.argv`; cut, it ends with `…` or with a string that was cut | 128 strings, 1024
// > bytes with two more for each |
func TestArgvLimits(t *testing.T) {
	needTracing(t)
	const text = `
def told(e):
    last = e.args.argv[-1]
    print("argv", [len(a) for a in e.args.argv][-6:], last if len(last) < 4 else last[-1:])
probe("syscall:execve", told)
`
	b := strings.Repeat("b", 1024)
	for _, c := range []struct{ name, command, want string }{
		{"many whole", "true" + strings.Repeat(" a", 127), "argv [1, 1, 1, 1, 1, 1] a\n"},
		{"too many", "true" + strings.Repeat(" a", 128), "argv [1, 1, 1, 1, 1, 3] …\n"},
		{"two whole", "true " + b[:1016], "argv [4, 1016] b\n"}, // with 2 × 2 they are 1024
		{"two cut", "true " + b, "argv [4, 1017] b…\n"},
		{"six whole", "true" + strings.Repeat(" "+b[:200], 4) + " " + b[:208], "argv [4, 200, 200, 200, 200, 208] b\n"},
		{"six cut", "true" + strings.Repeat(" "+b[:200], 4) + " " + b[:210], "argv [4, 200, 200, 200, 200, 209] b…\n"},
		{"the next", "true " + b[:1016] + " a", "argv [4, 1016, 3] …\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := startrace(t, script(t, text), "-c", c.command).ok(t)
			if !strings.HasSuffix(e.stdout, c.want) {
				t.Errorf("got %q, want %q", excerpt(e.stdout), c.want)
			}
		})
	}
}
