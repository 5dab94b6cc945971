package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// needKernelFunctions skips where the kernel has no kprobes.
func needKernelFunctions(t *testing.T) {
	t.Helper()
	needTracing(t)
	needGuest(t)
	if !kernelFunctions(t) {
		t.Skip("needs a kernel with CONFIG_KPROBES")
	}
}

// reading is a filter for the thread of workload reads: all that it calls is of known number.
const reading = `where = lambda e: e.comm == "wl-reads"`

// programCounter is the register of the place in the program.
var programCounter = map[string]string{"amd64": "ip", "arm64": "pc"}[runtime.GOARCH]

// Each way to probe a kernel function sees each call, with its arguments by name and its result.
// (S1-03, S3-03, S4-03, S4-05, S4-06, S4-15)
//
// > | `func:FUNCTION` | | a span: a call of a kernel function, entry and return as one event, by the best way that this
// > kernel has |
// > | `kprobe:FUNCTION[+OFFSET]`, `kretprobe:FUNCTION` | `k`, `kr` | a kernel function's entry (or a place in it), its
// > return; `e.args` and `e.ret` typed by BTF |
// > | `fentry:FUNCTION`, `fexit:FUNCTION` | `f`, `fr` | the same by trampolines; `fexit` has arguments and result |
func TestKernelFunctions(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(2000)
	e, d := traced(t, `
n = count()
sizes = count()
rets = count()
at_exit(lambda: [print("hit", k, v) for k, v in n.items()])
at_exit(lambda: [print("size", p, s, v) for (p, s), v in sizes.items()])
at_exit(lambda: [print("ret", p, s, v) for (p, s), v in rets.items()])
def enter(e):
    n[e.probe].add()
    sizes[e.probe, e.args.count].add()
def leave(e):
    n[e.probe].add()
    rets[e.probe, e.ret].add()
def both(e):
    enter(e)
    rets[e.probe, e.ret].add()
probe("kprobe:vfs_read", enter, `+reading+`)
probe("fentry:vfs_read", enter, `+reading+`)
probe("kretprobe:vfs_read", leave, `+reading+`)
probe("fexit:vfs_read", both, `+reading+`)
probe("func:vfs_read", both, `+reading+`)
named = count()
probe("kprobe:vfs_read", lambda e: named[path(e.args.file), e.regs.`+programCounter+` != 0,
                                               e.args[2] == e.args.count].add(), `+reading+`)
at_exit(lambda: [print("named", k, v) for k, v in named.items()])
`, nil, "reads", strconv.Itoa(n), "1,100,4096")
	for _, provider := range []string{"kprobe", "kretprobe", "fentry", "fexit", "func"} {
		hits := number(t, e.stdout, fmt.Sprintf(`(?m)^hit %s:vfs_read (\d+)$`, provider))
		checkAccount(t, e, hits, n)
		for size, want := range d.Sizes {
			for _, kind := range map[string][]string{"kprobe": {"size"}, "fentry": {"size"}, "kretprobe": {"ret"},
				"fexit": {"size", "ret"}, "func": {"size", "ret"}}[provider] {
				checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^%s %s:vfs_read %d (\d+)$`, kind, provider,
					size)), want)
			}
		}
	}
	checkAccount(t, e, number(t, e.stdout, `(?m)^named \("/dev/zero", True, True\) (\d+)$`), n)
}

// One probe at all functions of a pattern knows which of them was called.
func TestKernelFunctionPatterns(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(1000)
	e, _ := traced(t, `
for point in ["kprobe:vfs_*", "kretprobe:vfs_*"]:
    def declare(point):
        hits = count()
        probe(point, lambda e: hits[e.func, e.probe].add(), `+reading+`)
        at_exit(lambda: [print("hit", f, p, v) for (f, p), v in hits.items()])
    declare(point)
`, nil, "reads", strconv.Itoa(n), "64")
	for _, provider := range []string{"kprobe", "kretprobe"} {
		checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^hit vfs_read %s:vfs_read (\d+)$`, provider)), n)
	}
	number(t, e.stderr, `Attached 2 probes at (\d+) points`)
}

// A function of a pattern that another of it calls is one call further in, and both end.
//
// > `fexit` and `func` of a few functions use trampolines, which miss no call.
func TestKernelFunctionNesting(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(1000)
	e, _ := traced(t, `
calls = count()
probe("func:{vfs_read,read_zero,read_iter_zero}",
      lambda e: calls[e.func if e.func == "vfs_read" else "read", e.depth, e.ret].add(), `+reading+`)
at_exit(lambda: [print("call", f, d, r, v) for (f, d, r), v in calls.items()])
`, nil, "reads", strconv.Itoa(n), "64")
	checkAccount(t, e, number(t, e.stdout, `(?m)^call vfs_read 0 64 (\d+)$`), n)
	checkAccount(t, e, number(t, e.stdout, `(?m)^call read 1 64 (\d+)$`), n)
}

// Calls of many functions are seen by one program at entry and return where the kernel has sessions (6.10), by two
// elsewhere: none is lost, nor paired with another, whatever a filter at the start lets through.
func TestKernelSessions(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(1000)
	// More functions than get trampolines, all with a result.
	const functions = "{vfs_read,read_zero,read_iter_zero,vfs_write,vfs_fsync,vfs_fsync_range," +
		"vfs_fallocate,vfs_getattr,vfs_iter_read,vfs_iter_write,vfs_rmdir,vfs_link,vfs_unlink,vfs_rename,vfs_symlink," +
		"vfs_mknod,vfs_create,vfs_truncate,vfs_setxattr,vfs_getxattr,vfs_listxattr,vfs_statfs}"
	e, d := traced(t, `
calls = count()
timed = count()
began = count()
probe("func:`+functions+`",
      lambda e: calls[e.func if e.func == "vfs_read" else "read", e.depth, e.ret].add(), `+reading+`)
probe("func:`+functions+`", lambda e: timed[e.ret, e.duration > 0, e.start.time + e.duration == e.time].add(),
      where = lambda e: e.comm == "wl-reads" and e.func == "vfs_read", start = lambda e: began[e.func].add())
at_exit(lambda: [print("call", f, d, r, v) for (f, d, r), v in calls.items()])
at_exit(lambda: [print("timed", k, v) for k, v in timed.items()])
at_exit(lambda: [print("began", k, v) for k, v in began.items()])
`, []string{"-v"}, "reads", strconv.Itoa(n), "64,100")
	for size, want := range d.Sizes {
		checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^call vfs_read 0 %d (\d+)$`, size)), want)
		checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^call read 1 %d (\d+)$`, size)), want)
		checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^timed \(%d, True, True\) (\d+)$`, size)), want)
	}
	checkAccount(t, e, number(t, e.stdout, `(?m)^began vfs_read (\d+)$`), n)
	has := atLeast(t, 6, 10) && runtime.GOARCH == "amd64" || atLeast(t, 6, 14) // fprobes, which arm64 has since 6.14
	checkSessions(t, e, 2, has, has && atLeast(t, 6, 14))
	// Before 6.14 probes that share a function have none, for the order of their returns; one alone has.
	e, _ = traced(t, `
n = count()
probe("func:`+functions+`", lambda e: n[e.ret].add(), `+reading+`)
`, []string{"-v"}, "reads", "1", "64")
	checkSessions(t, e, 1, has, has)
}

// checkSessions checks that probes are compiled to be sessions, and that they are attached so.
func checkSessions(t *testing.T, e ended, probes int, compiled, attached bool) {
	t.Helper()
	want := 0
	if compiled {
		want = probes
	}
	if got := strings.Count(e.stderr, "one program at entry and return (kprobe session)"); got != want {
		t.Errorf("%d sessions, want %d:\n%s", got, want, e.stderr)
	}
	if two := strings.Count(e.stderr, "no session there"); (two > 0) != (compiled && !attached) {
		t.Errorf("%d of %d sessions are two programs, want sessions: %v\n%s", two, probes, attached, e.stderr)
	}
}

// Calls that are open at the same time are all seen to end where they are followed one by one, without a warning and by
// nothing that stays: before 6.7 by events of tracefs, from 6.14 by links.
func TestKernelFunctionOpenCalls(t *testing.T) {
	needKernelFunctions(t)
	if atLeast(t, 6, 7) && !atLeast(t, 6, 14) {
		t.Skip("needs a kernel other than 6.7 to 6.13, whose links follow few calls (TestKernelFunctionCountedCalls)")
	}
	const sleepers = 200
	e, _ := traced(t, `
n = count()
def end(e):
    n[e.probe, e.ret].add()
asleep = lambda e: e.comm == "wl-sleeps"
probe("kretprobe:hrtimer_nanosleep", end, where = asleep)
probe("kretprobe:hrtimer_nanosleep{,_x}", end, where = asleep)
at_exit(lambda: [print(point, ret, seen) for (point, ret), seen in n.items()])
`, nil, "sleeps", strconv.Itoa(sleepers), "5s")
	if seen := number(t, e.stdout, `(?m)^kretprobe:hrtimer_nanosleep 0 (\d+)$`); seen != 2*sleepers ||
		strings.Contains(e.stderr, "warning") || strings.Contains(e.stderr, "calls of") {
		t.Errorf("%d of 2 × %d calls seen: %s", seen, sleepers, e.stderr)
	}
	noReturnEvents(t)
}

// Links of 6.7 to 6.13 follow few calls and count the others.
//
// > A `kretprobe` follows a bounded number of calls of a function at a time.
// > Where one link probes many functions (`kprobe_multi`), it is a few for each CPU until Linux 6.14.
// > The kernel counts those of all processes, so the number is the most that can be missing of the traced ones.
// > Where the kernel has no such links, or none that count (before 6.7), it is 4096, and less for patterns of more than
// > 256 functions.
func TestKernelFunctionCountedCalls(t *testing.T) {
	needKernelFunctions(t)
	if !atLeast(t, 6, 7) {
		t.Skip("needs a kernel whose links count calls, from 6.7 on (before: TestKernelFunctionOpenCalls)")
	}
	const sleepers = 8
	file := filepath.Join(t.TempDir(), "sleep.sh")
	if err := os.WriteFile(file, fmt.Appendf(nil, "for i in $(seq %d); do sleep 3 & done\nwait\n", sleepers),
		0o644); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "-f", "-e",
		`n = count(); probe("kretprobe:hrtimer_nanosleep", lambda e: n.add(), where = lambda e: e.comm == "sleep")`,
		"-e", `at_exit(lambda: print("seen", n.value))`, "-c", "sh "+file).ok(t)
	checkAccount(t, e, number(t, e.stdout, `seen (\d+)`), sleepers)
}

// noReturnEvents fails if return probes have been left in tracefs.
func noReturnEvents(t *testing.T) {
	t.Helper()
	list, err := os.ReadFile("/sys/kernel/tracing/kprobe_events")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		t.Errorf("left behind:\n%s", list)
	}
}

// What cannot be followed, for tracefs cannot be written, is warned of before.
//
// > Calls that a `kretprobe` misses are counted and reported.
// > Where they cannot be counted, a warning says so.
func TestKernelFunctionFewReturns(t *testing.T) {
	needKernelFunctions(t)
	if atLeast(t, 6, 7) {
		t.Skip("needs a kernel whose links to functions do not count what they miss, before 6.7")
	}
	const sleepers = 100
	events := "/sys/kernel/tracing/kprobe_events"
	if err := unix.Mount(events, events, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", events, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(events, 0); err != nil {
			t.Error(err)
		}
	})
	e, _ := traced(t, `
n = count()
probe("kretprobe:hrtimer_nanosleep", lambda e: n.add(), where = lambda e: e.comm == "wl-sleeps")
at_exit(lambda: print("seen", n.value))
`, nil, "sleeps", strconv.Itoa(sleepers), "3s")
	if seen := number(t, e.stdout, `seen (\d+)`); seen >= sleepers ||
		!strings.Contains(e.stderr, "does not say how many more it misses; fexit:FUNCTION") {
		t.Errorf("%d of %d calls seen: %s", seen, sleepers, e.stderr)
	}
}

// A span between two functions of one's own choice.
func TestKernelFunctionSpan(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(1000)
	e, _ := traced(t, `
s = span("kprobe:vfs_read", "kretprobe:vfs_read", key = lambda e: e.tid)
pairs = count()
probe(s, lambda e: pairs[e.start.args.count == e.ret, e.duration > 0].add(), where = lambda e: e.comm == "wl-reads")
at_exit(lambda: [print("pairs", k, v) for k, v in pairs.items()])
`, nil, "reads", strconv.Itoa(n), "1,64,100")
	checkAccount(t, e, number(t, e.stdout, `(?m)^pairs \(True, True\) (\d+)$`), n)
}

// An offset is that of an instruction, here the one behind the call that every function of a traced kernel begins with;
// one in the middle of an instruction is refused.
func TestKernelFunctionOffset(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(100)
	const text = `
hits = count()
probe("kprobe:vfs_read+%d", lambda e: hits.add(), ` + reading + `)
at_exit(lambda: print("hits", hits.value))
`
	found := false
	inside := regexp.MustCompile(`vfs_read\+0x\d is not the beginning of an instruction`)
	for _, offset := range map[string][]int{"amd64": {5, 9}, "arm64": {6, 8}}[runtime.GOARCH] {
		e := startrace(t, script(t, fmt.Sprintf(text, offset)), "-c",
			program(t, "workload")+" reads "+strconv.Itoa(n)+" 64")
		if e.status == 0 {
			found = true
			checkAccount(t, e, number(t, e.stdout, `hits (\d+)`), n)
		} else if !inside.MatchString(strings.Join(strings.Fields(e.stderr), " ")) {
			t.Errorf("+%d: %s", offset, e.stderr)
		}
	}
	if !found {
		t.Error("no offset does")
	}
	e := startrace(t, script(t, fmt.Sprintf(text, 1)), "-c", "true")
	if e.status != failedBeside || !strings.Contains(strings.Join(strings.Fields(e.stderr), " "),
		"is not the beginning of an instruction") {
		t.Errorf("+1: status %d: %s", e.status, e.stderr)
	}
}

// What must not be probed is refused by name and left out of patterns.
func TestKernelFunctionRefused(t *testing.T) {
	needKernelFunctions(t)
	e := startrace(t, "-e", `probe("kprobe:notify_die")`, "-c", "true")
	if e.status != failedBeside || !strings.Contains(e.stderr, "notify_die") {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}
