package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// What the top level of a script does is bounded as the run is: it can go on without end, wait for a command, or be in
// a builtin that takes more time than there is.
func TestTopLevelIsBounded(t *testing.T) {
	const ended = "the top level did not end by itself within 200ms (--duration)"
	scripts := map[string]string{
		"for i in range(1 << 40):\n    pass\n":                      ended,
		"def main():\n    for i in range(1 << 40):\n        pass\n": ended,
		`run(["sleep", "1000"], timeout = "1000s")`:                 ended,
		"a = ()\nfor i in range(60):\n    a = (a, a)\nx = {a: 1}\n": "is in a builtin that cannot be ended",
	}
	for text, want := range scripts {
		for _, flags := range [][]string{{}, {"-c", "true"}} {
			words := append([]string{"--allow-run", "--duration", "200ms", script(t, text)}, flags...)
			failed := 1
			if len(flags) > 0 {
				failed = failedBeside
			}
			if e := startrace(t, words...); e.status != failed || !strings.Contains(e.stderr, want) {
				t.Errorf("%v of %q: status %d, want %d; %s, want %q", flags, text, e.status, failed, e.stderr, want)
			}
		}
	}
	tried.Many(t, "%d scripts", len(scripts))
}
