package accept

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/startrace/startrace/test/tried"
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
	tried.Many(t, "one")
}

// A tracer in a pid namespace finds processes by the numbers that they have there, and knows them by those of events.
// What is outside of it, it does not find, and it takes no other process for it.
//
// > Where startrace runs in a pid namespace itself, `-p` takes the numbers of that one, as `ps` shows them there.
// > `proc()` and `usym()` take those of the whole machine, as `e.pid` has them.
// > Of what is outside of that namespace `proc()` knows nothing.
//
// > Processes have the numbers of the whole machine there, as e.pid.
func TestTracerInNamespace(t *testing.T) {
	needTracing(t)
	if out, err := exec.Command("unshare", "-p", "-f", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("needs unshare(1) and pid namespaces: %v: %s", err, out)
	}
	file := script(t, `
outside = flag("outside", 0, "a process outside")

def seen(e):
    print(e.nspid != 1, e.pid != e.nspid, proc(e.pid).cmdline, proc(outside).exe)

probe("syscall:kill", seen, where = lambda e: e.comm == "sh")
`+attached)
	const killer = `kill -0 $$; until grep -q None out; do sleep 0.1; done` // it stays until it is printed
	for _, how := range []struct{ name, text string }{
		{"-p", `mkfifo in; sh killer in < in & pid=$!; exec 3> in; trace -p $pid; attached; echo >&3`},
		{"-c", `trace -c "sh killer"`},
		{"all", `trace --duration 1m; attached; sh killer; kill -INT $tracer`},
	} {
		t.Run(how.name, func(t *testing.T) {
			dir := t.TempDir()
			before := "[ -z \"$1\" ] || read x\n" + killer
			if err := os.WriteFile(filepath.Join(dir, "killer"), []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`trace() { %s %s --outside %d "$@" > out & tracer=$!; }
attached() { until grep -q attached out; do kill -0 $tracer || break; sleep 0.1; done; }
%s
wait $tracer; cat out`, program(t, "startrace"), file, os.Getpid(), how.text)
			cmd := exec.Command("unshare", "-p", "-f", "--mount-proc", "sh", "-c", text)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if want := `True True ["sh", "killer"`; err != nil || !strings.Contains(string(out), want) ||
				!strings.Contains(string(out), "] None\n") {
				t.Errorf("%v: got %q, want %s …] None", err, out, want)
			}
		})
	}
	tried.Many(t, "%d ways", 3)
}

// A process whose program has been replaced, as by an upgrade of its package, or removed, goes on with the old one.
// That is what a point by its path means with -p.
//
// > With `-p` a program or library that has been replaced or removed since the process mapped it is the one that the
// > process runs.
func TestReplacedProgram(t *testing.T) {
	needTracing(t)
	t.Run("replaced", func(t *testing.T) {
		e := runsOld(t, func(path string) { install(t, path) })
		if !strings.Contains(e.stderr, "runs a file that had the name ") {
			t.Errorf("the file is another one, and only said: %s", e.stderr)
		}
	})
	t.Run("removed", func(t *testing.T) {
		runsOld(t, func(path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		})
	})
	tried.Many(t, "%d calls", 100)
}

// runsOld counts calls of a process whose file something is done to meanwhile.
func runsOld(t *testing.T, meanwhile func(path string)) ended {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sh")
	install(t, path)
	cmd, in := readied(t, exec.Command(path, "-wait", "-report", os.DevNull, "getppid", "100"))
	meanwhile(path)
	r := start(t, script(t, `
n = count()
probe("uprobe:`+path+`:*yscall*", lambda e: n.add())
`+attached+`
at_exit(lambda: print(n.value >= 100))
`), "-p", fmt.Sprint(cmd.Process.Pid))
	r.await(t, "attached")
	goOn(t, cmd, in)
	e := r.end(t).ok(t)
	if e.stdout != "True\n" {
		t.Errorf("got %q, want True; stderr: %s", e.stdout, e.stderr)
	}
	return e
}

// install gives a name a new file of the program workload.
func install(t *testing.T, path string) {
	t.Helper()
	overwrite(t, path+".new")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// overwrite writes the program workload into a file.
func overwrite(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(program(t, "workload"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
}

// A program that is replaced during a run is probed in the new file, too, and what runs the old one is still seen.
// A file that is written anew has its probes again. Each start of the program is seen once.
//
// > If another file gets the name of one with probes during the run, as in an upgrade or by a compiler, they are
// > attached in that one, too, and a message says so.
// > What runs the file before is still seen.
// > Ends of a span and what `first()` chose stay with the file before, which a message says.
// > Calls in the new file are seen from that message on.
// > It says how long the file had its name by then, which is some milliseconds, or as long as a handler of the script
// > takes just then.
func TestReplacedDuringRun(t *testing.T) {
	needTracing(t)
	path := filepath.Join(t.TempDir(), "prog")
	install(t, path)
	if err := os.Link(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	file := script(t, fmt.Sprintf(`n = count()
probe("uprobe:%s:main.main", lambda e: n.add())
probe("uprobe:%[1]s:main.run", lambda e: print(e.comm, "runs"))
between = span("uprobe:%[1]s:main.main", "uprobe:%[1]s:main.run")
probe(between, lambda e: print("between", e.duration > 0))
at_exit(lambda: print("counted", n.value))
`, path))
	command := path + ".sh" // a line of standard input lets it go on
	text := fmt.Sprintf("for f in %s %[1]s %[1]s.old %[1]s; do read x; $f -report /dev/null getppid 1; done\n", path)
	if err := os.WriteFile(command, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := withMessages(t, file, "-c", "sh "+command)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r := interact(t, cmd)
	goOn := func(until ...string) {
		t.Helper()
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
		for _, line := range until {
			r.await(t, line)
		}
	}
	probes := "uprobe:" + path + ":main.main, uprobe:" + path + ":main.run"
	goOn("prog runs", "between True")
	asked := time.Now()
	install(t, path)
	between := "uprobe:" + path + ":main.main → uprobe:" + path + ":main.run"
	r.await(t, "startrace: "+path+" is another file now, in which "+between+" is not attached: run again for that")
	checkGap(t, asked, r.awaitBegin(t, path+" is another file now: attached "+probes+" there, too; "))
	goOn("prog runs")
	goOn("prog.old runs", "between True")
	asked = time.Now()
	overwrite(t, path)
	r.await(t, "startrace: "+path+" was written anew, and "+between+" is not attached any more: run again for that")
	checkGap(t, asked, r.awaitBegin(t, path+" was written anew: attached "+probes+" there again; "))
	goOn("prog runs")
	if e := r.end(t).ok(t); !strings.Contains(e.stdout, "counted 4\n") && e.skipped(t) == 0 {
		t.Errorf("got %q, want four starts; stderr: %s", e.stdout, e.stderr)
	}
	tried.Many(t, "%d starts", 4)
}

// checkGap looks at how long a file that has changed since a time is said to have been without probes.
func checkGap(t *testing.T, since time.Time, said string) {
	t.Helper()
	// The file system keeps times by the kernel's tick.
	const tick = 10 * time.Millisecond
	most := time.Since(since) + tick
	var gap int64
	if n, err := fmt.Sscanf(said, "its calls in the %d ms before that were not seen", &gap); n != 1 || gap < 1 ||
		gap > most.Milliseconds()+1 {
		t.Errorf("%s (%v), want at most %v", said, err, most)
	}
}

// Each time takes descriptors and memory, so there is an end to it.
//
// > After 16 times a file is left alone.
func TestReplacedOften(t *testing.T) {
	needTracing(t)
	path := filepath.Join(t.TempDir(), "prog")
	install(t, path)
	point := "uprobe:" + path + ":main.main"
	cmd := withMessages(t, "-e",
		fmt.Sprintf("n = count()\nprobe(%q, lambda e: n.add())", point), "-c", "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r := interact(t, cmd)
	r.await(t, "Attached 1 probe")
	for range 16 {
		install(t, path)
		r.awaitBegin(t, path+" is another file now: attached "+point+" there, too; its calls in the ")
	}
	install(t, path)
	r.await(t, "startrace: "+path+" was replaced more than 16 times: its probes are not attached again")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	r.end(t).ok(t)
}
