package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"
)

// edit(), which opens $EDITOR.

// edit is edit(): what was entered last is opened in the user's editor, and
// what that saves stands in the next line. Events are delivered meanwhile, and
// shown afterwards.
func (p *prompt) edit(arg starlark.Value) (starlark.Value, error) {
	switch {
	case arg != nil:
		return nil, errors.New("edit: got an argument, want none: edit()")
	case p.s.InCallback() || !p.inChunk:
		return nil, errors.New("edit: not in a callback, which would wait for the editor")
	}
	name, err := temporary(p.latest)
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	defer os.Remove(name)
	if err := p.runEditor(name); err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	p.Suggest(strings.TrimRight(string(text), "\n"))
	return starlark.None, nil
}

// temporary makes a file of a text.
func temporary(text string) (name string, err error) {
	f, err := os.CreateTemp("", "startrace-*.star")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

// runEditor runs the editor at the terminal, and goes on with the loop until it
// has ended.
func (p *prompt) runEditor(name string) error {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	in, out, back, err := p.Lend()
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", editor+` "$1"`, editor, name) // the words of $EDITOR are the shell's to split
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	if err := cmd.Start(); err != nil {
		return errors.Join(err, back())
	}
	var ended atomic.Bool
	result := make(chan error, 1)
	go func() {
		result <- cmd.Wait()
		ended.Store(true)
		p.s.Wake()
	}()
	p.inChunk = false // callbacks start no second one
	err = p.deliverWhile(func() bool { return !ended.Load() && !p.s.Over() })
	p.inChunk = true
	if !ended.Load() {
		err = errors.Join(err, cmd.Process.Signal(unix.SIGTERM)) // the run is over
	}
	if failed := <-result; failed != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w", editor, failed))
	}
	return errors.Join(err, back())
}
