package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// What the top level of a script does is bounded as the run is: it can go on without end, wait for a command, or be in
// a builtin that takes more time than there is.
func TestTopLevelIsBounded(t *testing.T) {
	const ended = "the top level did not end by itself within 10s (--duration)"
	scripts := map[string]string{
		"for i in range(1 << 40):\n    pass\n":                      ended,
		"def main():\n    for i in range(1 << 40):\n        pass\n": ended,
		`run(["sleep", "1000"], timeout = "1000s")`:                 ended,
		"a = ()\nfor i in range(60):\n    a = (a, a)\nx = {a: 1}\n": "is in a builtin that cannot be ended",
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
