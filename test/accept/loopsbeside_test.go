package accept

import (
	"fmt"
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
			unskipped(t, func() (skipped int) {
				e := startrace(t, "-q", script(t, text+`    return s

got = table()
def h(e):
    got["sum"] = sums(e.args.count)
probe("tracepoint:syscalls:sys_enter_read", h, where = lambda e: e.args.count == 700)
at_exit(lambda: print([v == sums(700) for k, v in got.items()]))
`), "-c", "dd if=/dev/zero of=/dev/null bs=700 count=1 status=none")
				skipped = e.skipped(t)
				if strings.TrimSpace(e.stdout) != "[True]" && skipped == 0 {
					t.Errorf("%s, %d loops: got %s%s", body, loops, e.stdout, e.stderr)
				}
				return skipped
			})
		}
	}
}

// What stands behind a computed loop is followed once, not once for each number of rounds, of which the verifier would
// know what the loop's end says.
func TestBehindLoops(t *testing.T) {
	needTracing(t)
	if !atLeast(t, 5, 17) {
		t.Skip("needs bpf_loop (Linux 5.17)")
	}
	const loop = "    for i in range(e.args.count):\n        s += i\n"
	const fib = "    a, b = 0, 1\n    for i in range(e.args.count):\n        a, b = b, a + b\n    s += a & 1\n"
	bits := ""
	for i := range 40 {
		bits += fmt.Sprintf("    if e.args.count >> %d & 1:\n        bits[%d].add()\n", i, i)
	}
	for name, body := range map[string]string{
		"an if": loop + loop + "    if e.args.count != 0:\n        bits[0].add()\n", "many": loop + bits,
		"many behind two": loop + fib + bits,
		"a bool":          fib + fib + "    last[0] = (s, bool(e.args.count), e.args.fd)\n",
		"between": loop + "    if e.args.count > 5:\n        s += 1\n" + fib +
			"    if e.args.count > 6:\n        s += 1\n",
	} {
		unskipped(t, func() (skipped int) {
			e := startrace(t, "-q", script(t, `
bits, last, done = count(), table(), cell(0)

def h(e):
    s = 0
`+body+`    bits[s].add()
    done.add(1)
probe("tracepoint:syscalls:sys_enter_read", h, where = lambda e: e.args.count == 700)
at_exit(lambda: print(done.get(), len(bits.take().items()) > 0))
`), "-c", "dd if=/dev/zero of=/dev/null bs=700 count=1 status=none")
			skipped = e.skipped(t)
			if strings.TrimSpace(e.stdout) != "1 True" && skipped == 0 {
				t.Errorf("%s: got %s%s", name, e.stdout, e.stderr)
			}
			return skipped
		})
	}
}
