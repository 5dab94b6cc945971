package binary

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
)

// Variable gives the address of a variable in the memory of the traced
// process.
func (f *Finder) Variable(file, name string) (uint64, error) {
	e, at, err := f.file(file)
	if err != nil {
		return 0, err
	}
	v, err := e.Variable(name)
	switch {
	case err != nil:
		return 0, err
	case !e.Moves():
		return v.Addr, nil
	case f.Locate.PID == 0:
		return 0, fmt.Errorf("%s is loaded at another address each time (position-independent), and the command of "+
			"-c is not loaded yet: trace a running process with -p, or build it with -no-pie", at.Name)
	}
	moved, err := loadedAt(f.Locate.PID, e)
	return moved + v.Addr, err
}

// loadedAt is what the loader of a process added to the addresses of a file.
func loadedAt(pid int, e *elffile.File) (uint64, error) {
	list, err := mapping.Read(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return 0, fmt.Errorf("find where process %d has %s: %w", pid, e.Path, err)
	}
	want, err := os.Stat(e.Path)
	if err != nil {
		return 0, fmt.Errorf("find where process %d has %s: %w", pid, e.Path, err)
	}
	for _, m := range list {
		if !m.File() {
			continue
		}
		have, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", pid), m.Path))
		if err != nil || !os.SameFile(have, want) {
			continue
		}
		if addr, ok := e.Addr(m.Offset); ok {
			return m.Start - addr, nil
		}
	}
	return 0, fmt.Errorf("process %d has not loaded %s", pid, e.Path)
}
