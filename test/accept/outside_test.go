package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Files are written below the folder that is granted, and nowhere else; commands run where that is granted.
func TestGrants(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "outside")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "link")); err != nil {
		t.Fatal(err)
	}
	write := func(name string) string {
		return script(t, fmt.Sprintf("write_file(%q, \"one\\n\")\nappend_file(%q, \"two\\n\")\n", name, name))
	}
	for _, name := range []string{"a", filepath.Join(inside, "b")} {
		if e := startrace(t, write(name)); e.status != 1 {
			t.Errorf("%s was written without a grant: status %d", name, e.status)
		}
		startrace(t, write(name), "--allow-write", inside).ok(t)
		text, err := os.ReadFile(filepath.Join(inside, filepath.Base(name)))
		if err != nil || string(text) != "one\ntwo\n" {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	for _, name := range []string{outside, "../outside", "link"} {
		e := startrace(t, "--allow-write", inside, write(name))
		if _, err := os.Stat(outside); e.status != 1 || err == nil {
			t.Errorf("%s: status %d, %v\n%s", name, e.status, err, e.stderr)
		}
	}
	const command = `r = run(["sh", "-c", "echo out; echo err >&2; exit 3"])
print(r.status, repr(r.out), repr(r.err), run(["sh", "-c", "kill -9 $$"]).status)
`
	if e := startrace(t, script(t, command)); e.status != 1 || e.stdout != "" {
		t.Errorf("a command ran without a grant: %d, %q", e.status, e.stdout)
	}
	if e := startrace(t, script(t, command), "--allow-run").ok(t); e.stdout != `3 "out\n" "err\n" -1`+"\n" {
		t.Errorf("got %q\n%s", e.stdout, e.stderr)
	}
}

// facts asks for what /proc knows of the process that opened a file, which waits until then.
const facts = `
def opened(e):
    p = proc(e.pid)
    print(p.exe == proc(e.pid).exe and len(p.exe) > 0, p.cmdline[1:], p.cwd, p.fds[7], len(p.cgroup) > 0,
          p.container == None or len(p.container) == 64)
    gone = proc(4194304 + e.pid)
    print(gone.exe, gone.cmdline, gone.cwd, gone.fds, gone.cgroup, gone.container)
    exit()

probe("syscall:openat", opened, where = lambda e: e.args.filename == %q)
`

// proc(pid) gives what a process is, and None of one that is not there.
func TestProc(t *testing.T) {
	needTracing(t)
	name := filepath.Join(t.TempDir(), "opened")
	command := script(t, fmt.Sprintf("cd /\nexec 7> /dev/null\n: > %s\nwhile :; do :; done\n", name))
	e := startrace(t, "-q", script(t, fmt.Sprintf(facts, name)), "-c", "sh "+command+" word").ok(t)
	want := fmt.Sprintf("True [%q, \"word\"] / /dev/null True True\nNone None None None None None\n", command)
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", e.stdout, want, e.stderr)
	}
}

// stopping sends a signal to whoever opens a file.
const stopping = `
refused = count()

def stop(e):
    if not send_signal(SIGTERM):
        refused.add()

probe("syscall:openat", stop, where = lambda e: e.args.filename == %q)
probe("tracepoint:sched:sched_process_exit", lambda e: print("code", e.task.exit_code))
`

// send_signal ends the process that opens a file, before it goes on; only where that is granted.
func TestSendSignal(t *testing.T) {
	needTracing(t)
	name := filepath.Join(t.TempDir(), "opened")
	text := script(t, fmt.Sprintf(stopping, name))
	command := "sh " + script(t, fmt.Sprintf(": > %s\n: > %s.2\n", name, name))
	if e := startrace(t, "-q", text, "-c", command); e.status != failedBeside {
		t.Errorf("status %d without a grant\n%s", e.status, e.stderr)
	}
	e := startrace(t, "-q", text, "-c", command, "--unsafe")
	if e.stdout != "code 15\nrefused: 0\n" {
		t.Errorf("got %q\n%s", e.stdout, e.stderr)
	}
	if _, err := os.Stat(name + ".2"); err == nil {
		t.Error("the process went on")
	}
}
