package accept

import (
	"fmt"
	"slices"
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

// Each end of such a string can be asked for before and behind each other one.
func TestEachEndOfStrings(t *testing.T) {
	needTracing(t)
	const name = "/nonexistent"
	var tests, want []string
	for _, n := range []int{1, 2, 3, 8, len(name)} {
		end := name[len(name)-n:]
		tests = append(tests, fmt.Sprintf("s.endswith(%q)", end), fmt.Sprintf("s.endswith(%q)", "N"+end[1:]))
		want = append(want, "True", "False")
	}
	text := "limits(string = 1000)\n"
	var lines []string
	for i := range tests {
		tests, want = append(tests[1:], tests[0]), append(want[1:], want[0])
		if i%2 == 1 {
			slices.Reverse(tests)
			slices.Reverse(want)
		}
		text += fmt.Sprintf("def f%d(s): return (%[2]s)\n"+
			"probe('tracepoint:syscalls:sys_enter_openat', lambda e: print(%[1]d, e.value),\n"+
			"      kernel = lambda e: f%[1]d(e.args.filename) if len(e.args.filename) == %[3]d else None)\n",
			i, strings.Join(tests, ", "), len(name))
		lines = append(lines, fmt.Sprintf("%d (%s)\n", i, strings.Join(want, ", ")))
	}
	e := startrace(t, "-q", script(t, text), "-c", "sh -c 'exec 3< "+name+"'")
	for _, line := range lines {
		if !strings.Contains(e.stdout, line) {
			t.Errorf("not found: %s%s", line, e.stderr)
		}
	}
}
