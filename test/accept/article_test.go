package accept

import (
	"os"
	"path/filepath"
	"testing"
)

// What the article "First steps in system-wide Linux tracing" does with one line, asks for or misses: S1-01, S1-02,
// S1-04, S1-08, S1-09, S1-12, S1-14, S1-15, S1-17, S1-18. The others are TestNotItself (S1-07), TestFatrace (S1-06,
// S1-13, S1-26), TestFatraceClassic (S1-10, S1-11), TestDirtied (S1-23), TestSlowprocsTool (S1-16, S1-19, S1-25).
func TestArticle(t *testing.T) {
	dir := t.TempDir()
	opens := []string{"opens", "3", "1", dir}
	tell(t, map[string]telling{
		"S1-01": {
			script: `probe("syscall:execve", lambda e: printf("%s: %s\n", e.comm, " ".join(e.args.argv)))`,
			stdout: []string{`workload: \S+/workload -report \S+ getppid 4`},
		},
		"S1-02, S1-14": {
			script: `
probe("syscall:{open,openat}", lambda e: printf("%s(%d) opening %s flags %x mode %x = %d\n", e.comm, e.pid,
                                                e.args.filename, e.args.flags, e.args.mode, e.ret),
      where = lambda e: e.comm == "wl-opens")
`,
			work: opens, stdout: []string{`wl-opens\(\d+\) opening ` + dir + `/missing-0-0 flags 0 mode 0 = -2`},
		},
		"S1-04": {
			script: `
n = count()
probe(["t:syscalls:sys_enter_getppid", "t:syscalls:sys_exit_getppid"], lambda e: n[e.probe].add())
`,
			stdout: []string{`tracepoint:syscalls:sys_enter_getppid +4`, `tracepoint:syscalls:sys_exit_getppid +4`},
		},
		"S1-08, S1-12": {
			script: `
probe("syscall:openat", lambda e: printf("%s %s %o %s %s\n", e.args.dfd == AT_FDCWD, names(e.args.flags, "O_"), 0o640,
                                         names(0o640, "mode"), names(O_CREAT | O_CLOEXEC, "O_")),
      where = lambda e: e.comm == "wl-opens")
`,
			work: opens, stdout: []string{`True O_RDONLY 640 rw-r----- O_RDONLY\|O_CREAT\|O_CLOEXEC`},
		},
		"S1-09, S1-17, S1-18": {
			script: `
private, n = table(), count()

def note(e):
    private[e.tid] = e.time
    since = private.pop(e.tid)
    if since and (e.time - since) // 1000 >= 0 and e.tid not in private:
        n[e.comm, TASK_RUNNING, TASK_INTERRUPTIBLE].add()

probe("syscall:getppid", kernel = note)
`,
			stdout: []string{`n:\nwl-getppid  0  1  4\n?`},
		},
		"S1-15": {
			script: `
opened = {}

def note(e):
    opened.setdefault(e.pid, []).append(e.args.filename)

probe("syscall:openat", note, where = lambda e: e.comm == "wl-opens")
at_exit(lambda: [print(len(names), "names, short:", [name[len("` + dir + `/"):][:7] for name in names])
                 for names in opened.values()])
`,
			work: opens, stdout: []string{`3 names, short: \["missing", "file-0-", "file-0-"\]`},
		},
	})
}

// S1-22: the tool is not longer than a third of the C program of 18.1 kB that it replaces.
func TestFatraceIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "stdlib", "fatrace.star"))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 6000 {
		t.Errorf("fatrace.star has %d bytes", len(text))
	}
}
