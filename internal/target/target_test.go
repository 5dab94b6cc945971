package target

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/procs"
)

func TestMain(m *testing.M) {
	procs.MaybeChild()
	os.Exit(m.Run())
}

func newTarget(t *testing.T) (*Target, *bell.Bell) {
	t.Helper()
	b, messages := bell.New(), &bytes.Buffer{}
	t.Cleanup(func() {
		if messages.Len() > 0 {
			t.Logf("messages: %s", messages)
		}
	})
	return New(b, &output.Messages{W: messages}, machine.Open()), b
}

// The command is held, is let run, and is known to have ended, with its status.
func TestCommand(t *testing.T) {
	target, b := newTarget(t)
	choose(t, target, nil, "sh", "-c", "exit 7")
	if err := target.Hold(nil); err != nil {
		t.Fatal(err)
	}
	of, err := target.OfPlan()
	if err != nil || of.PID == 0 || !of.Follow || !target.Held() || target.Released() {
		t.Errorf("target %+v, %v, held %v, released %v", of, err, target.Held(), target.Released())
	}
	if pid, err := target.Process(0); err != nil || pid != target.child.PID() {
		t.Errorf("process %d, %v, want the command", pid, err)
	}
	if err := target.Release(procs.Stops{}); err != nil {
		t.Fatal(err)
	}
	if status := waitFor(t, target, b); status != 7 || !target.Released() || target.ProcessEnded() {
		t.Errorf("status %d, released %v, -p ended %v", status, target.Released(), target.ProcessEnded())
	}
	target.Stop() // it has ended: nothing to do
}

// A command that outlives the run is told to end, and one that still waits never runs.
func TestStop(t *testing.T) {
	target, b := newTarget(t)
	choose(t, target, nil, "sleep", "1000")
	if err := target.Hold(nil); err != nil {
		t.Fatal(err)
	}
	if err := target.Release(procs.Stops{}); err != nil {
		t.Fatal(err)
	}
	target.Stop()
	if status := waitFor(t, target, b); status != 128+15 {
		t.Errorf("status %d, want that of SIGTERM", status)
	}
	file := t.TempDir() + "/ran"
	choose(t, target, nil, "touch", file)
	if err := target.Hold(nil); err != nil {
		t.Fatal(err)
	}
	target.Stop()
	target.Forget()
	if _, err := os.Stat(file); err == nil || target.Started() {
		t.Error("a command that was held has run")
	}
}

func choose(t *testing.T, target *Target, pids []int, argv ...string) {
	t.Helper()
	if err := target.Choose(pids, false, argv, Scope{}); err != nil {
		t.Fatal(err)
	}
}

func waitFor(t *testing.T, target *Target, b *bell.Bell) (status int) {
	t.Helper()
	for {
		if status, ended := target.CommandEnded(); ended {
			return status
		}
		if err := b.Wait(time.Hour); err != nil {
			t.Fatal(err)
		}
	}
}

// The end of the process of -p is known; without a target, all processes count but this one.
func TestProcess(t *testing.T) {
	if _, err := procs.SelfInitPID(); err != nil {
		t.Skip("needs the initial pid namespace, or root to load programs:", err)
	}
	if _, err := procs.Ending(os.Getpid()); err != nil {
		t.Skip("needs pidfd_open(2), which a filter of system calls may forbid:", err)
	}
	target, b := newTarget(t)
	if of, err := target.OfPlan(); err != nil || of.Self == 0 || of.PID != 0 {
		t.Errorf("target %+v, %v, want all but this process", of, err)
	}
	if _, err := target.Process(0); err == nil {
		t.Error("a process that nobody named is found")
	}
	child, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	choose(t, target, []int{child.Pid})
	target.Watch(nil)
	if err := child.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	for !target.ProcessEnded() {
		if err := b.Wait(time.Hour); err != nil {
			t.Fatal(err)
		}
	}
}
