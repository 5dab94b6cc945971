package kernel

import (
	"os"
	"path/filepath"
	"testing"
)

// A switch that is not there, as where debugfs is not mounted, says nothing.
func TestSwitchedOff(t *testing.T) {
	root := t.TempDir()
	s := SwitchedOff{"kprobes", "/enabled"}
	if err := s.ask(root); err != nil {
		t.Errorf("without a file: %v", err)
	}
	for text, want := range map[string]string{
		"1\n": "", "0\n": "kprobes are switched off: /enabled is 0; echo 1 > /enabled, as root, switches them on",
	} {
		if err := os.WriteFile(filepath.Join(root, "enabled"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := s.ask(root); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
