package procs

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mapsLibc reports whether the C library is mapped in the child.
func mapsLibc(t *testing.T, c *Child) bool {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", c.PID()))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(maps), "libc.so")
}

// Behind the dynamic linker the libraries are there and the program has done nothing. An error there ends it, and the
// program itself, when it goes on, does not see that it was stopped.
func TestStartLinked(t *testing.T) {
	needLinker(t, "touch")
	file := filepath.Join(t.TempDir(), "made")
	for _, want := range []error{nil, errors.New("no")} {
		c := start(t, "touch", file)
		if c.Unheld() != nil {
			t.Skip("needs ptrace(2):", c.Unheld())
		}
		var refused error
		before, linked := false, false
		err := c.Go(Stops{
			Loaded: func() error {
				before = mapsLibc(t, c)
				refused = errors.Join(breakAt(c.PID(), 4096), breakAt(c.PID(), 0))
				return nil
			},
			Linked: func() error {
				linked = mapsLibc(t, c)
				if _, err := os.Stat(file); err == nil {
					t.Error("the command has run already")
				}
				return want
			},
		})
		if refused != nil {
			t.Skip("needs a CPU with breakpoints that ptrace sets:", refused)
		}
		if !errors.Is(err, want) || before || !linked {
			t.Errorf("got %v, want %v; the C library is there before %v, behind %v", err, want, before, linked)
		}
		status(t, c)
		if _, err := os.Stat(file); (err == nil) != (want == nil) {
			t.Errorf("the command has run: %v, want %v", err == nil, want == nil)
		}
		_ = os.Remove(file)
	}
}

// needLinker skips a test where a program is begun without a dynamic linker, as those of busybox.
func needLinker(t *testing.T, program string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip("needs the program "+program+":", err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Skip("needs a dynamic linker for " + path)
	}
}

// One that is killed before it begins itself has ended, and one that ends in the dynamic linker does so.
func TestStartUnlinked(t *testing.T) {
	c := start(t, "true")
	if c.Unheld() != nil {
		t.Skip("needs ptrace(2):", c.Unheld())
	}
	never := func() error { return errors.New("it is not to be called") }
	if err := c.Go(Stops{Loaded: func() error { return c.Signal(unix.SIGKILL) }, Linked: never}); err != nil {
		t.Error(err)
	}
	if got := status(t, c); got != 128+int(unix.SIGKILL) {
		t.Errorf("status %d after SIGKILL", got)
	}
	t.Setenv("LD_PRELOAD", "")
	t.Setenv("LD_TRACE_LOADED_OBJECTS", "1") // the dynamic linker lists the libraries and ends
	c = start(t, "true")
	if err := c.Go(Stops{Loaded: func() error { return nil }, Linked: never}); err != nil {
		t.Error(err)
	}
	if got := status(t, c); got != 0 {
		t.Errorf("status %d of the dynamic linker", got)
	}
}
