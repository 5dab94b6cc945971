package binary

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
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
		return 0, fmt.Errorf("%s is loaded at another address each time (position-independent), and the command of -c is not loaded yet: trace a running process with -p, or build it with -no-pie", at.Name)
	}
	moved, err := loadedAt(f.Locate.PID, e)
	return moved + v.Addr, err
}

// loadedAt is what the loader of a process added to the addresses of a file.
func loadedAt(pid int, e *elffile.File) (uint64, error) {
	maps := fmt.Sprintf("/proc/%d/maps", pid)
	text, err := os.ReadFile(maps)
	if err != nil {
		return 0, fmt.Errorf("find where process %d has %s: %w", pid, e.Path, err)
	}
	want, err := os.Stat(e.Path)
	if err != nil {
		return 0, fmt.Errorf("find where process %d has %s: %w", pid, e.Path, err)
	}
	for line := range strings.Lines(string(text)) {
		start, offset, path, ok := mapping(line)
		if !ok {
			continue
		}
		have, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", pid), path))
		if err != nil || !os.SameFile(have, want) {
			continue
		}
		if addr, ok := e.Addr(offset); ok {
			return start - addr, nil
		}
	}
	return 0, fmt.Errorf("process %d has not loaded %s", pid, e.Path)
}

// mapping reads a line of /proc/PID/maps (proc_pid_maps(5)):
//
//	55d0c0000000-55d0c0001000 r--p 00000000 08:01 1234   /usr/bin/cat
func mapping(line string) (start, offset uint64, path string, ok bool) {
	fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
	if len(fields) < 6 {
		return 0, 0, "", false
	}
	path = strings.TrimSuffix(strings.TrimLeft(fields[5], " "), " (deleted)")
	first, _, _ := strings.Cut(fields[0], "-")
	start, err := strconv.ParseUint(first, 16, 64)
	offset, offErr := strconv.ParseUint(fields[2], 16, 64)
	return start, offset, path, err == nil && offErr == nil && strings.HasPrefix(path, "/")
}
