package accept

import (
	"strings"
	"testing"
)

// > | a list of strings, as `e.args.argv`; cut, it ends with `…` or with a string that was cut | 128 strings, 1024 bytes with their NULs |
func TestArgvLimits(t *testing.T) {
	needTracing(t)
	const text = `probe("syscall:execve", lambda e: printf("argv %d %d %s\n", len(e.args.argv), len(e.args.argv[-2]), e.args.argv[-1]))`
	for _, c := range []struct{ name, command, want string }{
		{"whole", "true" + strings.Repeat(" a", 127), "argv 128 1 a\n"},
		{"many", "true" + strings.Repeat(" a", 128), "argv 129 1 …\n"},
		{"long", "true " + strings.Repeat("b", 300) + " a", "argv 3 300 a\n"},
		{"longer", "true " + strings.Repeat("b", 1100) + " a", strings.Repeat("b", 1000) + "…\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := startrace(t, script(t, text), "-c", c.command).ok(t)
			if !strings.HasSuffix(e.stdout, c.want) {
				t.Errorf("got %q, want %q", excerpt(e.stdout), c.want)
			}
		})
	}
}
