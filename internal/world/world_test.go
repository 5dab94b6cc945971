package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// What a command writes is bounded, and what it has started ends with it.
func TestRunIsBounded(t *testing.T) {
	tried.Many(t, "%d commands", 2)
	w := &World{Granted: Granted{AllowRun: true}}
	if _, _, _, err := w.Run(t.Context(), []string{"cat", "/dev/zero"}, time.Minute); err == nil ||
		!strings.Contains(err.Error(), "more than 16 MB") {
		t.Errorf("endless output: %v", err)
	}
	lock := filepath.Join(t.TempDir(), "lock")
	leave := "exec 9>" + lock + "; flock 9; sleep 1000 >&- 2>&- & echo started"
	status, out, _, err := w.Run(t.Context(), []string{"sh", "-c", leave}, time.Minute)
	if err != nil || status != 0 || out != "started\n" {
		t.Fatalf("%d, %q, %v", status, out, err)
	}
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil { // waits until the last holder has ended
		t.Error(err)
	}
}

// A pipe without a reader does not hold up write_file.
func TestWritePipe(t *testing.T) {
	tried.Many(t, "%d calls", 2)
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &World{Granted: Granted{AllowWrite: []string{dir}}}
	for _, add := range []bool{false, true} {
		if err := w.Write("pipe", "text", add); err == nil || !strings.Contains(err.Error(), "nobody reads this pipe") {
			t.Errorf("got %v", err)
		}
	}
}
