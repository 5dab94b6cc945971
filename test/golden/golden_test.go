package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// saying keeps what a test would say.
type saying struct {
	testing.TB
	said []string
}

func (s *saying) Errorf(format string, args ...any) { s.said = append(s.said, format) }

func TestEqual(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for got, differs := range map[string]bool{"a\nb\n": false, "a\nb": true, "a\nc\n": true, "": true} {
		s := &saying{TB: t}
		if Equal(s, file, got); len(s.said) > 0 != differs {
			t.Errorf("%q differs: %v, said %q", got, differs, s.said)
		}
	}
	*update = true
	defer func() { *update = false }()
	s := &saying{TB: t}
	Equal(s, file, "other\n")
	if text, err := os.ReadFile(file); err != nil || string(text) != "other\n" || len(s.said) > 0 {
		t.Errorf("-update wrote %q, %v; said %s", text, err, strings.Join(s.said, "\n"))
	}
}
