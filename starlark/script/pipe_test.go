package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// load() of a pipe or device is refused, and does not wait for what it has.
func TestLoadPipe(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "pipe.star"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.star")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "zero"} {
		if _, err := readModule(filepath.Join(dir, name+".star")); err == nil ||
			!strings.Contains(err.Error(), "is a pipe or a device, want a file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	tried.Many(t, "%d files", 2)
}
