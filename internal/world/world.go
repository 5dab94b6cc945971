// Package world is what a script can reach outside of itself: what /proc and the
// machine know, files that it may write, commands that it may run.
package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/starlark/value"
)

// What proc(), write_file() (--allow-write) and run() (--allow-run) do, how much a command may write (`mostOutput`),
// and messages of these.

// Granted is what the command line lets a script do: AllowWrite are folders below which it may write (--allow-write),
// AllowRun lets it run commands (--allow-run).
type Granted struct {
	AllowWrite []string // folders
	AllowRun   bool
}

// A World is what a script can reach outside of itself: it reads /proc, and
// writes files and runs commands where the command line grants it.
type World struct {
	// Granted is what the command line has granted.
	Granted Granted
	// Traced learns of texts from outside that could forge lines of a terminal.
	Traced *value.Traced
	// Sight gives the number by which /proc knows the process that scripts know by another one (e.pid); nil: by the
	// same.
	Sight func(pid int) int
	// Idle is set where the script is only looked at: what was granted does nothing. A command that was not run has
	// ended well, without a word.
	Idle bool
	// Say tells the user what is no mistake but worth knowing.
	Say func(format string, args ...any)
}

var _ builtins.Outside = (*World)(nil)

// FileSystem says of a type of file systems that the kernel does not know it.
func (w *World) FileSystem(name string) error {
	known, err := kernel.FileSystems()
	if err == nil && !slices.Contains(known, name) {
		w.Say("startrace: the kernel knows no file system %s%s; only one that a module brings will match", name,
			mistake.Near(name, known))
	}
	return err
}

// Disk says of a disk that it is not there. Requests are those of disks: a
// partition has none.
func (w *World) Disk(name string) error {
	if disk := kernel.DiskOf(name); disk != "" {
		return fmt.Errorf("got the partition %s, want a disk: its requests are those of %s", name, disk)
	}
	known, err := kernel.Disks()
	if err == nil && !slices.Contains(known, name) {
		w.Say("startrace: there is no disk %s%s; only one that comes later will match", name, mistake.Near(name, known))
	}
	return err
}

// Write writes a file below one of the folders. os.Root follows no link that
// leads out of it.
func (w *World) Write(name, text string, add bool) error {
	if len(w.Granted.AllowWrite) == 0 {
		return fmt.Errorf("%s: a script writes no files by itself; --allow-write DIR grants it below DIR", name)
	}
	if name == "" {
		return errors.New("the file has no name")
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if add {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	for _, dir := range w.Granted.AllowWrite {
		inside, err := below(dir, name)
		if err != nil {
			return err
		}
		switch {
		case inside != "" && w.Idle:
			return nil
		case inside != "":
			return writeBelow(dir, inside, text, flags)
		}
	}
	return fmt.Errorf("%s is not below %s (--allow-write)", name, strings.Join(w.Granted.AllowWrite, " or "))
}

// below gives the name as one in dir; "": it is none.
func below(dir, name string) (string, error) {
	if !filepath.IsAbs(name) {
		if !filepath.IsLocal(name) {
			return "", nil // above the folder, or no name
		}
		return name, nil
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(whole, name)
	if err != nil || !filepath.IsLocal(inside) {
		return "", nil // elsewhere
	}
	return inside, nil
}

func writeBelow(dir, name, text string, flags int) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("--allow-write %s: %w", dir, reasonOf(err))
	}
	defer root.Close()
	f, err := root.OpenFile(name, flags|unix.O_NONBLOCK, 0o644)
	switch {
	case errors.Is(err, unix.ENXIO):
		return fmt.Errorf("%s: nobody reads this pipe: start what reads it first", name)
	case err != nil && !errors.As(err, new(unix.Errno)): // of os.Root itself
		return fmt.Errorf("%s leads out of %s (--allow-write)", name, dir)
	case err != nil:
		return fmt.Errorf("%s: %w", name, reasonOf(err))
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(text)
	return err
}

// reasonOf is what went wrong with a file, without the name of Go's function and of the file.
func reasonOf(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Run runs a command, and ends it after the limit or where ctx is done.
func (w *World) Run(ctx context.Context, argv []string, limit time.Duration) (status int, out, errs string,
	err error) {

	if !w.Granted.AllowRun {
		return 0, "", "", fmt.Errorf("%s: a script runs nothing by itself; --allow-run grants it", argv[0])
	}
	if argv[0] == "" {
		return 0, "", "", errors.New("the command has no name")
	}
	if w.Idle {
		w.Say("startrace: %s is not run here: run() gives the status 0 and no output", argv[0])
		return 0, "", "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second                        // for those that hold its output
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true} // with the processes that it starts
	endAll := func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.Cancel = endAll
	stdout, stderr := bounded{cancel: cancel}, bounded{cancel: cancel}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err = cmd.Start(); err == nil {
		err = cmd.Wait()
		_ = endAll() // ESRCH: none is left
	}
	if stdout.full || stderr.full {
		return 0, "", "", fmt.Errorf("%s: it has written more than %d MB, and was ended", argv[0], mostOutput>>20)
	}
	var failed *exec.ExitError
	switch {
	case cmd.Process == nil && ctx.Err() != nil:
		return -1, "", "", nil // its time was over before it began
	case errors.As(err, &failed) || errors.Is(err, exec.ErrWaitDelay): // the status tells
	case err != nil:
		return 0, "", "", notRun(argv[0], err)
	}
	return cmd.ProcessState.ExitCode(), stdout.text.String(), stderr.text.String(), nil
}

// notRun says why a command was not started.
func notRun(name string, err error) error {
	var looked *exec.Error
	if errors.As(err, &looked) {
		return fmt.Errorf("%s: %w", name, looked.Err)
	}
	return fmt.Errorf("%s: %w", name, reasonOf(err))
}

// mostOutput bounds what a command may write, to each of its outputs.
const mostOutput = 16 << 20

// A bounded buffer ends the command that writes too much. (It embeds no bytes.Buffer, whose
// ReadFrom would read all.)
type bounded struct {
	text   bytes.Buffer
	cancel func() // ends the command
	full   bool   // it has written too much
}

func (b *bounded) Write(text []byte) (int, error) {
	if b.full = b.full || b.text.Len()+len(text) > mostOutput; b.full {
		b.cancel()
		return len(text), nil
	}
	return b.text.Write(text)
}

// Proc reads a word of proc(pid). A process that has ended, or that may not be
// looked at, has none.
func (w *World) Proc(pid int, word string) (starlark.Value, error) {
	if w.Sight != nil {
		pid = w.Sight(pid)
	}
	switch word {
	case "exe", "cwd":
		return w.text(procs.Link(pid, word)), nil
	case "cmdline":
		words := procs.Cmdline(pid)
		if words == nil {
			return starlark.None, nil
		}
		list := make([]starlark.Value, len(words))
		for i, s := range words {
			list[i] = w.text(s, true)
		}
		return starlark.NewList(list), nil
	case "fds":
		return w.open(pid)
	case "cgroup":
		return w.text(procs.Cgroup(pid)), nil
	}
	path, ok := procs.Cgroup(pid)
	id := procs.ContainerOf(path)
	return w.text(id, ok && id != ""), nil
}

func (w *World) text(s string, ok bool) starlark.Value {
	if !ok {
		return starlark.None
	}
	return w.Traced.Text(s, false)
}

// open is what a process has open, by number.
func (w *World) open(pid int) (starlark.Value, error) {
	files, ok := procs.Open(pid)
	if !ok {
		return starlark.None, nil
	}
	d := starlark.NewDict(len(files))
	for _, f := range files {
		n, err := strconv.Atoi(f.FD)
		if err != nil {
			return nil, fmt.Errorf("/proc/%d/fd: %w", pid, err)
		}
		if err := d.SetKey(starlark.MakeInt(n), w.text(f.To, true)); err != nil {
			return nil, err
		}
	}
	return d, nil
}
