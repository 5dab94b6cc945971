package accept

import (
	"strings"
	"testing"
)

// > | a list of strings, as `e.args.argv`; beyond it, it is cut, or its last string is | 128 strings, 1024 bytes
// > with two more for each |
func TestArgvLimits(t *testing.T) {
	needTracing(t)
	const text = `
def told(e):
    last = e.args.argv[-1]
    print("argv", [len(a) for a in e.args.argv][-6:], last[-1:], str(e.args.argv).endswith("…)"))
probe("syscall:execve", told)
`
	b := strings.Repeat("b", 1024)
	for _, c := range []struct{ name, command, want string }{
		{"many whole", "true" + strings.Repeat(" a", 127), "argv [1, 1, 1, 1, 1, 1] a False\n"},
		{"too many", "true" + strings.Repeat(" a", 128), "argv [1, 1, 1, 1, 1, 1] a True\n"},
		{"two whole", "true " + b[:1016], "argv [4, 1016] b False\n"}, // with 2 × 2 they are 1024
		{"two cut", "true " + b, "argv [4, 1017] b… False\n"},
		{"six whole", "true" + strings.Repeat(" "+b[:200], 4) + " " + b[:208],
			"argv [4, 200, 200, 200, 200, 208] b False\n"},
		{"six cut", "true" + strings.Repeat(" "+b[:200], 4) + " " + b[:210],
			"argv [4, 200, 200, 200, 200, 209] b… False\n"},
		{"the next", "true " + b[:1016] + " a", "argv [4, 1016] b True\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := startrace(t, script(t, text), "-c", c.command).ok(t)
			if !strings.HasSuffix(e.stdout, c.want) {
				t.Errorf("got %q, want %q", excerpt(e.stdout), c.want)
			}
		})
	}
}
