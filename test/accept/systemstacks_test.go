package accept

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The tools that show stacks of the whole system have whole ones of programs that ran before, in C without frame
// pointers and in Go: at samples, where threads sleep, and at system calls. What is not whole was taken before the
// tables were ready, of which there is nothing to expect, or was cut at the most frames.
//
// > Where a run is for all processes, it waits at its beginning until those that there are have their tables, a second
// > at most.
func TestStacksOfWholeSystem(t *testing.T) {
	needTracing(t)
	needGuest(t)
	for _, cmd := range []*exec.Cmd{
		exec.Command(traceable(t, "chain-frameless"), "1000000000"),
		exec.Command(program(t, "workload"), "spin", "2", "600s"),
	} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	allowed := regexp.MustCompile(`(chain-frameless|workload|accept\.test) do(es)? not reach its beginning: ` +
		`(taken before it was known what the program has mapped|more than 127 frames)$`)
	for _, args := range [][]string{{"profile", "-U", "-F", "99"}, {"offcputime", "-U", "--min", "0ms"},
		{"stack", "tracepoint:syscalls:sys_enter_write", "--user-stacks"}} {
		e := startrace(t, append(args, "--format", "folded", "--duration", "4s")...).ok(t)
		for line := range strings.Lines(e.stderr) {
			if strings.Contains(line, "not reach its beginning") && !strings.Contains(line, "busybox") &&
				!allowed.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s: %s", args[0], line)
			}
		}
		whole := "_start;__libc_start_main;__libc_start_call_main;main;a;b;c;write "
		if args[0] == "stack" && !strings.Contains(e.stdout, whole) {
			t.Errorf("%s: no whole stack of the program in C:\n%s", args[0], excerpt(e.stdout))
		}
	}
}
