package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// competing counts calls of getppid at a point, while as many threads come to it as make the kernel preempt programs
// where it does, and gives how many were counted and how many there were.
func competing(t *testing.T, point, where string, flags ...string) (e *ended, counted, calls int) {
	t.Helper()
	run, d := traced(t, fmt.Sprintf(`n = count()
probe(%s, lambda e: n.add(), where = lambda e: e.comm == "wl-getppid"%s)
at_exit(lambda: print("counted", n.value))
`, point, where), flags, "getppid", fmt.Sprint(scaled(300_000)), "8")
	return &run, number(t, run.stdout, `(?m)^counted (\d+)$`), d.Calls
}

// With --exact no call is missed on any kernel; without it none before 6.19, and later what is missed is said.
//
// > A kernel that preempts a program (6.19 on) does not run it for other tasks of that CPU meanwhile.
//
// > Such an event is missed.
//
// > The last line of the run says how many were missed at most: "up to 4 events of syscall:openat not seen".
//
// > | `tracepoint:syscalls:…`, `syscall:` | misses none | can miss some | misses none |
//
// > With `--exact` system calls miss nothing on these kernels, either: `syscall:`, `tracepoint:syscalls:` and spans of
// > those.
func TestExactFlag(t *testing.T) {
	enter, exit := "tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_exit_getppid"
	for name, c := range map[string]struct{ point, where string }{
		"call":       {point: `"syscall:getppid"`},
		"all calls":  {`"syscall:*"`, ` and e.func == "getppid"`},
		"tracepoint": {point: fmt.Sprintf("%q", enter)},
		"span":       {point: fmt.Sprintf("span(%q, %q)", enter, exit)},
	} {
		t.Run(name, func(t *testing.T) {
			if e, counted, calls := competing(t, c.point, c.where, "--exact"); counted != calls || e.skipped(t) > 0 {
				t.Errorf("counted %d of %d; stderr: %s", counted, calls, e.stderr)
			}
			e, counted, calls := competing(t, c.point, c.where)
			said := e.skipped(t) + e.lost(t)
			if counted > calls || counted+said < calls || said > 0 && !atLeast(t, 6, 19) {
				t.Errorf("without the flag %d of %d were counted, and %d are said to be missed; stderr: %s", counted,
					calls, said, e.stderr)
			}
		})
	}
}

// > | `uprobe:`, `uretprobe:`, `ufunc:`, `usdt:` | misses none | misses none | misses none |
func TestUserProbesMissNone(t *testing.T) {
	path := traceable(t, "accounts")
	const each = 5_000                                              // by eight threads
	for _, kind := range []string{"uprobe", "uretprobe", "ufunc"} { // those of usdt: are uprobes
		e := startrace(t, script(t, fmt.Sprintf(`n = count()
probe("%s:%s:mid", lambda e: n.add())
at_exit(lambda: print("counted", n.value))
`, kind, path)), "-c", fmt.Sprintf("%s threads %d", path, each)).ok(t)
		if n := number(t, e.stdout, `(?m)^counted (\d+)$`); n != 8*each || e.skipped(t)+e.lost(t) > 0 {
			t.Errorf("%s: counted %d of %d; stderr: %s", kind, n, 8*each, e.stderr)
		}
	}
}

// Programs of kprobes, of the functions of programs and of other tracepoints miss nothing.
//
// > | `kprobe:`, `kretprobe:`, `func:` | misses none | misses none | misses none |
//
// > | `tracepoint:`, but for single system calls | misses none | misses none | misses none |
func TestMissesNone(t *testing.T) {
	for _, kind := range []string{"kprobe", "kretprobe", "func"} {
		t.Run(kind, func(t *testing.T) {
			needKernelFunctions(t)
			prefix := syscallFunction("")
			missesNone(t, fmt.Sprintf("%q", kind+":"+prefix+"getppid"), "")
		})
	}
	t.Run("tracepoint", func(t *testing.T) {
		missesNone(t, `"tracepoint:raw_syscalls:sys_enter"`, ` and syscall_name(e.args.id) == "getppid"`)
	})
}

func missesNone(t *testing.T, point, where string) {
	if e, counted, calls := competing(t, point, where); counted != calls || e.skipped(t)+e.lost(t) > 0 {
		t.Errorf("%s: counted %d of %d; stderr: %s", point, counted, calls, e.stderr)
	}
}

// What --exact attaches has the same arguments, results and times, of the same calls.
func TestExactValues(t *testing.T) {
	const text = `
def began(e):
    printf("enter %d %s\n", e.args.fd, e.args.buf != 0)

def ended(e):
    printf("exit %d\n", e.args.ret)

probe("syscall:write", lambda e: printf("call %d %d %d %s\n", e.args.fd, e.args.count, e.ret, e.duration > 0),
      where = lambda e: e.comm == "sh")
probe("tracepoint:syscalls:sys_enter_write", began, where = lambda e: e.comm == "sh")
probe("tracepoint:syscalls:sys_exit_write", ended, where = lambda e: e.comm == "sh")
probe("syscall:execve", lambda e: printf("exec %s %d\n", e.args.argv, e.ret))
`
	const want = "exec (\"sh\", \"-c\", \"echo four; exec /bin/true x\") 0\n" +
		"enter 1 True\ncall 1 5 5 True\nexit 5\nexec (\"/bin/true\", \"x\") 0\n"
	for _, flags := range [][]string{nil, {"--exact"}} {
		e := startrace(t, append(flags, "-e", text, "-c", "sh -c 'echo four; exec /bin/true x'")...).ok(t)
		got := strings.ReplaceAll(e.stdout, "four\n", "")
		// The kernel decides which of the two ends of the call comes first.
		if got = strings.Replace(got, "exit 5\ncall 1 5 5 True\n", "call 1 5 5 True\nexit 5\n", 1); got != want {
			t.Errorf("%q: got\n%swant\n%s%s", flags, got, want, e.stderr)
		}
	}
}

// Children are followed also where many are made at once on one CPU, and the kernel preempts programs.
//
// > `-c` and `-f` miss no child where the kernel has kprobes.
func TestFollowsMany(t *testing.T) {
	needTracing(t)
	const shells, each = 8, 100
	loop := fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); /bin/true; done", each)
	e := startrace(t, "-e", `n = count()
probe("tracepoint:sched:sched_process_exec", lambda e: n[e.comm].add())
at_exit(lambda: print("counted", n["true"].value))`,
		"-c", fmt.Sprintf("sh -c 'for s in %s; do (%s) & done; wait'", strings.Repeat(" x", shells), loop)).ok(t)
	if n := number(t, e.stdout, `(?m)^counted (\d+)$`); n != shells*each || e.skipped(t)+e.lost(t) > 0 {
		t.Errorf("counted %d of %d; stderr: %s", n, shells*each, e.stderr)
	}
	tried.Many(t, "%d children", shells*each)
}
