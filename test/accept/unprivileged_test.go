package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// The documented capabilities are enough to see every call of functions of programs, where these have links: the kernel
// refuses single probes without CAP_SYS_ADMIN.
func TestUserFunctionsUnprivileged(t *testing.T) {
	needTracing(t)
	if !atLeast(t, 6, 6) {
		t.Skip("needs Linux 6.6, whose links probe functions of programs (uprobe_multi)")
	}
	const calls = 500
	flags := []string{"-uid", nobody, "-caps", documented}
	text := fmt.Sprintf(`
points = "uprobe uretprobe ufunc".split(" ")
seen = count()
[probe(p + ":%s:main.storeWatched", lambda e: seen[e.probe.split(":")[0]].add()) for p in points]
at_exit(lambda: print(sorted(seen.items())))
`, program(t, "workload"))
	e := confined(t, flags, "-e", text, "-c", fmt.Sprintf("%s stores %d", program(t, "workload"), calls)).ok(t)
	want := fmt.Sprintf(`[("ufunc", %d), ("uprobe", %d), ("uretprobe", %d)]`, calls, calls, calls)
	if !strings.Contains(e.stdout, want+"\n") {
		t.Errorf("got %q, want %s\n%s", e.stdout, want, e.stderr)
	}
	tried.Many(t, "%d calls", calls)
}
