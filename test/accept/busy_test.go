package accept

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// A process that makes calls all the time goes on while programs are attached and taken off, one after another. What
// has no start or no end by that is no loss, however often it happens meanwhile.
func TestBusyWhileAttaching(t *testing.T) {
	needTracing(t)
	busy := exec.Command("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := busy.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = busy.Wait() // it was killed
	}()
	for _, point := range []string{`span("t:syscalls:sys_enter_read", "t:syscalls:sys_exit_read")`,
		`"syscall:{read,write}"`} {
		for range 3 {
			e := startrace(t, "-q", script(t, fmt.Sprintf(`
n = count()
p = probe(%s, lambda e: n.add())
every("1ms", lambda: exit() if n.value > 100 else None)
at_exit(lambda: print("some", n.value > 100))
`, point)), "-p", fmt.Sprint(busy.Process.Pid)).ok(t)
			if e.stdout != "some True\n" {
				t.Errorf("%s: got %q", point, e.stdout)
			}
			if e.skipped(t) == 0 && (strings.Contains(e.stderr, "never ended") ||
				strings.Contains(e.stderr, "had no start")) {
				t.Errorf("%s: %s", point, e.stderr)
			}
		}
	}
}
