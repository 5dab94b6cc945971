package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// endlessComparison makes two lists that take years to be compared, and no memory.
const endlessComparison = "a, b = [0] * 1000, [0] * 1000\nfor i in range(8): a, b = [a] * 1000, [b] * 1000\n"

// What the top level of a script does is bounded as the run is: it can go on without end, wait for a command, or be in
// a builtin that takes more time than there is.
func TestTopLevelIsBounded(t *testing.T) {
	const ended = "the top level did not end by itself within 10s (--duration)"
	scripts := map[string]string{
		"for i in range(1 << 40):\n    pass\n":                      ended,
		"def main():\n    for i in range(1 << 40):\n        pass\n": ended,
		`run(["sleep", "1000"], timeout = "1000s")`:                 ended,
		endlessComparison + "x = a < b\n":                           "is in a builtin that cannot be ended",
	}
	tried.Many(t, "%d scripts", len(scripts))
	for text, want := range scripts {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			words := []string{"--allow-run", "--duration", "200ms", script(t, text), "-c", "true"}
			if e := startrace(t, words...); e.status != failedBeside || !strings.Contains(e.stderr, want) {
				t.Errorf("status %d, %s, want %q", e.status, e.stderr, want)
			}
		})
	}
}

// Who looks at a script does not wait for it for ever.
//
// > A top level that does not end is ended there after a minute, with `explain` and `audit` after the time of
// > `--duration`, but not before ten seconds have passed.
func TestLookingIsBounded(t *testing.T) {
	for _, command := range []string{"explain", "audit"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			e := startrace(t, command, "--duration", "200ms", script(t, "for i in range(1 << 40):\n    pass\n"))
			said := e.stdout + e.stderr
			if e.status == 0 || !strings.Contains(said, "did not end by itself within 10s") {
				t.Errorf("status %d, %s", e.status, said)
			}
		})
	}
	tried.Many(t, "%d commands", 2)
}

// A signal ends a script that is in such a builtin, too, and one that has not come to it yet.
func TestSignalEndsTheTopLevel(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	if err := unix.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	text := script(t, fmt.Sprintf("run([%q, %q, %q])\n", "sh", "-c", "echo > "+begun)+endlessComparison+"x = a < b\n")
	cmd := exec.Command(program(t, "startrace"), "--allow-run", text)
	stderr := &strings.Builder{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(begun); err != nil { // waits for the script
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if said := stderr.String(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said, "interrupted") &&
		!strings.Contains(said, "is in a builtin that cannot be ended, after the signal") {
		t.Errorf("%v: %s", err, said)
	}
}
