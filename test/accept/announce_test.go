package accept

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/stdlib"
)

// What a tool says of itself is a message and no result: on standard error, not with -q, and with what ends the run.
//
// > `announce("Tracing writes")` tells on standard error what is being done and what will end it.
// > It tells nothing with `-q`.
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

// What begins is said when it has begun: after everything is attached, and never by a tool whose probes cannot be.
//
// > `announce("Tracing")` is printed when all probes are attached.
func TestAnnouncedWhenAttached(t *testing.T) {
	needTracing(t)
	const says = "announce('Tracing')"
	e := startrace(t, "-e", says, "-e", "probe('syscall:getppid', lambda e: None)", "-e", "print('ran')",
		"-c", "true").ok(t)
	if want := "Attached 1 probe\nTracing until the command ends\n"; e.words() != want {
		t.Errorf("got %q, want %q", e.stderr, want)
	}
	e = startrace(t, "-e", says, "-e", "at_exit(lambda: announce('Over'))", "--duration", "1ms").ok(t)
	if want := "Tracing for 1ms\nOver\n"; e.stderr != want {
		t.Errorf("without probes: got %q, want %q", e.stderr, want)
	}
	for _, point := range []string{"syscall:nosuchcall", "ufunc:nosuchprogram:main"} {
		e = startrace(t, "-e", says, "-e", "probe('"+point+"', lambda e: None)", "-c", "true")
		if e.status != failedBeside || strings.Contains(e.stderr, "Tracing") {
			t.Errorf("%s: status %d, %s", point, e.status, e.stderr)
		}
	}
}

// TestToolsPrintResultsOnly goes over the library: no tool prints words of its own when it begins, among the results
// and before anything is attached.
func TestToolsPrintResultsOnly(t *testing.T) {
	begins := regexp.MustCompile(`(?m)^ *printf?\("(Tracing|Sampling|Hit|Press)`)
	for _, m := range stdlib.Modules() {
		text, err := fs.ReadFile(stdlib.Files(), m.File())
		if err != nil {
			t.Fatal(err)
		}
		if found := begins.Find(text); found != nil {
			t.Errorf("%s: %s: announce() says it", m.Name, found)
		}
	}
}
