package accept

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Nobody reads the output, as behind a pager or on a connection that is stalled. The end of the run comes all the same,
// and it says what was lost.
func TestOutputThatNobodyReads(t *testing.T) {
	needTracing(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var stderr strings.Builder
	cmd := exec.Command(program(t, "startrace"), "-e", `every("1ms", lambda: print("x" * 5000))`, "-c", "sleep 3600",
		"--drain", "200ms")
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	full(t, r)
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &failed) || !strings.Contains(stderr.String(),
		"nobody has read the output for 200ms: ") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}

// full waits until a pipe has nothing to spare.
func full(t *testing.T, r *os.File) {
	t.Helper()
	size, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	for last := -1; ; time.Sleep(100 * time.Millisecond) {
		n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if n == last && n > size/2 { // a write that does not fit waits
			return
		}
		last = n
	}
}

// Timers that do not end share the time of the end, as do functions of at_exit.
func TestEndlessFunctionsShareTheEnd(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e", `
def endless():
    for i in range(1 << 60):
        pass
[every("1ms", endless) for i in range(40)]
[at_exit(endless) for i in range(40)]
`, "-c", "sleep 3600", "--duration", "1ms", "--drain", "500ms")
	if e.status == 0 || !strings.Contains(e.stderr, "timer failed 40 times") ||
		!strings.Contains(e.stderr, "at_exit failed 40 times") {
		t.Errorf("%s", e.stderr)
	}
}

// A builtin function that nothing ends does not keep the run from its end.
func TestBuiltinThatNothingEnds(t *testing.T) {
	needTracing(t)
	for _, code := range []string{"a < b", "max(a, b)"} {
		e := startrace(t, "-e", endlessComparison+`every("1ms", lambda: `+code+`)
`, "-c", "sleep 3600", "--duration", "1ms", "--drain", "200ms", "--memory", "1G")
		if e.status == 0 || !strings.Contains(e.stderr, "is in a builtin that cannot be ended") {
			t.Errorf("%s: %s", code, e.stderr)
		}
	}
}

// A builtin function that writes a value with a text without bound is refused, or ended with its callback: the results
// are printed.
func TestEndlessTextIsEnded(t *testing.T) {
	needTracing(t)
	for _, code := range []string{"str(A)", "repr(A)", "json.encode(A)", "print(A)", `"%s" % (A,)`, `"{}".format(A)`,
		"fail(A)", "show(A)"} {
		e := startrace(t, "-q", "-e", `
A = ()
for i in range(60):
    A = [A, A]
every("1ms", lambda: `+code+`)
at_exit(lambda: print("result"))
`, "-c", "sleep 3600", "--duration", "1ms", "--drain", "200ms", "--memory", "16G")
		if e.status == 0 || e.stdout != "result\n" || strings.Contains(e.stderr, "cannot be ended") {
			t.Errorf("%s: %s%s", code, e.stdout, e.stderr)
		}
	}
}

// A command that hears no signal and is waited for ends with the script that has run it, which prints its results.
func TestCommandThatAScriptWaitsFor(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", "--allow-run", "-e", `
n = count()
def wait():
    n.add()
    run(["sh", "-c", "trap '' TERM; while :; do sleep 100; done"], timeout = "1h")
every("1ms", wait)
`, "-c", "sleep 3600", "--duration", "1ms", "--drain", "200ms")
	if e.status == 0 || e.stdout != "n: 1\n" || !strings.Contains(e.stderr, "it did not end by itself within 200ms") {
		t.Errorf("%s%s", e.stdout, e.stderr)
	}
}

// A pager that is read a page at a time loses nothing of a run whose command has ended: the time of the end is that of
// the run, not of its reader.
func TestReaderThatTakesItsTime(t *testing.T) {
	needTracing(t)
	const calls = 200 // a page of memory each, of which a pipe has room for 16
	report := filepath.Join(t.TempDir(), "report")
	cmd := exec.Command(program(t, "startrace"), "-q", "-e",
		`probe("syscall:getppid", lambda e: print("x" * 4095))`,
		"-c", fmt.Sprintf("%s -report %s getppid %d", program(t, "workload"), report, calls))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for written := false; !written; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(report)
		written = err == nil && len(text) > 0
	}
	time.Sleep(2 * time.Second) // twice what the end may take
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	checkAccount(t, ended{stderr: stderr.String()}, strings.Count(string(text), "\n"), calls)
	if strings.Contains(stderr.String(), "the run ended before") {
		t.Errorf("%s", excerpt(stderr.String()))
	}
}

// A timer that took too much memory is not called again at the end, when nothing bounds it any more.
func TestTimerThatTakesTooMuchMemory(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e", `
seen = []
def grow():
    print("called")
    for i in range(1 << 40):
        seen.append(str(i))
every("1ms", grow)
`, "-c", "sleep 3600", "--memory", "100M")
	if strings.Count(e.stdout, "called\n") != 1 || !strings.Contains(e.stderr, "values of the script take more than") {
		t.Errorf("%s%s", e.stdout, e.stderr)
	}
}

// What is nested without bound is refused, or shown as far as it goes.
func TestDeeplyNestedValues(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e", `json.decode("[" * 2000000 + "]" * 2000000)`)
	if e.status == 0 || !strings.Contains(e.stderr, "json.decode: brackets are nested more than 10000 deep") {
		t.Errorf("%s", excerpt(e.stderr))
	}
	e = startrace(t, "-q", "-e", `
def deep():
    a = ()
    for i in range(1000000):
        a = (a,)
    return a
n = count()
n[deep()].add()
`).ok(t)
	if !strings.Contains(e.stdout, "(((<nested too deeply>") {
		t.Errorf("%s", excerpt(e.stdout))
	}
}

// A name that was traced makes no line of its own in the words of usage().
func TestUsageForgesNoLine(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e", `probe("syscall:openat", lambda e: usage(e.args.filename),
		where = lambda e: e.args.filename.startswith("/wl-"))`, "-c", "sh -c ': < \"/wl-\nforged\"'")
	if !strings.Contains(e.stderr, `handler of syscall:openat: /wl-\nforged`) {
		t.Errorf("%q", e.stderr)
	}
}

// A process that may have too few open files is told so, and not by Go's runtime, and how many are enough.
func TestTooFewOpenFiles(t *testing.T) {
	needTracing(t)
	small := exec.Command("sh", "-c", "ulimit -n 8; exec "+program(t, "startrace")+" -e 'print(1)'")
	out, err := small.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "may have 8 open files only") {
		t.Fatalf("%v: %s", err, out)
	}
	m := regexp.MustCompile(`a run with one probe needs (\d+):`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s", out)
	}
	enough := exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %s; exec %s -q -e '%s' -c '%s getppid 3'", m[1],
		program(t, "startrace"), `probe("syscall:getppid", lambda e: print("hit"))`, program(t, "workload")))
	if out, err := enough.CombinedOutput(); err != nil || strings.Count(string(out), "hit") != 3 {
		t.Errorf("with %s files: %v: %s", m[1], err, out)
	}
}

// A command that SIGTERM does not end goes on, or what it has started, and who started it is told which process that
// is.
func TestCommandThatIgnoresItsEnd(t *testing.T) {
	needTracing(t)
	file := filepath.Join(t.TempDir(), "stubborn.sh")
	const stubborn = "trap '' TERM\nexec sleep 1000 > /dev/null 2>&1 < /dev/null\n" // which ignores it, too
	if err := os.WriteFile(file, []byte(stubborn), 0o644); err != nil {
		t.Fatal(err)
	}
	for command, what := range map[string]string{
		"sh " + file: "The command", fmt.Sprintf("sh -c 'sh %s; true'", file): "What the command has started",
	} {
		e := startrace(t, "-e", `probe("tracepoint:syscalls:sys_enter_{nanosleep,clock_nanosleep}", lambda e: exit())`,
			"-f", "-c", command)
		m := regexp.MustCompile(what + ` has not ended by SIGTERM, and goes on: it is process (\d+)\n`).
			FindStringSubmatch(e.stderr)
		if m == nil {
			t.Fatalf("%s: %s", command, e.stderr)
		}
		pid, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// Where no signal may be pending (`ulimit -i`) a run ends as others do.
func TestNoPendingSignals(t *testing.T) {
	needTracing(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_SIGPENDING, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_SIGPENDING, &unix.Rlimit{Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_SIGPENDING, &old) }()
	e := startrace(t, "-q", "-e", `probe("syscall:getppid", lambda e: print("hit"))`, "-c",
		program(t, "workload")+" getppid 3")
	if hits := strings.Count(e.stdout, "hit"); hits != 3 {
		t.Errorf("%d calls of 3: %s", hits, e.stderr)
	}
}
