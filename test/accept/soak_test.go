package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/startrace/startrace/test/setting"
	"github.com/startrace/startrace/test/tried"
)

// This file holds what a tracer has to stand for long: full rate, many starts and stops, many of it at once, being
// stopped and killed, a full disk. make test runs the short form, make soak (SOAK=20) twenty times as much.

// soak is how often more than in the short form something is done.
func soak(t *testing.T) int { return setting.Int(t, "SOAK", 1) }

// printsCalls prints a line for each call of a process and says when it is attached. The end prints what it has counted
// in the kernel.
const printsCalls = `
n = count()
probe("syscall:getppid", lambda e: n.add())
probe("syscall:getppid", lambda e: print("hit"))
` + attached + `
at_exit(lambda: printf("%d calls\n", n.value))
`

// At full rate what was made is delivered or said to be lost, what is counted in the kernel is exact, and memory keeps
// within the budget.
func TestSoakFullRate(t *testing.T) {
	calls := 500_000 * soak(t)
	tried.Many(t, "%d calls", calls/soak(t))
	shown := filepath.Join(t.TempDir(), "shown")
	// What wait4 gives as the largest resident memory has that of the test itself, from which the process was forked.
	text := printsCalls + "at_exit(lambda: print(run([\"sh\", \"-c\", \"grep VmHWM /proc/$PPID/status\"]).out))\n"
	e, d := tool(t, []string{"--allow-run", "--output", shown, script(t, text)}, "getppid", fmt.Sprint(calls))
	if d.Calls != calls {
		t.Fatalf("the workload made %d calls of %d", d.Calls, calls)
	}
	out, err := os.ReadFile(shown)
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, e, strings.Count(string(out), "hit\n"), calls)
	if counted := number(t, string(out), `(?m)^(\d+) calls$`); counted != calls && e.skipped(t) == 0 {
		t.Errorf("counted %d calls in the kernel, want %d", counted, calls)
	}
	const budget = 64 << 10 // KB
	resident := number(t, string(out), `VmHWM:\D+(\d+) kB`)
	if resident > budget {
		t.Errorf("%d KB of memory, want at most %d", resident, budget)
	}
	t.Logf("%d calls, %d of them lost and said so, %d KB of memory", calls, e.lost(t), resident)
}

// openFiles prints the least number of open files of its parent that it sees in some tries, until there are no more
// than it has printed before, which it keeps in a file.
const openFiles = `most=$(cat $0 2>/dev/null || echo 0)
least=999
for i in $(seq 100); do
	n=$(ls /proc/$PPID/fd | wc -l)
	[ $n -lt $least ] && least=$n
	[ $least -le $most ] && break
	sleep 0.02
done
echo $least | tee $0
`

// Probes that come and go leave nothing open in the tracer. What is detached is closed a moment later.
func TestSoakAttachAndDetach(t *testing.T) {
	needTracing(t)
	const (
		rounds = 10
		round  = `p = probe("syscall:getppid", lambda e: print("hit"), where = lambda e: e.comm == "nobody")
p.detach()
p = probe("tracepoint:sched:sched_process_exit", lambda e: n[e.comm].add())
p.detach()
`
	)
	tried.Many(t, "%d probes", 2*rounds)
	open := fmt.Sprintf("print(\"open\", run([\"sh\", \"-c\", %q, %q], timeout = 300 * SEC).out.strip())\n", openFiles,
		filepath.Join(t.TempDir(), "open"))
	cmd := exec.Command(program(t, "startrace"), "--allow-run")
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("n = count()\n"+strings.Repeat(round, 3)+open+
		strings.Repeat(round, rounds*soak(t))+open), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var before, behind int
	if _, err := fmt.Sscanf(stdout.String(), "open %d\nopen %d\n", &before, &behind); err != nil || behind > before {
		t.Errorf("want no more open files behind %d rounds than before, got %q, %v\n%s", rounds, stdout.String(), err,
			stderr.String())
	}
}

// Runs that come and go leave nothing in the kernel.
func TestSoakStartsAndStops(t *testing.T) {
	const runs = 10
	tried.Many(t, "%d runs", runs)
	needTracing(t)
	needGuest(t) // elsewhere others load programs, too
	before := programs(t)
	for range runs * soak(t) {
		startrace(t, "-e", "n = count()", "-e", `probe("syscall:getppid", lambda e: n.add())`, "-e",
			`probe("rawtracepoint:sched_switch", lambda e: print("x"))`, "-c", "true").ok(t)
	}
	awaitUnloaded(t, before)
}

// A tracer that is killed leaves nothing in the kernel either, and what it traced goes on.
func TestSoakKilled(t *testing.T) {
	const times = 3
	tried.Many(t, "%d times", times)
	needTracing(t)
	needGuest(t)
	before := programs(t)
	for range times * soak(t) {
		work := newWork(t, "work", 100)
		r := start(t, script(t, printsCalls), "-p", fmt.Sprint(work.cmd.Process.Pid))
		r.await(t, "attached")
		if err := r.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := r.cmd.Wait(); err == nil {
			t.Error("it was killed, and its status is 0")
		}
		goOn(t, work.cmd, work.in)
	}
	awaitUnloaded(t, before)
}

// A tracer that stood still while the ring filled has counted in the kernel, and says what it has lost.
func TestSoakStopped(t *testing.T) {
	tried.Many(t, "%d time", 1)
	for range soak(t) {
		const calls = 400_000 // of which the ring holds but a part
		work := newWork(t, "work", calls)
		r := start(t, script(t, printsCalls), "-p", fmt.Sprint(work.cmd.Process.Pid))
		r.await(t, "attached")
		if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		goOn(t, work.cmd, work.in)
		if err := r.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		e := r.end(t).ok(t)
		seen := strings.Count(e.stdout, "hit\n")
		checkAccount(t, e, seen, calls)
		if counted := number(t, e.stdout, `(?m)^(\d+) calls$`); counted != calls && e.skipped(t) == 0 {
			t.Errorf("counted %d calls in the kernel, want %d", counted, calls)
		}
		if e.lost(t) == 0 {
			t.Error("the ring held all that happened meanwhile: more calls are to be made")
		}
		t.Logf("%d calls, %d seen", calls, seen)
	}
}

// Ten tracers at once do not disturb each other.
func TestSoakTenTracers(t *testing.T) {
	const calls = 1000
	tried.Many(t, "%d calls", calls)
	for range soak(t) {
		work := newWork(t, "work", calls)
		var runs []interactive
		for range 10 {
			r := start(t, "-e", "n = count()", "-e", `probe("syscall:getppid", lambda e: n.add())`, "-e", attached,
				"-e", `at_exit(lambda: printf("%d calls\n", n.value))`, "-p", fmt.Sprint(work.cmd.Process.Pid))
			r.await(t, "attached")
			runs = append(runs, r)
		}
		goOn(t, work.cmd, work.in)
		for _, r := range runs {
			e := r.end(t).ok(t)
			checkAccount(t, e, number(t, e.stdout, `(?m)^(\d+) calls$`), calls)
		}
	}
}

// A disk that is full fails the run with a message, also in the middle of it.
func TestSoakDiskFull(t *testing.T) {
	needTracing(t)
	dir, err := mounted(t, "tmpfs", "-o", "size=64k")
	if err != nil {
		t.Skipf("needs to mount a tmpfs (CAP_SYS_ADMIN): %v", err)
	}
	file := filepath.Join(dir, "out")
	e := startrace(t, "-o", file, script(t, printsCalls), "-c", program(t, "workload")+" getppid 100000")
	if e.status != failedBeside || !strings.Contains(e.stderr, file+": no space left on device") {
		t.Errorf("status %d, want %d and a message: %s", e.status, failedBeside, excerpt(e.stderr))
	}
	tried.Many(t, "%d disk", 1)
}
