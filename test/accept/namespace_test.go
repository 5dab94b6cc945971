package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A process in a pid namespace of its own has two numbers: that of the machine, which -p takes and proc() knows, and
// its own.
//
// > `e.pid` and `e.tid` are numbers of the whole machine, also for processes in a container.
// > `e.nspid` and `e.nstid` are the numbers that the process and the thread have in their own pid namespace, as a
// > container shows them.
func TestNamespacePid(t *testing.T) {
	needTracing(t)
	if out, err := exec.Command("unshare", "-p", "-f", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("needs unshare(1) and pid namespaces: %v: %s", err, out)
	}
	cmd, in := readied(t, exec.Command("unshare", "-p", "-f", "--mount-proc", "sh", "-c",
		"echo ready; read line; kill -0 $$"))
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		t.Skip("needs CONFIG_PROC_CHILDREN:", err)
	}
	pid := strings.TrimSpace(string(children))
	r := start(t, script(t, `
n = count()
probe("syscall:kill", lambda e: n[e.pid, e.nspid, e.nstid].add())
probe("syscall:kill", lambda e: print(e.pid, e.nspid, e.nstid))
program = proc(`+pid+`).cmdline[0]
`+attached+`
at_exit(lambda: print(n.items(), program))
`), "-p", pid)
	r.await(t, "attached")
	goOn(t, cmd, in)
	e := r.end(t).ok(t)
	want := fmt.Sprintf("%s 1 1\n[((%[1]s, 1, 1), 1)] sh\n", pid)
	if e.stdout != want && e.skipped(t) == 0 {
		t.Errorf("got %q, want %q; stderr: %s", e.stdout, want, e.stderr)
	}
}

// A process whose program has been replaced, as by an upgrade of its package, goes on with the old one: that is what a
// point by its path means with -p.
//
// > With `-p` a program or library that has been replaced since the process mapped it is the one that the process runs.
func TestReplacedProgram(t *testing.T) {
	needTracing(t)
	path := filepath.Join(t.TempDir(), "sh")
	install := func() {
		t.Helper()
		text, err := os.ReadFile(program(t, "workload"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", text, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	install()
	cmd, in := readied(t, exec.Command(path, "-wait", "-report", os.DevNull, "getppid", "100"))
	install()
	r := start(t, script(t, `
n = count()
probe("uprobe:`+path+`:*yscall*", lambda e: n.add())
`+attached+`
at_exit(lambda: print(n.value >= 100))
`), "-p", fmt.Sprint(cmd.Process.Pid))
	r.await(t, "attached")
	goOn(t, cmd, in)
	e := r.end(t).ok(t)
	if e.stdout != "True\n" || !strings.Contains(e.stderr, "runs a file that had the name "+path+" before") {
		t.Errorf("got %q, want True; stderr: %s", e.stdout, e.stderr)
	}
}
