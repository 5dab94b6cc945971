package accept

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"golang.org/x/sys/unix"
)

// Short scripts that other tracers are shown with, by the numbers of their rows, on a workload of known number.
func TestRows(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	opens := []string{"opens", "30", "3", dir}
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 - nice: what the workload has, too
	if err != nil {
		t.Fatal(err)
	}
	nice := 20 - raw
	for _, tt := range []struct {
		rows, text string
		work       []string
		want       []string // patterns of what is printed
	}{
		{"S2-01 S3-11", `probe("syscall:getppid")`, []string{"getppid", "3"},
			[]string{`(?m)^.*wl-getppid.*syscall:getppid.*$`, `Attached 1 probe`}},
		{"S2-02", `probe("syscall:write", lambda e: print("wrote", e.args.count > 0), ` +
			`where = lambda e: e.args.count != 0)`, []string{"getppid", "1"}, []string{`wrote True`}},
		{"S2-03 S3-08 S3-12", `probe("syscall:open*", lambda e: print("open", e.comm, e.args.filename), ` +
			`where = lambda e: hasattr(e.args, "filename"))`, opens,
			[]string{`open wl-opens ` + regexp.QuoteMeta(filepath.Join(dir, "missing")), `open wl-opens ` +
				regexp.QuoteMeta(filepath.Join(dir, "file"))}},
		// Go's runtime calls, too, the more often the less of a CPU the workload gets.
		{"S2-04", "n = count()\nprobe(\"syscall:*\", lambda e: n[e.comm].add())", []string{"getppid", "500"},
			[]string{`(?m)^wl-getppid +5\d\d$`}},
		{"S2-05 S3-10", "n = count()\nprobe(\"syscall:getp*\", lambda e: n[e.func, e.probe].add())",
			[]string{"getppid", "400"}, []string{`(?m)^getppid +syscall:getppid +400$`}},
		{"S2-06", "sizes = hist()\nprobe(\"syscall:read\", lambda e: sizes[e.comm].add(e.ret), " +
			"where = lambda e: e.comm == \"wl-reads\")", []string{"reads", "100", "64"},
			[]string{`wl-reads`, `\b100\b`}},
		{"S2-09", "n = count()\nprobe(\"syscall:{fork,vfork,clone,clone3}\", lambda e: n[e.comm].add(), " +
			"where = lambda e: e.ret > 0)", []string{"exits", "20"}, []string{`(?m)^w\S+ +\d+$`}},
		{"S2-11", `probe("syscall:exit_group", lambda e: print("exit", e.comm, e.args.error_code), ` +
			`where = lambda e: e.args.error_code != 0)`, []string{"exits", "6"},
			[]string{`exit \S+ 5`}},
		{"S2-10", "out = columns(uid = \"%5d\", pid = \"%7d\", ppid = \"%7d\", args = \"%s\")\n" +
			"probe(\"syscall:execve\", lambda e: out(e.uid, e.pid, e.ppid, \" \".join(e.start.args.argv)))",
			[]string{"getppid", "1"},
			[]string{`(?m)^  UID     PID    PPID ARGS$`, `(?m)^ +0 +\d+ +\d+ \S+/workload -report \S+ getppid 1$`}},
		{"S2-26", parity, opens, []string{fmt.Sprintf(`(?m)^wl-opens %d 8 opened `, 20+nice) + regexp.QuoteMeta(dir) +
			`/file`, fmt.Sprintf(`(?m)^wl-opens %d 8 failed `, 20+nice) + regexp.QuoteMeta(dir) + `/missing`,
			`(?m)^sizes:\n(\[\d.*\|[@ ]+\|\n)+`, `(?m)^calls\[\n(    \w\S+.*\n)+\]: 30 \(`}},
		{"S3-09", "load(\"std/opensnoop.star\", \"opened\")\nn = count()\n" +
			"probe(opened(), lambda e: n[e.comm, e.func].add())", opens, []string{`(?m)^wl-opens +openat +30$`}},
		{"S3-17", `probe(first("tracepoint:syscalls:sys_enter_nowhere", "tracepoint:syscalls:sys_enter_getppid", ` +
			`"kprobe:__x64_sys_getppid"), lambda e: print("by", e.probe))`, []string{"getppid", "1"},
			[]string{`(?m)^by tracepoint:syscalls:sys_enter_getppid$`}},
		{"S4-01", `probe("tracepoint:sched:sched_switch", where = lambda e: e.comm == "workload")`,
			[]string{"exits", "6"},
			[]string{fmt.Sprintf(`(?m)^ *\d+\.\d{6} +\d+ workload +\d+ +tracepoint:sched:sched_switch `+
				`prev_comm=workload prev_pid=\d+ prev_prio=%d`, 120+nice) +
				` prev_state=S ==> next_comm=.* next_pid=\d+ next_prio=\d+$`}},
		{"S4-04", `probe("syscall:getppid", lambda e: print(e.text, e.pid_ == FAULT, e.ret > 0), ` +
			`kernel = lambda e: record(text = cstr(8), pid_ = cast("struct task_struct", 4096).pid))`,
			[]string{"getppid", "1"},
			[]string{`(?m)^<fault> True True$`}},
		{"S3-05", "n = count()\nprobe(\"tracepoint:syscalls:sys_enter_openat\", lambda e: n[e.comm].add())", opens,
			[]string{`(?m)^wl-opens +30$`}},
		{"S4-10", `probe("syscall:getppid", lambda e: print("hello, world"))`, []string{"getppid", "1"},
			[]string{`(?m)^hello, world$`}},
		{"S4-11", `probe("syscall:getppid", lambda e: ` +
			`print("owner", e.task.mm.owner.comm == e.task.group_leader.comm, e.task.pid == e.tid))`,
			[]string{"getppid", "1"},
			[]string{`owner (True|False|None) True`}},
		{"S4-12", `probe("syscall:openat", lambda e: print(e.comm, e.args.filename))`, opens,
			[]string{`(?m)^wl-opens ` + regexp.QuoteMeta(dir)}},
		{"S4-21", `probe("syscall:getppid", lambda e: print("call"))`, []string{"getppid", "7"},
			[]string{`^(call\n){7}$`}},
		{"S4-28 S4-31", "calls = cell(0)\ndef add(e):\n    calls.set(calls.get() + 1)\n" +
			"probe(\"syscall:getppid\", add)\nprint(\"Press CTRL+C to exit\")\n" +
			"at_exit(lambda: print(\"calls\", calls.get()))",
			[]string{"getppid", "7"}, []string{`Press CTRL\+C to exit`, `calls 7`}},
	} {
		t.Run(tt.rows, func(t *testing.T) {
			e, _ := traced(t, tt.text, nil, tt.work...)
			for _, want := range tt.want {
				if pattern := regexp.MustCompile(want); !pattern.MatchString(e.stdout) &&
					!pattern.MatchString(e.stderr) {
					if e.skipped(t) > 0 {
						t.Logf("nothing like %s; up to %d events skipped", want, e.skipped(t))
						continue
					}
					t.Errorf("nothing like %s in\n%s\nstderr: %s", want, excerpt(e.stdout), excerpt(e.stderr))
				}
			}
		})
	}
}

// What other languages have: constants that leave out code, sizes of types, variables, choices, stacks, distributions,
// formats, the process and its priority.
const parity = `
DEBUG = flag("debug", False, "each open as well")
sizes = hist()
calls = count()

def opened(e):
    size = len(e.args.filename)
    sizes.add(size % 8)
    calls[e.stack()].add()
    if DEBUG:
        calls[e.stack(1)].add()

probe("syscall:openat", opened, where = lambda e: e.comm == "wl-opens")
probe("syscall:openat", lambda e: printf("%s %d %d %s %s\n", e.comm, e.task.prio - 100, sizeof("long"),
                                         "failed" if e.ret < 0 else "opened", e.args.filename),
      where = lambda e: e.comm == "wl-opens")
`

// Threads that leave the CPU to sleep, told from those that are preempted: in the tracepoint's state preemption is a
// bit of its own. A program that sleeps blocks once for it; before, it may wait for its pages. The last to sleep has
// another name: while it does, the others leave the CPU for good, which is after their parent has been told. (S2-12)
func TestSleeps(t *testing.T) {
	needTracing(t)
	e := startrace(t, script(t, `
load("std/sched.star", "runnable")
slept = count()
left = count()
calls = count()
probe("tracepoint:sched:sched_switch", lambda e: slept.add(),
      where = lambda e: e.comm == "sleep" and e.args.prev_state & 0xff != 0)
probe("rawtracepoint:sched_switch", lambda e: left.add(), where = lambda e: e.comm == "sleep" and not runnable(e))
probe("syscall:{nanosleep,clock_nanosleep}", lambda e: calls.add(), where = lambda e: e.comm == "sleep")
`), "-c", fmt.Sprintf(`sh -c "sleep 0.05; sleep 0.05; sleep 0.05; %s sleeps 1 50ms"`, program(t, "workload"))).ok(t)
	calls, slept, left := number(t, e.stdout, `(?m)^calls: +(\d+)$`), number(t, e.stdout, `(?m)^slept: +(\d+)$`),
		number(t, e.stdout, `(?m)^left: +(\d+)$`)
	if calls != 3 || slept < calls || slept > 20 || left+e.lost(t) < slept {
		t.Errorf("%d calls slept %d times by the tracepoint, %d by the raw one, want 3 and as often or a few more\n"+
			"stderr: %s", calls, slept, left, e.stderr)
	}
}

// Stacks of the kernel's allocations, from the allocator down to the system call. (S2-07)
func TestAllocationStacks(t *testing.T) {
	needTracing(t)
	e := startrace(t, script(t, `
n = count()
probe("tracepoint:kmem:kmalloc", lambda e: n[e.stack()].add(), where = lambda e: e.comm == "cat")
`), "-c", "cat /proc/self/status").ok(t)
	e.has(t, `(?m)^n\[\n(    \w\S*(?: \(\w+\))?\n)*    (?:vfs_open|do_dentry_open)\n`+
		`(    \w\S*\n)*    (?:do_syscall_64|invoke_syscall)\n`)
}
