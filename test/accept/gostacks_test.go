package accept

import (
	"regexp"
	"strings"
	"testing"
)

// Go keeps frame pointers, and its stacks end at runtime.goexit.
func TestStackOfGo(t *testing.T) {
	const text = `
n = count()
probe("tracepoint:syscalls:sys_enter_getppid", kernel = lambda e: n[e.ustack()].add(),
      where = lambda e: e.comm == "wl-getppid")
`
	e, d := traced(t, text, []string{"--format", "folded"}, "getppid", "2000", "1")
	seen := 0
	whole := regexp.MustCompile(`^runtime\.goexit[\w.]*;.*;main\.onThreads\.func1;.*RawSyscall\S+ \d+$`)
	for line := range strings.Lines(e.stdout) {
		line = strings.TrimRight(line, "\n") // RawSyscall has no frame, so its caller is not seen
		if !whole.MatchString(line) {
			t.Errorf("stack %q", line)
		}
		seen += number(t, line, ` (\d+)$`)
	}
	checkAccount(t, e, seen, d.Calls)
}

// Go's runtime asks for the time on the stack of a thread, which may lie beside that of the goroutine that asks.
func TestStackOfGoAtTime(t *testing.T) {
	const text = `
n = count()
probe("profile:499hz", kernel = lambda e: n[e.ustack()].add(), where = lambda e: e.comm == "wl-spin")
`
	e, _ := traced(t, text, []string{"--format", "folded"}, "spin", "2", "1s")
	if !strings.Contains(e.stdout, ";time.now") || strings.Contains(e.stderr, "a frame that leads back") {
		t.Errorf("got %s, said %q", excerpt(e.stdout), e.stderr)
	}
}
