package accept

import (
	"fmt"
	"strings"
	"testing"
)

// A probe that is disabled or detached takes no more events once the call has returned, though the kernel takes
// programs off in the background: what it counts while a program makes calls at full rate stays as it was then.
//
// > Once `.disable()` or `.detach()` has returned, the kernel runs the programs of the probe no more.
// > Where that takes longer than a second, as with hundreds of tracepoints, they return before.
func TestNoneOnceDetached(t *testing.T) {
	needTracing(t)
	workload := program(t, "workload")
	points := []string{"tracepoint:syscalls:sys_enter_getppid", "rawtracepoint:sys_enter", "syscall:getppid",
		"uprobe:" + workload + ":*.RawSyscallNoError*"}
	if kernelFunctions(t) {
		points = append(points, "kprobe:"+syscallFunction("getppid"))
	}
	for _, point := range points {
		for _, how := range []string{"disable", "detach"} {
			e := startrace(t, "-q", script(t, fmt.Sprintf(`
n = count()
p = probe(%q, kernel = lambda e: n.add())
then = []

def tick():
    if len(then) == 1:
        then.append(n.value - then[0])
        exit()
    elif n.value > 0 and not then:
        p.%s()
        then.append(n.value)

every("50ms", tick)
at_exit(lambda: print(then[1]))
`, point, how)), "-c", workload+" getppid 1000000000 1").ok(t)
			if strings.TrimSpace(e.stdout) != "0" {
				t.Errorf("%s, %s: %s events came later", point, how, strings.TrimSpace(e.stdout))
			}
		}
	}
}
