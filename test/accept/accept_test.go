// Package accept drives bin/startrace as a user would, on workloads of known number, and checks what it says to the
// last event: nothing may be lost in silence.
//
// It needs root, and the programs that make and make workload build. Only processes that the tests start are traced,
// except in a virtual machine of test/vm.
package accept

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/kernel"
)

// limit is the longest time for one run; under emulation the long ones take a minute.
const limit = 5 * time.Minute

// failedBeside is the exit code of a failure of startrace where there is a command of -c.
const failedBeside = 125

// program returns the path of a program in bin, or skips.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs bin/%s: make builds it", name)
	}
	return path
}

// needTracing skips where the machine lets nobody trace.
func needTracing(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("needs a kernel with BTF (CONFIG_DEBUG_INFO_BTF)")
	}
	if lockedDown() {
		t.Skip("needs a kernel that is not in lockdown=confidentiality")
	}
}

func lockedDown() bool {
	state, err := os.ReadFile("/sys/kernel/security/lockdown")
	return err == nil && bytes.Contains(state, []byte("[confidentiality]"))
}

// inGuest says whether this is a virtual machine of test/vm.
func inGuest() bool { return os.Getenv("STARTRACE_VM") != "" }

// beside lets a part of a test run beside its other parts. A guest has one CPU: each would take as long as all there.
func beside(t *testing.T) {
	t.Helper()
	if !inGuest() {
		t.Parallel()
	}
}

// needGuest skips outside of a virtual machine: the test traces processes that it did not start.
func needGuest(t *testing.T) {
	t.Helper()
	if !inGuest() {
		t.Skip("needs a virtual machine of its own (make test-vm): traces the whole system")
	}
}

// scaled is n, or a twentieth of it, but not less than 30, in the short form of the tests.
func scaled(n int) int {
	if testing.Short() {
		return max(n/20, 30)
	}
	return n
}

// ended is what a run of startrace came to.
type ended struct {
	stdout, stderr string
	status         int
	took           time.Duration
	rss            int64 // bytes
}

// startrace runs the command to its end. A status other than 0 is for the caller to judge.
// A run has a minute for its end, so that what a test's handlers do is done on slow machines too
// (bounds_test.go has what a second does).
func startrace(t testing.TB, args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t, "startrace"), patient(args)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	tellWhere(cmd)
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if cmd.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("startrace %q: %v after %v\n%s", args, err, took, excerpt(stderr.String()))
	}
	e := ended{stdout: stdout.String(), stderr: stderr.String(), status: cmd.ProcessState.ExitCode(), took: took}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		e.rss = usage.Maxrss << 10
	}
	return e
}

// prints are the commands that run nothing.
var prints = []string{"list", "explain", "audit", "verify", "doctor", "tools", "doc", "help", "completion"}

// patient gives the end of a run a minute, unless its flags say how long it has.
func patient(args []string) []string {
	if len(args) == 0 || slices.Contains(prints, args[0]) || slices.Contains(args, "--drain") {
		return args
	}
	return append([]string{"--drain", "1m"}, args...)
}

// tellWhere makes a command that does not end in its time, and what it started, say on standard error where its
// goroutines are. What does not end then either is not waited for.
func tellWhere(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
}

// ok fails the test unless the run ended with 0.
func (e ended) ok(t testing.TB) ended {
	t.Helper()
	if e.status != 0 {
		t.Fatalf("exit status %d\nstdout: %s\nstderr: %s", e.status, excerpt(e.stdout), excerpt(e.stderr))
	}
	return e
}

// excerpt is a text, of a long one the beginning and the end.
func excerpt(text string) string {
	const most = 1500
	if len(text) > 2*most {
		return text[:most] + "\n…\n" + text[len(text)-most:]
	}
	return text
}

// script writes a script into a file of the test's and returns its name.
func script(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "script.star")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// done is what workload says that it did.
type done struct {
	Comm        string
	Calls       int
	Failed      int
	PID         int
	TIDs        []int
	Sizes       map[int]int
	FDs         map[string]int
	Bytes       int
	Began       int64
	Nanoseconds time.Duration `json:"ns"`
}

// traced runs startrace with a script on a workload and returns both accounts.
func traced(t testing.TB, text string, flags []string, work ...string) (ended, done) {
	t.Helper()
	needTracing(t)
	report := filepath.Join(t.TempDir(), "report.json")
	command := fmt.Sprintf("%s -report %s %s", program(t, "workload"), report, strings.Join(work, " "))
	args := append([]string{script(t, text), "-c", command}, flags...)
	return tracedBy(t, startrace(t, args...).ok(t), report)
}

// tool runs a tool of the library, or any script by its name, on a workload.
func tool(t testing.TB, words []string, work ...string) (ended, done) {
	t.Helper()
	needTracing(t)
	report := filepath.Join(t.TempDir(), "report.json")
	command := fmt.Sprintf("%s -report %s %s", program(t, "workload"), report, strings.Join(work, " "))
	return tracedBy(t, startrace(t, append(words, "-c", command)...).ok(t), report)
}

// tracedBy reads what the workload says that it did.
func tracedBy(t testing.TB, e ended, report string) (ended, done) {
	t.Helper()
	line, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("the workload did not report: %v\nstderr: %s", err, excerpt(e.stderr))
	}
	var d done
	if err := json.Unmarshal(line, &d); err != nil {
		t.Fatal(err)
	}
	return e, d
}

// lossLine is a line about losses on standard error: a number of events, updates or calls.
var lossLine = regexp.MustCompile(`(?m)(\d[\d,]*) (?:of the \d+ )?` +
	`(?:events?|updates?|calls?|returns?|ends?|values?|pairs?|stacks?) (?:of .*?)?(?:lost|not seen|dropped|missed)`)

// skipLine is one about programs that the kernel did not run, and returns that it did not follow. The number is an
// upper bound of what is missing of the processes that are traced, and can be that of all.
var skipLine = regexp.MustCompile(
	`(?m)(\d[\d,]*) (?:of the \d+ )?(?:events?|calls?) of .*? not seen: the kernel (?:skips|remembers)`)

// lost adds up the losses that a run reported, with what the kernel skipped.
func (e ended) lost(t testing.TB) int {
	t.Helper()
	e.stderr = leftLine.ReplaceAllString(e.stderr, "")
	return e.sum(t, lossLine)
}

// leftLine is about calls that were left by other ways than a return: see unended.
var leftLine = regexp.MustCompile(`(?m)^.* did not return: .*$`)

// skipped adds up what a run reported as skipped by the kernel. It is zero where no event can have been dropped.
func (e ended) skipped(t testing.TB) int {
	t.Helper()
	return e.sum(t, skipLine)
}

// unskipped tries until the kernel has skipped no event, as it does where a program of another process runs on the CPU
// just then: what try compares must be all that happened. Try gives how many events were skipped, and compares nothing
// if it was any.
func unskipped(t *testing.T, try func() (skipped int)) {
	t.Helper()
	for range 10 {
		if try() == 0 {
			return
		}
	}
	t.Error("the kernel has skipped events each of ten times")
}

// shows compares what a run prints with want. If the kernel has skipped events lines may be missing; the others are
// those of want in their order.
func shows(t *testing.T, want string, args ...string) {
	t.Helper()
	e := startrace(t, args...).ok(t)
	e.hasLines(t, slices.Collect(strings.Lines(e.stdout)), slices.Collect(strings.Lines(want)))
}

// hasLines compares lines of a run with those that are wanted, as shows does.
func (e ended) hasLines(t *testing.T, got, want []string) {
	t.Helper()
	rest := want
	for _, line := range got {
		at := slices.Index(rest, line)
		if at < 0 || at > 0 && e.skipped(t) == 0 {
			t.Errorf("%q is not the next line; got %q, want %q; stderr: %s", line, got, want, excerpt(e.stderr))
			return
		}
		rest = rest[at+1:]
	}
	if len(rest) > 0 && e.skipped(t) == 0 {
		t.Errorf("there is no %q: got %q; stderr: %s", rest[0], got, excerpt(e.stderr))
	}
}

// words is what a run says on standard error, but for what the kernel skipped, or does not count (before 5.12).
func (e ended) words() string { return skippedLine.ReplaceAllString(e.stderr, "") }

var skippedLine = regexp.MustCompile(`(?m)^startrace: (?:(?:up to )?\d.* not seen: the kernel skips .*|` +
	`this kernel does not count the events that it drops itself.*)\n`)

// sum adds up the numbers of the lines on standard error that are like this.
func (e ended) sum(t testing.TB, like *regexp.Regexp) int {
	t.Helper()
	total := 0
	for _, m := range like.FindAllStringSubmatch(e.stderr, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

// atLeast says whether the kernel is of this version or newer.
func atLeast(t testing.TB, major, minor int) bool {
	t.Helper()
	release, err := kernel.Release()
	if err != nil {
		t.Fatal(err)
	}
	return release.AtLeast(major, minor)
}

// checkAccount checks that what was seen and what was reported as lost make up what was done. What the kernel skipped
// may have been other processes' events, and makes the other halves of calls losses, too.
func checkAccount(t testing.TB, e ended, seen, made int) {
	t.Helper()
	lost := e.lost(t)
	if seen > made || seen+lost < made || e.skipped(t) == 0 && seen+lost > made {
		t.Errorf("saw %d and reported %d lost of %d made\nstderr: %s", seen, lost, made, excerpt(e.stderr))
	}
}
