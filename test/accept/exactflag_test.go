package accept

import (
	"fmt"
	"os/exec"
	"regexp"
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

// With --exact no call is missed on any kernel, and without a flag none of syscall:. Of others, and with --no-exact,
// what is missed is said, which is nothing before 6.19.
//
// > A kernel that preempts a program (6.19 on) does not run it for other tasks of that CPU meanwhile.
//
// > Such an event is missed.
//
// > The last line of the run says how many were missed.
//
// > | `syscall:` | misses none | misses none | misses none |
//
// > | `tracepoint:syscalls:…` | misses none | can miss some | misses none |
//
// > With `--exact` `tracepoint:syscalls:` and spans of those miss nothing on these kernels in any script.
//
// > `--no-exact` lets the kernel preempt the programs of `syscall:`, too, so that none holds up a thread that is more
// > urgent.
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
			for _, flags := range [][]string{nil, {"--no-exact"}} {
				e, counted, calls := competing(t, c.point, c.where, flags...)
				said := e.skipped(t) + e.lost(t)
				none := flags == nil && strings.HasPrefix(c.point, `"syscall:`) || !atLeast(t, 6, 19)
				if counted > calls || counted+said < calls || said > 0 && none {
					t.Errorf("%q: %d of %d were counted, and %d are said to be missed; stderr: %s", flags, counted,
						calls, said, e.stderr)
				}
			}
		})
	}
}

// Tools that see files read and written miss nothing of them, and say nothing of what the kernel skips, while programs
// that write compete for the CPUs.
//
// > In a script that has `syscall:` points as well, `tracepoint:syscalls:` misses none either.
func TestFileToolsMissNone(t *testing.T) {
	compete(t)
	n := scaled(4000)
	writers := fmt.Sprintf(`sh -c 'for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=%s/$i bs=512 count=%d status=none &
		done; wait'`, t.TempDir(), n)
	e := startrace(t, script(t, `
load("std/fileio.star", "fileio")
writes, stores, sizes = count(), count(), total()
def moved(e):
    if e.write:
        writes.add()
        sizes.add(e.bytes)
mine = lambda e: e.comm == "dd"
probe(fileio.moved(), kernel = moved, where = mine)
probe(fileio.stored(), kernel = lambda e: stores.add(), where = mine)
at_exit(lambda: print("written", writes.value, sizes.value, stores.value))
`), "-c", writers).ok(t)
	if want := fmt.Sprintf("written %d %d 0\n", 8*n, 8*n*512); !strings.Contains(e.stdout, want) || e.skipped(t) > 0 {
		t.Errorf("got %s, want %s; stderr: %s", e.stdout, want, e.stderr)
	}
}

// missedLine says how many calls of those that were made were missed.
var missedLine = regexp.MustCompile(
	`(?m)^startrace: (up to )?(\d+) of the (\d+) calls of .* not seen: the kernel skips`)

// What was missed of system calls is counted exactly for a command, while other processes make as many of them.
//
// > Where calls of `syscall:` can be missed, they are counted a second time, by a counter of the kernel's own that
// > misses none.
//
// > It counts those of the processes that are traced.
//
// > With `-c` it is exact: "3 of the 20000 calls of syscall:openat not seen".
//
// > Without `-c` the number can have calls in it that had begun before, or had not ended: "up to 3 of the 20000 calls".
//
// > It begins with "up to" also where the probe has a `where=`, which could have passed over them, or an `event()`.
func TestMissedCalls(t *testing.T) {
	for name, c := range map[string]struct {
		point, where string
		bound        bool // where= could have passed over what was missed
	}{
		"a call":    {point: "syscall:getppid"},
		"two calls": {point: "syscall:{getppid,execve}"}, // the counting of a held command begins in its execve
		"where":     {"syscall:getppid", ` and e.pid > 0`, true},
		"all calls": {"syscall:*", ` and e.func == "getppid"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			compete(t)
			where := ""
			if c.bound {
				where = ", where = lambda e: True" + c.where
			}
			run, d := traced(t, fmt.Sprintf("n = count()\nprobe(%q, lambda e: n[e.func].add()%s)\n"+
				"at_exit(lambda: print(\"counted\", n[\"getppid\"].value))\n", c.point, where), []string{"--no-exact"},
				"getppid", fmt.Sprint(scaled(100_000)), "8")
			counted := number(t, run.stdout, `(?m)^counted (\d+)$`)
			said := missedLine.FindStringSubmatch(run.stderr)
			if said == nil {
				if counted != d.Calls {
					t.Errorf("counted %d of %d; stderr: %s", counted, d.Calls, run.stderr)
				}
				return
			}
			missed, made := number(t, said[2], `(.*)`), number(t, said[3], `(.*)`)
			if said[1] != "" != c.bound || counted+missed < d.Calls || made < d.Calls ||
				c.point == "syscall:getppid" && (counted+missed != d.Calls || made != d.Calls) ||
				c.point == "syscall:{getppid,execve}" && made != d.Calls+1 {
				t.Errorf("counted %d of %d; stderr: %s", counted, d.Calls, run.stderr)
			}
		})
	}
}

// Where perf does not count the calls, the line has what the kernel counts of the programs.
//
// > These counters are not used with `--cgroup`, `--container` and `--user`, nor for more than 16 calls by name with
// > `-c` or `-p`.
func TestMissedUncounted(t *testing.T) {
	for name, c := range map[string]struct {
		point string
		flags []string
	}{
		"user":       {`"syscall:getppid"`, []string{"--user", "root"}},
		"many names": {`"syscall:get*"`, nil},
	} {
		e, counted, calls := competing(t, c.point, ` and e.func == "getppid"`, append(c.flags, "--no-exact")...)
		if said := e.skipped(t) + e.lost(t); counted+said < calls || missedLine.MatchString(e.stderr) {
			t.Errorf("%s: counted %d of %d, stderr: %s", name, counted, calls, e.stderr)
		}
	}
}

// No more is said to be missed than the traced process has made, while others make many calls.
func TestMissesOfOthers(t *testing.T) {
	compete(t)
	const text = `n = count()
probe("syscall:umask", lambda e: n.add(), where = lambda e: e.args.mask == 0o27)
at_exit(lambda: print("counted", n.value))`
	for range 5 {
		e := startrace(t, "--no-exact", "-e", text, "-c", "sh -c 'umask 027'").ok(t)
		// A shell can ask for the mask before it sets it.
		said, n := e.skipped(t), number(t, e.stdout, `(?m)^counted (\d+)$`)
		if n+said < 1 || n > 1 || said > 4 {
			t.Errorf("counted %d; stderr: %s", n, e.stderr)
		}
	}
}

// compete runs a process that is not traced until the test ends. Its threads come to the programs of all system calls
// all the time.
func compete(t *testing.T) {
	t.Helper()
	c := exec.Command(program(t, "workload"), "getppid", fmt.Sprint(1<<40), "2")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
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
	for _, flags := range [][]string{nil, {"--exact"}, {"--no-exact"}} {
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
