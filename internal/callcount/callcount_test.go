package callcount

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
)

// counting opens a counter, or skips the test.
func counting(t *testing.T, of Scope, calls ...Call) *Counter {
	t.Helper()
	need.BPF(t)
	facts := kernel.Open(kernel.Options{})
	c, err := Open(calls, of, func(group, name string) (uint64, error) {
		tp, err := facts.Tracepoint(group, name)
		if err != nil {
			return 0, err
		}
		return uint64(tp.ID), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func counted(t *testing.T, c *Counter, want Counts) {
	t.Helper()
	if n, err := c.Read(); n != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", n, err, want)
	}
}

// Calls of all threads of a process are counted, those that are started later among them.
func TestOfProcess(t *testing.T) {
	c := counting(t, Scope{PIDs: []int{os.Getpid()}}, Call{Name: "getppid"}, Call{Name: "getpgid"})
	done := make(chan bool)
	for range 8 {
		go func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			for range 1000 {
				unix.Getppid()
			}
			_, _ = unix.Getpgid(0)
			done <- true
		}()
	}
	for range 8 {
		<-done
	}
	counted(t, c, Counts{Begun: 8008, Ended: 8008})
}

// What a process starts is counted with it if that is wanted, and what startrace does itself is not counted with all.
func TestOfOthers(t *testing.T) {
	const calls = 3
	words := append([]string{"-c", "umask 027" + strings.Repeat("; (umask 027)", calls-1)}, "sh")
	own := counting(t, Scope{PIDs: []int{os.Getpid()}}, Call{Name: "umask"})
	following := counting(t, Scope{PIDs: []int{os.Getpid()}, Follow: true}, Call{Name: "umask"})
	all := counting(t, Scope{Self: os.Getpid()}, Call{Name: "umask"})
	before, err := all.Read()
	if err != nil {
		t.Fatal(err)
	}
	unix.Umask(unix.Umask(0o22))
	if out, err := exec.Command("sh", words...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	counted(t, own, Counts{Begun: 2, Ended: 2})
	n, err := following.Read()
	if n.Begun < 2+calls || n.Begun != n.Ended || err != nil {
		t.Errorf("with what it starts: %+v, %v", n, err)
	}
	if a, err := all.Read(); a.Begun-before.Begun < n.Begun-2 || err != nil { // others run beside the test
		t.Errorf("of all but itself: %+v, %v, want %d at least", a, err, n.Begun-2)
	}
}

// A process that is held is counted from its exec on, the end of which is the first that is counted.
func TestHeld(t *testing.T) {
	held := exec.Command("sh", "-c", "echo; read go; umask 027; exec true")
	in, err := held.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := held.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	// It has begun before the kernel tells of the end of its own exec, which would be the first, too.
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	of := Scope{PIDs: []int{held.Process.Pid}, Follow: true, Held: true}
	c := counting(t, of, Call{Name: "umask"}, Call{Name: "execve", Execs: true}, Call{Name: "exit_group", OneEnd: true})
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	if err := held.Wait(); err != nil {
		t.Fatal(err)
	}
	counted(t, c, Counts{Begun: 2, Ended: 2}) // execve and exit_group
}

// Each call by name is two events of each CPU, so many cannot be counted.
func TestTooMany(t *testing.T) {
	var calls []Call
	for i := range maxEvents() {
		calls = append(calls, Call{Name: strconv.Itoa(i)})
	}
	id := func(string, string) (uint64, error) { return 0, nil }
	for name, of := range map[string]Scope{"all": {}, "process": {PIDs: []int{os.Getpid()}}} {
		if _, err := Open(calls, of, id); !errors.Is(err, ErrTooMany) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
