package accept

import (
	"strings"
	"testing"
)

// What a tool says of itself is a message and no result: on standard error, not with -q, and with what ends the run.
//
// > `announce("Tracing writes")` tells on standard error what is being done and what will end it, and nothing with
// > `-q`.
func TestAnnounce(t *testing.T) {
	needTracing(t)
	for _, one := range []struct {
		args []string
		want string
	}{
		{[]string{"-c", "true"}, "Tracing time on the CPU until the command ends\n"},
		{[]string{"--duration", "20ms"}, "Tracing time on the CPU for 20ms\n"},
		{[]string{"-c", "true", "--duration", "20s"},
			"Tracing time on the CPU until the command ends, at most for 20s\n"},
		{[]string{"-q", "-c", "true"}, ""},
	} {
		e := startrace(t, append([]string{"cpudist", "--format", "json"}, one.args...)...).ok(t)
		if strings.Contains(e.stdout, "Tracing") || !strings.Contains(e.stderr, one.want) || one.want == "" &&
			strings.Contains(e.stderr, "Tracing") {
			t.Errorf("%q: stdout %s\nstderr %s", one.args, e.stdout, e.stderr)
		}
	}
	for _, args := range [][]string{{"cpudist", "--help"}, {"explain", "cpudist"}} {
		if e := startrace(t, args...).ok(t); strings.Contains(e.stdout+e.stderr, "Tracing") {
			t.Errorf("%q traces: %s%s", args, e.stdout, e.stderr)
		}
	}
}
