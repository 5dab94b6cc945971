package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// Of a file that the user who called may not read no message has a word: not as the script, and not as one that a
// script loads.
func TestConcealed(t *testing.T) {
	dir := t.TempDir()
	texts := []string{
		"hunter2", "password = hunter2", "root:hunter2:1", "hunter2 'x", "def hunter2(): pass\nhunter2 = hunter3\n",
		"\x00hunter2", "load('hunter2.star', 'x')\nhunter2\n", "def f():\n    hunter2 = hunter2\n",
	}
	tried.Many(t, "%d files", len(texts))
	for _, text := range texts {
		file, loads := filepath.Join(dir, "secret.star"), filepath.Join(dir, "loads.star")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(loads, []byte(`load("./secret.star", "x")`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{file, loads} {
			h := New(Options{MayShow: func(name string) bool { return name != file }})
			err := h.RunFile(name, nil)
			if err == nil || strings.Contains(err.Error(), "hunter") || !strings.Contains(err.Error(), "not shown") {
				t.Errorf("%q by %s: got %v", text, filepath.Base(name), err)
			}
			shown := New(Options{MayShow: func(string) bool { return true }})
			if err := shown.RunFile(name, nil); err == nil || strings.Contains(err.Error(), "not shown") {
				t.Errorf("%q by %s, which may be shown: got %v", text, filepath.Base(name), err)
			}
		}
	}
	if err := New(Options{MayShow: func(string) bool { return false }}).RunCode([]string{"hunter2"}, nil); err == nil ||
		!strings.Contains(err.Error(), "hunter2") {
		t.Errorf("-e is the caller's own text: got %v", err)
	}
}
