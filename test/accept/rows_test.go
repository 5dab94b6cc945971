package accept

import (
	"path/filepath"
	"regexp"
	"testing"
)

// Short scripts that other tracers are shown with, by the numbers of their rows, on a workload of known number.
func TestRows(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	opens := []string{"opens", "30", "3", dir}
	for _, tt := range []struct {
		rows, text string
		work       []string
		want       []string // patterns of what is printed
	}{
		{"S2-01 S3-11", `probe("syscall:getppid")`, []string{"getppid", "3"}, []string{`(?m)^.*wl-getppid.*syscall:getppid.*$`, `Attached 1 probe`}},
		{"S2-02", `probe("syscall:write", lambda e: print("wrote", e.args.count > 0), where = lambda e: e.args.count != 0)`, []string{"getppid", "1"}, []string{`wrote True`}},
		{"S2-03 S3-08 S3-12", `probe("syscall:open*", lambda e: print("open", e.comm, e.args.filename), where = lambda e: hasattr(e.args, "filename"))`, opens,
			[]string{`open wl-opens ` + regexp.QuoteMeta(filepath.Join(dir, "missing")), `open wl-opens ` + regexp.QuoteMeta(filepath.Join(dir, "file"))}},
		{"S2-04", "n = count()\nprobe(\"syscall:*\", lambda e: n[e.comm].add())", []string{"getppid", "500"}, []string{`(?m)^wl-getppid +50\d$`}},
		{"S2-05 S3-10", "n = count()\nprobe(\"syscall:getp*\", lambda e: n[e.func, e.probe].add())", []string{"getppid", "400"}, []string{`(?m)^getppid +syscall:getppid +400$`}},
		{"S2-06", "sizes = hist()\nprobe(\"syscall:read\", lambda e: sizes[e.comm].add(e.ret), where = lambda e: e.comm == \"wl-reads\")", []string{"reads", "100", "64"},
			[]string{`wl-reads`, `\b100\b`}},
		{"S2-09", "n = count()\nprobe(\"syscall:{fork,vfork,clone,clone3}\", lambda e: n[e.comm].add(), where = lambda e: e.ret > 0)", []string{"exits", "20"}, []string{`(?m)^w\S+ +\d+$`}},
		{"S2-11", `probe("syscall:exit_group", lambda e: print("exit", e.comm, e.args.error_code), where = lambda e: e.args.error_code != 0)`, []string{"exits", "6"},
			[]string{`exit \S+ 5`}},
		{"S2-12", "n = count()\nprobe(\"rawtracepoint:sched_switch\", lambda e: n.add())", []string{"getppid", "5"}, []string{`n: +\d+`}},
		{"S3-05", "n = count()\nprobe(\"tracepoint:syscalls:sys_enter_openat\", lambda e: n[e.comm].add())", opens, []string{`(?m)^wl-opens +30$`}},
		{"S4-10", `probe("syscall:getppid", lambda e: print("hello, world"))`, []string{"getppid", "1"}, []string{`(?m)^hello, world$`}},
		{"S4-11", `probe("syscall:getppid", lambda e: print("owner", e.task.mm.owner.comm == e.task.group_leader.comm, e.task.pid == e.tid))`, []string{"getppid", "1"},
			[]string{`owner (True|False|None) True`}},
		{"S4-12", `probe("syscall:openat", lambda e: print(e.comm, e.args.filename))`, opens, []string{`(?m)^wl-opens ` + regexp.QuoteMeta(dir)}},
		{"S4-28 S4-31", "calls = cell(0)\ndef add(e):\n    calls.set(calls.get() + 1)\nprobe(\"syscall:getppid\", add)\nprint(\"Press CTRL+C to exit\")\nat_exit(lambda: print(\"calls\", calls.get()))",
			[]string{"getppid", "7"}, []string{`Press CTRL\+C to exit`, `calls 7`}},
	} {
		t.Run(tt.rows, func(t *testing.T) {
			e, _ := traced(t, tt.text, nil, tt.work...)
			for _, want := range tt.want {
				if !regexp.MustCompile(want).MatchString(e.stdout + e.stderr) {
					t.Errorf("nothing like %s in\n%s\nstderr: %s", want, excerpt(e.stdout), excerpt(e.stderr))
				}
			}
		})
	}
}
