package accept

import (
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// needHooks skips where programs at security hooks are not run.
func needHooks(t *testing.T) {
	t.Helper()
	needTracing(t)
	if out := startrace(t, "doctor").stdout; !strings.Contains(out, "ok    lsm ") {
		t.Skip("needs a kernel that was booted with lsm=…,bpf, and trampolines")
	}
}

// A program at a security hook sees each question with its arguments, and what the kernel decides stays as it is: hooks
// that give another number than 0 where nobody decides do so still (task_prctl, by which threads get their names).
//
// > | `lsm:HOOK` | | what the kernel asks its security modules before it permits something, with the hook's arguments |
// > A program at a security hook only looks on.
// > It permits everything, and the other security modules decide.
func TestSecurityHooks(t *testing.T) {
	needHooks(t)
	n := scaled(1000)
	e, _ := traced(t, `
asked = count()
probe("lsm:file_permission", lambda e: asked[e.probe, e.func, e.args.mask, path(e.args.file)].add(), `+reading+`)
probe("lsm:task_prctl", lambda e: asked["prctl", e.func, 0, ""].add())
at_exit(lambda: [print("asked", p, f, m, path, v) for (p, f, m, path), v in asked.items()])
`, nil, "reads", strconv.Itoa(n), "64")
	checkAccount(t, e, number(t, e.stdout, `(?m)^asked lsm:file_permission file_permission 4 /dev/zero (\d+)$`), n)
}

// Where programs at security hooks are never run they are refused, with the remedy, instead of seeing nothing.
//
// > It is called only where `bpf` is among the security modules of the kernel (`lsm=…,bpf` in its command line).
// > Where it is not, `lsm:` is refused.
func TestSecurityHooksUnasked(t *testing.T) {
	needTracing(t)
	why := kernel.HooksCalled()
	if why == nil {
		t.Skip("needs a kernel that was booted without bpf among its security modules")
	}
	e := startrace(t, "-e", `probe("lsm:file_open", lambda e: print(e.comm))`, "-c", "true")
	if e.status != 1 || !strings.Contains(e.stderr, why.Error()) {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}
