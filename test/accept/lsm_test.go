package accept

import (
	"regexp"
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

// A pattern over all hooks sees what a probe of each of them sees; what the kernel lets no programs at is left out, and
// not listed.
//
// > `startrace list 'lsm:*'` shows the hooks.
func TestAllSecurityHooks(t *testing.T) {
	needHooks(t)
	n := scaled(1000)
	for _, pattern := range []string{"lsm:*", "lsm:file_*"} {
		listed := strings.Fields(startrace(t, "list", pattern).ok(t).stdout)
		e, _ := traced(t, `
asked = count()
files = count()
probe("`+pattern+`", lambda e: asked[e.func].add(), `+reading+`)
probe("lsm:file_permission", lambda e: files.add(), `+reading+`)
at_exit(lambda: [print("asked", f, v) for f, v in asked.items()])
at_exit(lambda: print("files", files.value))
`, []string{"-v"}, "reads", strconv.Itoa(n), "64")
		points := number(t, e.stderr, `(?m)^probe `+regexp.QuoteMeta(pattern)+`: (\d+) points`)
		if points != len(listed) {
			t.Errorf("%s: %d points, %d listed", pattern, points, len(listed))
		}
		all, one := number(t, e.stdout, `(?m)^asked file_permission (\d+)$`), number(t, e.stdout, `(?m)^files (\d+)$`)
		if all != one || one < n {
			t.Errorf("%s: file_permission was asked %d times, by the pattern %d, want %d or more", pattern, one, all, n)
		}
	}
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
	if e.status != failedBeside || !strings.Contains(e.stderr, why.Error()) {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}
