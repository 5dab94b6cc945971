package procs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// TestMain lets the test binary be the child, a parent that dies, and one that
// is refused a system call.
func TestMain(m *testing.M) {
	MaybeChild()
	if refused := os.Getenv(refusedVariable); refused != "" {
		if err := refuse(refused); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	if len(os.Args) == 3 && os.Args[1] == "leave-a-child" {
		c, err := Start([]string{"touch", os.Args[2]})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(c.PID())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runsItself is the error of running this program, asked once: QEMU sometimes hangs in a fork that it emulates.
var runsItself = sync.OnceValue(func() error { return exec.Command("/proc/self/exe", "-test.run=^$").Run() })

// needOurKernel: an emulator of programs emulates no others that they start.
func needOurKernel(t *testing.T) {
	t.Helper()
	if err := runsItself(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("needs a kernel that runs programs of", runtime.GOARCH+", not an emulator:", err)
	}
}

func start(t *testing.T, argv ...string) *Child {
	t.Helper()
	needOurKernel(t)
	c, err := Start(argv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func status(t *testing.T, c *Child) int {
	t.Helper()
	n, err := c.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestChildWaitsForGo(t *testing.T) {
	t.Setenv("PROCS_TEST", "an environment")
	kept, err := unix.Dup(0) // as a shell's 9<file
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(kept)
	file := filepath.Join(t.TempDir(), "out")
	const script = `echo "$$ $1 $PROCS_TEST $(ulimit -n) $(ls /proc/self/fd | tr "\n" " ")" > "$0"; exit 3`
	c := start(t, "sh", "-c", script, file, "a word")
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(file); err == nil {
		t.Fatal("the command ran before Go")
	}
	checkWaiting(t, c)
	if err := c.Go(Stops{}); err != nil {
		t.Fatal(err)
	}
	if n := status(t, c); n != 3 {
		t.Errorf("status %d, want 3", n)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	direct := exec.Command("sh", "-c", script, file, "a word")
	if err := direct.Run(); direct.ProcessState == nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotPID, gotRest, _ := strings.Cut(string(got), " ")
	if _, wantRest, _ := strings.Cut(string(want), " "); gotRest != wantRest || gotPID != fmt.Sprint(c.PID()) {
		t.Errorf("process %d: got %q, started directly %q", c.PID(), got, want)
	}
}

func TestChildKilled(t *testing.T) {
	c := start(t, "sleep", "100")
	if err := c.Go(Stops{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if n := status(t, c); n != 128+15 {
		t.Errorf("status %d, want 143", n)
	}
}

func TestChildAbandoned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	c := start(t, "touch", file)
	c.Abandon()
	want := []int{exitUnstarted, 128 + 13} // 141: it had not said yet that it waits
	if c.Unheld() == nil {
		want = []int{128 + 9}
	}
	if n := status(t, c); !slices.Contains(want, n) {
		t.Errorf("status %d, want one of %d", n, want)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command ran")
	}
}

// Signals that come before Go end the child, and are not lost.
func TestChildKilledBeforeGo(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out")
			c := start(t, "touch", file)
			if err := c.Ready(); err != nil {
				t.Fatal(err)
			}
			if err := c.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := c.Go(Stops{}); err != nil {
				t.Error(err)
			}
			if n := status(t, c); n != 128+int(signal) {
				t.Errorf("status %d, want %d", n, 128+int(signal))
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

func TestChildDiesWithParent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	needOurKernel(t)
	out, err := exec.Command("/proc/self/exe", "leave-a-child", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	child := "/proc/" + strings.TrimSpace(string(out))
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		cmdline, err := os.ReadFile(child + "/cmdline")
		if errors.Is(err, os.ErrNotExist) || err == nil && !strings.HasPrefix(string(cmdline), marker) {
			break // gone, or a zombie that nobody has collected
		}
		if time.Now().After(deadline) {
			t.Fatal("the child outlives its parent")
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command ran")
	}
}

func TestStartErrors(t *testing.T) {
	if _, err := Start(nil); err == nil {
		t.Error("no error without a command")
	}
	if _, err := Start([]string{"no-such-command-anywhere"}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	for text, want := range map[string]error{"no program": syscall.ENOEXEC,
		"#!/no/such/interpreter\n": syscall.ENOENT} {
		file := filepath.Join(t.TempDir(), "not-a-program")
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		c := start(t, file)
		if err := c.Go(Stops{}); !errors.Is(err, want) || !strings.Contains(err.Error(), file) {
			t.Errorf("got %v, want %v of %s", err, want, file)
		}
		if n := status(t, c); n != exitUnstarted {
			t.Errorf("status %d", n)
		}
	}
}

// newNumbers reads the types of the running kernel where they are wanted.
func newNumbers() *Numbers { return NewNumbers(kernel.Open(kernel.Options{}).BTF) }

func TestInitPID(t *testing.T) {
	initial, err := inInitialNamespace()
	if err != nil {
		t.Fatal(err)
	}
	self, err := newNumbers().Program(os.Getpid())
	if err != nil {
		t.Skip("needs the initial pid namespace, or root to load programs:", err)
	}
	if initial && self != os.Getpid() {
		t.Errorf("got %d, want %d", self, os.Getpid())
	}
	if _, err := newNumbers().Program(1 << 30); err == nil {
		t.Error("no error for a process that does not exist")
	}
	if !initial {
		return
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) < 2 { // the runtime has one beside that of main
		t.Fatal(threads, err)
	}
	tid, err := strconv.Atoi(threads[len(threads)-1].Name()) // the leader is the first
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newNumbers().Program(tid); err == nil || !strings.Contains(err.Error(),
		fmt.Sprintf("is a thread of process %d", os.Getpid())) {
		t.Errorf("thread %d: %v", tid, err)
	}
}

// TestOtherNamespace runs this test's helper in a pid namespace of its own.
func TestOtherNamespace(t *testing.T) {
	if os.Getenv("PROCS_INSIDE") != "" {
		inside(t)
		return
	}
	needOurKernel(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestOtherNamespace$", "-test.v")
	cmd.Env = append(os.Environ(), "PROCS_INSIDE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skip("needs root, to make a pid namespace:", err)
	}
	outside := cmd.Process.Pid
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if !strings.Contains(out.String(), fmt.Sprintf("self %d\n", outside)) {
		t.Errorf("want self %d in: %s", outside, out.String())
	}
	t.Log(out.String())
}

// inside has the process number 1; /proc is still that of the outside.
func inside(t *testing.T) {
	self, err := SelfInitPID()
	if err != nil {
		t.Skip("needs root, to load programs:", err)
	}
	fmt.Printf("self %d\n", self)
	c := start(t, "true")
	fmt.Printf("child %d is %d\n", c.PID(), c.InitPID())
	if c.InitPID() == c.PID() || c.InitPID() <= 0 {
		t.Errorf("child %d has the number %d in the initial namespace", c.PID(), c.InitPID())
	}
	if err := c.Go(Stops{}); err != nil {
		t.Fatal(err)
	}
	if n := status(t, c); n != 0 {
		t.Errorf("status %d", n)
	}
}

// A command that is started apart has its own streams and process group; what
// is not given it inherits.
func TestStartApart(t *testing.T) {
	needOurKernel(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c, err := StartApart([]string{"sh", "-c",
		`cat; readlink /proc/self/fd/0; readlink /proc/self/fd/2; echo $$; exec cut -d" " -f5 /proc/$$/stat`},
		&Streams{In: null, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Go(Stops{}); err != nil {
		t.Fatal(err)
	}
	if n := status(t, c); n != 0 {
		t.Errorf("status %d", n)
	}
	stderr, err := os.Readlink("/proc/self/fd/2")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out.Name())
	if want := fmt.Sprintf("/dev/null\n%s\n%d\n%[2]d\n", stderr, c.PID()); err != nil || string(got) != want {
		t.Errorf("%v, %q, want %q", err, got, want)
	}
}
