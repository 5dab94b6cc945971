package world

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// Whether the user who called sudo may read a file is what the kernel says of that user: by the file, and by the
// folders on the way to it.
func TestCallerMayRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: sudo makes it so")
	}
	dir := t.TempDir()
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	open, closed, own := write("open", 0o644), write("closed", 0o600), write("own", 0o600)
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	below := write("in/open", 0o644)
	const uid = 12345
	if err := os.Chown(own, uid, 0); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{open: true, closed: false, own: true, below: false} {
		t.Setenv("SUDO_UID", "12345")
		if got := CallerMayRead(file); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
		t.Setenv("SUDO_UID", "")
		if !CallerMayRead(file) {
			t.Errorf("%s: nobody has called sudo", file)
		}
		t.Setenv("PKEXEC_UID", "12345")
		if got := CallerMayRead(file); got != want {
			t.Errorf("%s by pkexec: %v, want %v", file, got, want)
		}
		t.Setenv("PKEXEC_UID", "")
		if f, err := os.Open(file); err != nil {
			t.Errorf("the process has lost its rights: %v", err)
		} else {
			f.Close()
		}
	}
	tried.Many(t, "%d files", 4)
}
