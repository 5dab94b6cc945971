package accept

import (
	"strings"
	"testing"
)

// A string that is not on the stack is asked for longer and longer ends: each test reads no more bytes than it has
// shown to be there.
func TestEndsOfStringsBesideTheStack(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, `
limits(string = 1000)

def ends(s):
    return (s.endswith("t"), s.endswith("/nonexistent"), s.endswith("/a/longer/one/than/nonexistent"))

probe("tracepoint:syscalls:sys_enter_openat", lambda e: print(e.value), kernel = lambda e: ends(e.args.filename),
    where = lambda e: e.args.filename.endswith("ent"))
`), "-c", "sh -c 'exec 3< /nonexistent'")
	if want := "(True, True, False)"; strings.TrimSpace(e.stdout) != want {
		t.Errorf("got %s%s, want %s", e.stdout, e.stderr, want)
	}
}
