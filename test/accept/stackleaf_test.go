package accept

import (
	"regexp"
	"strings"
	"testing"
)

// A system call that does not return is the last instruction of its function. Its stack begins there, and not with the
// function behind, also where the tables of the process are not known yet. What exec has begun stands behind no call.
//
// > A stack of a program that is taken in a system call begins with the function that makes it, also where the call is
// > the last instruction there.
func TestStackOfLastCall(t *testing.T) {
	text := script(t, `
probe(["tracepoint:syscalls:sys_enter_exit_group", "rawtracepoint:sys_enter"],
      lambda e: print(e.ustack().folded()), where = lambda e: e.comm.startswith("chain"))
`)
	for _, name := range []string{"chain", "chain-frameless", "chain-shared-pie"} {
		bin := traceable(t, name)
		e := startrace(t, text, "-q", "-c", bin+" leaves").ok(t)
		ends := regexp.MustCompile(`(?m)^(.*;)?main;leaves$`).FindAllString(e.stdout, -1)
		if len(ends) != 2 || strings.Contains(e.stdout, "behind") {
			t.Errorf("%s: %d stacks of leaves, want 2:\n%s", name, len(ends), e.stdout)
		}
	}
	bin := traceable(t, "chain")
	e := startrace(t, script(t, `
n = count()
probe("tracepoint:sched:sched_process_exec", kernel = lambda e: n[e.ustack()[0].name].add())
`), "-q", "--format", "csv", "-c", bin+" brief 20").ok(t)
	e.has(t, `(?m)^n,_start,21$`)
}
