package accept

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startrace/startrace/test/tried"
)

func TestUsage(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		status int
		stderr string // a part of it
	}{
		{"unknown flag", []string{"--no-such-flag", "x.star"}, 2, "no-such-flag"},
		{"unknown flag of a verb, and its value for the point", []string{"hist", "--froom", "0", "e.ret"}, 2,
			"unknown flag --froom\n"},
		{"unknown flag of a verb, and one is missing", []string{"lhist", "syscall:read", "--froom", "0", "e.ret"}, 2,
			"unknown flag --froom\n"},
		{"unknown flag of a tool", []string{"opensnoop", "--nmae", "x"}, 2,
			"unknown flag --nmae (did you mean --name?)\n"},
		{"missing file", []string{"no-such-file.star"}, 1, "no-such-file.star"},
		{"syntax", []string{"-e", "def f(:"}, 1, ":1:"},
		{"unknown name", []string{"-e", "no_such_name()"}, 1, "no_such_name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := startrace(t, tt.args...)
			if e.status != tt.status || !strings.Contains(e.stderr, tt.stderr) {
				t.Errorf("status %d, stderr %q; want %d, %q", e.status, e.stderr, tt.status, tt.stderr)
			}
			if e.stdout != "" {
				t.Errorf("messages on standard output: %q", e.stdout)
			}
		})
	}
}

func TestExit(t *testing.T) {
	needTracing(t)
	if e := startrace(t, "-e", `print("hello")`, "-e", "exit()").ok(t); e.stdout != "hello\n" {
		t.Errorf("stdout %q, stderr %q", e.stdout, e.stderr)
	}
	if e := startrace(t, "-e", "exit(7)"); e.status != 7 {
		t.Errorf("exit(7) gave status %d, stderr %q", e.status, e.stderr)
	}
}

func TestDuration(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e", `every("300ms", lambda: print("tick"))`, "--duration", "1s").ok(t)
	if e.took < time.Second {
		t.Errorf("ended after %v, want 1s", e.took)
	}
	if n := strings.Count(e.stdout, "tick\n"); n < 2 || n > 5 {
		t.Errorf("%d ticks in 1 s at 300 ms", n)
	}
}

// A bare probe prints each event; as JSON, one object a line.
func TestFormatJSON(t *testing.T) {
	e, d := traced(t, `probe("syscall:getppid")`, []string{"--format", "json"}, "getppid", "10")
	lines := strings.Split(strings.TrimSpace(e.stdout), "\n")
	for _, line := range lines {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if event["comm"] != d.Comm || event["pid"] != float64(d.PID) {
			t.Errorf("line %q: want comm %s, pid %d", line, d.Comm, d.PID)
		}
	}
	checkAccount(t, e, len(lines), d.Calls)
}

// The first failure of a callback is printed with its place, the run goes on and ends with status 1.
func TestCallbackRaises(t *testing.T) {
	needTracing(t)
	text := script(t, `
seen = [0]

def handler(e):
    seen[0] += 1
    fail("call %d of pid %d" % (seen[0], e.pid))

probe("syscall:getppid", handler)
at_exit(lambda: print("seen", seen[0]))
`)
	e := startrace(t, text, "-c", program(t, "workload")+" getppid 5")
	if e.status != failedBeside ||
		!strings.Contains(e.stderr, "call 1 of pid") || !strings.Contains(e.stderr, "script.star:6") {
		t.Errorf("status %d, want 1 and the first failure's traceback; stderr: %s", e.status, excerpt(e.stderr))
	}
	if e.skipped(t) == 0 && !strings.Contains(e.stdout, "seen 5\n") {
		t.Errorf("want all five calls handled; stdout: %s", excerpt(e.stdout))
	}
}

// interactive is a run that goes on while the test does something.
type interactive struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *bytes.Buffer
}

func start(t *testing.T, args ...string) interactive {
	t.Helper()
	needTracing(t)
	return interact(t, exec.Command(program(t, "startrace"), patient(args)...))
}

func interact(t *testing.T, cmd *exec.Cmd) interactive {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		stuck.Stop()
		cmd.Process.Kill()
	})
	return interactive{cmd, bufio.NewReader(out), stderr}
}

// withMessages is startrace with some arguments, whose messages come with its output, so that a test can wait for them.
func withMessages(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command("sh", append([]string{"-c", `exec "$@" 2>&1`, "sh", program(t, "startrace")}, args...)...)
}

// await reads standard output to a line.
func (r interactive) await(t *testing.T, want string) {
	t.Helper()
	for r.awaitBegin(t, want) != "" {
	}
}

// awaitBegin reads standard output up to a line with a begin, and gives the rest of that line.
func (r interactive) awaitBegin(t *testing.T, want string) string {
	t.Helper()
	for {
		line, err := r.stdout.ReadString('\n')
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), want); ok && err == nil {
			return rest
		}
		if err != nil {
			t.Fatalf("standard output ended before %q: %v\nstderr: %s", want, r.cmd.Wait(), r.stderr)
		}
	}
}

// end reads the rest of standard output and the status.
func (r interactive) end(t *testing.T) ended {
	t.Helper()
	rest, err := io.ReadAll(r.stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil && r.cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return ended{stdout: string(rest), stderr: r.stderr.String(), status: r.cmd.ProcessState.ExitCode()}
}

// interrupt ends a run, if it has not ended by itself, and reads the rest.
func (r interactive) interrupt(t *testing.T) ended {
	t.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil && err != os.ErrProcessDone {
		t.Fatal(err)
	}
	return r.end(t)
}

// The first timer fires when everything is attached.
const attached = `after("1ms", lambda: print("attached"))`

// Each signal by which somebody ends a program ends a run in order.
func TestSignalsEndInOrder(t *testing.T) {
	needTracing(t)
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT}
	for _, signal := range signals {
		r := start(t, "-e", "n = count()", "-e", `probe("interval:10ms", lambda e: n.add())`, "-e", attached)
		r.await(t, "attached")
		if err := r.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if e := r.end(t).ok(t); !strings.Contains(e.stdout, "n: ") {
			t.Errorf("%v: got %q, %s", signal, e.stdout, e.stderr)
		}
	}
	tried.Many(t, "%d signals", len(signals))
}

// Control-C ends a run in order: the last part of an interval, at_exit, the summaries.
func TestInterrupt(t *testing.T) {
	r := start(t, "-e", "n = count()", "-e", `probe("interval:100ms", lambda e: n["x"].add())`,
		"-e", `every("1h", lambda: print("last part"))`, "-e", `at_exit(lambda: print("at exit"))`, "-e", attached)
	r.await(t, "attached")
	time.Sleep(500 * time.Millisecond)
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	e := r.end(t).ok(t)
	part, exit, summary := strings.Index(e.stdout, "last part"), strings.Index(e.stdout, "at exit"),
		strings.LastIndex(e.stdout, "x")
	if part < 0 || exit < part || summary < exit || !strings.ContainsAny(e.stdout[max(summary, 0):], "123456789") {
		t.Errorf("want the last part, at exit and a summary in this order; stdout: %s", e.stdout)
	}
}

// A second Control-C ends a callback that goes on, and with at_exit the run.
func TestInterruptTwice(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	r := start(t, script(t, fmt.Sprintf(`
def stuck():
    write_file(%q, "")
    for i in range(1 << 40):
        pass

every("1h", lambda: None)
at_exit(stuck)
`, begun)+attached), "--allow-write", filepath.Dir(begun))
	r.await(t, "attached")
	ended := make(chan ended, 1)
	go func() { ended <- r.end(t) }()
	interrupt := func() {
		if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	}
	interrupt()
	for { // until at_exit runs: two interrupts that come together are one
		if _, err := os.Stat(begun); err == nil {
			break
		}
		select {
		case e := <-ended:
			t.Fatalf("it ended before its at_exit: status %d, stderr %s", e.status, e.stderr)
		case <-time.After(time.Millisecond):
		}
	}
	select {
	case e := <-ended:
		t.Fatalf("the first interrupt ended a run whose at_exit goes on: status %d, stderr %s", e.status, e.stderr)
	case <-time.After(time.Second):
	}
	interrupt()
	if e := <-ended; e.status != 1 { // what is stuck is killed (interact), and then has no status
		t.Errorf("status %d of an unfinished run; stderr: %s", e.status, e.stderr)
	}
}

// With -p only that process is seen, though another one does the same.
func TestPID(t *testing.T) {
	needTracing(t)
	watched, watchedIn := waiting(t, "100")
	other, otherIn := waiting(t, "50")
	r := start(t, script(t, `
n = count()
probe("syscall:getppid", lambda e: n[e.pid].add())
`+attached+`
at_exit(lambda: [printf("%d: %d\n", pid, calls) for pid, calls in n.items()])
`), "-p", fmt.Sprint(watched.Process.Pid))
	r.await(t, "attached")
	goOn(t, other, otherIn) // first: with the process that it traces the run ends
	goOn(t, watched, watchedIn)
	e := r.interrupt(t).ok(t)
	if strings.Contains(e.stdout, fmt.Sprintf("%d:", other.Process.Pid)) {
		t.Errorf("another process was seen: %s", e.stdout)
	}
	if want := fmt.Sprintf("%d: 100\n", watched.Process.Pid); e.skipped(t) == 0 && !strings.Contains(e.stdout, want) {
		t.Errorf("want %q in %q; stderr: %s", want, e.stdout, e.stderr)
	}
}

// waiting starts a workload that begins with the first line on its input.
func waiting(t *testing.T, calls string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	return readied(t, exec.Command(program(t, "workload"), "-wait", "-report", filepath.Join(t.TempDir(), "report"),
		"getppid", calls))
}

// The tracer never reports itself unless asked (S1-07).
func TestNotItself(t *testing.T) {
	needGuest(t)
	r := start(t, "-e", "n = count()", "-e", `probe("rawtracepoint:sys_enter", lambda e: n[e.pid].add())`, "-e",
		attached,
		"-e", `at_exit(lambda: [printf("pid %d.\n", pid) for pid, calls in n.items()])`, "--duration", "1s")
	r.await(t, "attached")
	e := r.end(t).ok(t)
	if strings.Contains(e.stdout, fmt.Sprintf("pid %d.", r.cmd.Process.Pid)) {
		t.Errorf("the tracer counted itself: %s", e.stdout)
	}
}

// Under lockdown=confidentiality nothing can be read in the kernel: the tracer must say that this is the reason.
func TestLockdown(t *testing.T) {
	if !lockedDown() {
		t.Skip("needs a kernel in lockdown=confidentiality (make test-vm)")
	}
	e := startrace(t, "-e", `probe("syscall:openat", lambda e: print(e.args.filename))`, "--duration", "1s")
	if e.status != 1 || !strings.Contains(e.stderr, "the kernel is locked down (confidentiality)") {
		t.Errorf("status %d, want 1 and that the kernel is locked down; stderr: %s", e.status, excerpt(e.stderr))
	}
}
