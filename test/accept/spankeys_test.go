package accept

import (
	"strings"
	"testing"
)

// A key that is None is no key, of whatever kind the key is.
func TestSpanKeysThatAreNone(t *testing.T) {
	needTracing(t)
	for _, key := range []string{"e.tid", "e.task", "e.comm", "(e.pid, e.tid)",
		"cast(\"struct task_struct\", e.args.regs)"} {
		code := `
def key(wanted):
    return lambda e: KEY if (e.comm == "nobody") != wanted else None
points = ("rawtracepoint:sys_enter", "rawtracepoint:sys_exit")
none, some = count(), count()
probe(span(points[0], points[1], key = key(False)), kernel = lambda e: none.add())
probe(span(points[0], points[1], key = key(True)), kernel = lambda e: some.add())
at_exit(lambda: print(none.value, some.value > 0))
`
		e := startrace(t, "-q", script(t, strings.ReplaceAll(code, "KEY", key)), "-c", "true").ok(t)
		if e.stdout != "0 True\n" {
			t.Errorf("%s: %s", key, e.stdout)
		}
	}
}
