package procs

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedVariable names a system call that shall be refused to this process.
const refusedVariable = "PROCS_REFUSED"

var refusable = map[string]uint32{"ptrace": unix.SYS_PTRACE, "memfd_create": unix.SYS_MEMFD_CREATE}

// refuse makes a system call fail with EPERM, as containers do, in all threads
// of this process and in what it starts.
func refuse(name string) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: refusable[name], Jf: 1},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// Where the kernel refuses what it takes to hold the child, or to run the
// stub, all else stays as it is.
func TestRefused(t *testing.T) {
	if os.Getenv(refusedVariable) != "" {
		t.Skip("needs to be the outer run: it runs the other tests with " + refusedVariable)
	}
	needOurKernel(t)
	for name := range refusable {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe", "-test.run=^Test(Child|Start)", "-test.v")
			cmd.Env = append(os.Environ(), refusedVariable+"="+name)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestChildWaitsForGo") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// checkWaiting checks what a started child is, and where it waits.
func checkWaiting(t *testing.T, c *Child) {
	t.Helper()
	refused := os.Getenv(refusedVariable)
	if (c.Unheld() == nil) != (refused == "") {
		if refused == "" {
			t.Skip("needs ptrace of a child (PTRACE_SEIZE and, since 5.3, PTRACE_GET_SYSCALL_INFO), "+
				"which a filter of system calls can forbid:", c.Unheld())
		}
		t.Errorf("without %s: unheld is %v", refused, c.Unheld())
	}
	if refused == "memfd_create" {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.PID())); err != nil ||
			!strings.HasSuffix(exe, "procs.test") {
			t.Errorf("the child is %s, %v", exe, err)
		}
		checkUncaught(t, c)
		return
	}
	state := map[bool]string{true: "t (tracing stop)", false: "S (sleeping)"}[refused == ""]
	want := []string{"Name:\t" + stubName + "\n", "State:\t" + state + "\n", "Threads:\t1\n"}
	var got string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.PID()))
		if err != nil {
			t.Fatal(err)
		}
		got = string(text)
		if !slices.ContainsFunc(want, func(line string) bool { return !strings.Contains(got, line) }) {
			return
		}
	}
	t.Errorf("want %q in %s", want, got)
}

// checkUncaught checks that a signal ends the child when it is sent: a handler could be on its way when the command is
// executed.
func checkUncaught(t *testing.T, c *Child) {
	t.Helper()
	if err := c.Ready(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.PID()))
	if err != nil || !strings.Contains(string(text), "\nSigCgt:\t0000000000000000\n") {
		t.Errorf("%v: signals are caught: %s", err, text)
	}
}

// A signal that stops does not let a held child go, nor does the one that lets
// it go on.
func TestChildStoppedBeforeGo(t *testing.T) {
	c := start(t, "true")
	if err := c.Ready(); err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGCONT} {
		if err := c.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	checkWaiting(t, c)
	if err := c.Go(Stops{}); err != nil {
		t.Fatal(err)
	}
	if n := status(t, c); n != 0 {
		t.Errorf("status %d", n)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, err := Start([]string{"true"})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Ready(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		c.Abandon()
		if _, err := c.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
