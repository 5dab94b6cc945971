package accept

import (
	"strings"
	"testing"
)

// Computed loops one after the other in one handler: the verifier follows all rounds of the first, and has too much
// with those of the next, so the kernel runs these.
func TestLoopsBeside(t *testing.T) {
	needTracing(t)
	if !atLeast(t, 5, 17) {
		t.Skip("needs bpf_loop (Linux 5.17)")
	}
	for _, body := range []string{"s += i", "s += i if i % 2 else 2 * i", "s = (s + i) if i > 3 else s"} {
		for loops := 1; loops <= 4; loops++ {
			text := "\ndef sums(n):\n    s = 0\n"
			for range loops {
				text += "    for i in range(n):\n        " + body + "\n"
			}
			e := startrace(t, "-q", script(t, text+`    return s

got = table()
def h(e):
    got["sum"] = sums(e.args.count)
probe("tracepoint:syscalls:sys_enter_read", h, where = lambda e: e.args.count == 700)
at_exit(lambda: print([v == sums(700) for k, v in got.items()]))
`), "-c", "dd if=/dev/zero of=/dev/null bs=700 count=1 status=none")
			if strings.TrimSpace(e.stdout) != "[True]" {
				t.Errorf("%s, %d loops: got %s%s", body, loops, e.stdout, e.stderr)
			}
		}
	}
}
