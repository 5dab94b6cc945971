package accept

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// A verdict is what verify says of a tool.
type toolVerdict struct {
	Name, Verdict string
	Lacks         []string
	FellBack      []string `json:"fell_back"`
	Warnings      []string
}

// wellWritten fails if the compiler has warnings about the library's own source, which no user can mend.
func (v toolVerdict) wellWritten(t *testing.T) {
	t.Helper()
	if len(v.Warnings) > 0 {
		t.Errorf("%s: the compiler warns: %q", v.Name, v.Warnings)
	}
}

// Compiled for a kernel by its types alone, a tool comes to the same as compiled on that kernel; types do not know
// which functions may not be probed.
func TestVerifyByTypes(t *testing.T) {
	needTracing(t)
	here, byTypes := verdicts(t), verdicts(t, "--btf", kernel.BTFPath)
	if len(here) < 40 || len(here) != len(byTypes) {
		t.Fatalf("%d and %d tools", len(here), len(byTypes))
	}
	for name, v := range here {
		v.wellWritten(t)
		other := byTypes[name]
		lacks := strings.Join(v.Lacks, " ")
		switch {
		case v.Verdict == other.Verdict:
		case other.Verdict == "not told" && !atLeast(t, 6, 1): // the types of 5.10 have no functions of tracepoints
			t.Logf("%s: %s, which types do not tell here", name, v.Verdict)
		case strings.Contains(strings.Join(other.FellBack, " "), ".part."): // a clone, which types do not have
			t.Logf("%s: %s, by types %s", name, v.Verdict, other.Verdict)
		case strings.Contains(lacks, "must not be probed"), strings.Contains(lacks, "built without CONFIG_KPROBES"),
			strings.Contains(lacks, "no way to probe functions"), v.Verdict == "falls back":
			t.Logf("%s: %s, by types %s: %s", name, v.Verdict, other.Verdict, lacks)
		default:
			t.Errorf("%s: %s (%s), by types %s (%s)", name, v.Verdict, lacks, other.Verdict,
				strings.Join(other.Lacks, " "))
		}
	}
}

func verdicts(t *testing.T, flags ...string) map[string]toolVerdict {
	t.Helper()
	e := startrace(t, append([]string{"verify", "--format", "json"}, flags...)...)
	out := map[string]toolVerdict{}
	for line := range strings.Lines(e.stdout) {
		var v toolVerdict
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out[v.Name] = v
	}
	if len(out) == 0 {
		t.Fatalf("no verdicts: %s", e.stderr)
	}
	return out
}

// What a run would warn of, verify says, of the library, too. A run says it of its script alone.
func TestVerifyWarnings(t *testing.T) {
	needTracing(t)
	file := script(t, `
load("std/fileopens.star", "fileopens")
probe(fileopens.opened(), lambda e: print(e.call), where = lambda e: e.call == "fopen")
`)
	const warning = `no system call has the name "fopen"`
	if e := startrace(t, "verify", file).ok(t); strings.Count(e.stdout, "warning: "+file+":3:") != 1 ||
		!strings.Contains(e.stdout, warning) {
		t.Errorf("verify says %s", e.stdout)
	}
	if e := startrace(t, file, "-c", "true"); !strings.Contains(e.stderr, warning) {
		t.Errorf("a run says %s", e.stderr)
	}
}
