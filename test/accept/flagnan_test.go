package accept

import (
	"strings"
	"testing"
)

// A flag with a range refuses NaN, whichever end the range has; a flag without one takes it.
func TestFlagOfNaN(t *testing.T) {
	for given, want := range map[string]string{
		"least = 0.5":             `got "nan", want at least 0.5`,
		"most = 9.0":              `got "nan", want at most 9.0`,
		"least = 0.5, most = 9.0": `got "nan", want 0.5 to 9.0`,
	} {
		e := startrace(t, "-q", script(t, `print(flag("bf", 1.5, `+given+`))`), "--bf", "nan")
		if e.status != 2 || !strings.Contains(e.stderr, want) || e.stdout != "" {
			t.Errorf("%s: exit %d, got %q and %q, want %q", given, e.status, e.stdout, e.stderr, want)
		}
	}
	if e := startrace(t, "-q", script(t, `print(flag("bf", 1.5))`), "--bf", "nan").ok(t); e.stdout != "nan\n" {
		t.Errorf("without a range: %q", e.stdout)
	}
}
