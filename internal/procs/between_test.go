package procs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Between the stub and the command the process has the command's program and has done nothing. An error there ends it.
func TestStartBetween(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made")
	for _, want := range []error{nil, errors.New("no")} {
		c := start(t, "touch", file)
		if c.Unheld() != nil {
			t.Skip("needs ptrace(2):", c.Unheld())
		}
		var program string
		err := c.Go(Stops{Loaded: func() (err error) {
			program, err = os.Readlink(fmt.Sprintf("/proc/%d/exe", c.PID()))
			if _, made := os.Stat(file); made == nil {
				t.Error("the command has run already")
			}
			return errors.Join(err, want)
		}})
		resolved, linkErr := filepath.EvalSymlinks(c.path)
		if linkErr != nil {
			t.Fatal(linkErr)
		}
		if !errors.Is(err, want) || program != resolved {
			t.Errorf("got %v, want %v; program %s, want %s", err, want, program, resolved)
		}
		wanted := 0
		if want != nil {
			wanted = 128 + int(unix.SIGKILL)
		}
		if got := status(t, c); got != wanted {
			t.Errorf("status %d, want %d", got, wanted)
		}
		if _, err := os.Stat(file); (err == nil) != (want == nil) {
			t.Errorf("the command has run: %v, want %v", err == nil, want == nil)
		}
		_ = os.Remove(file)
	}
}

// What is no program is told as without a stop, and what was to be done between is not.
func TestStartNothingBetween(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nothing")
	if err := os.WriteFile(file, []byte("nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, file)
	if c.Unheld() != nil {
		t.Skip("needs ptrace(2):", c.Unheld())
	}
	err := c.Go(Stops{Loaded: func() error { return errors.New("it is not to be called") }})
	if !errors.Is(err, unix.ENOEXEC) {
		t.Errorf("got %v, want %v", err, unix.ENOEXEC)
	}
	if got := status(t, c); got != exitUnstarted {
		t.Errorf("status %d, want %d", got, exitUnstarted)
	}
	// One that is killed while it waits has no command, which Wait says.
	c = start(t, "touch", file)
	if err := c.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Go(Stops{Loaded: func() error { return errors.New("it is not to be called") }}); err != nil {
		t.Error(err)
	}
	if got := status(t, c); got != 128+int(unix.SIGKILL) {
		t.Errorf("status %d after SIGKILL", got)
	}
}
