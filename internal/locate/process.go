package locate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/startrace/startrace/internal/mapping"
)

// The file of a name among those that the traced process has mapped.

// mapped finds a name among the files that the process has mapped as code; its
// own program first.
func (f *Finder) mapped(name string) (Location, bool, error) {
	dir := fmt.Sprintf("%s/%d", f.procDir(), f.PID)
	list, err := mapping.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Location{}, false, fmt.Errorf("there is no process %d", f.PID)
	case err != nil:
		return Location{}, false, fmt.Errorf("read what process %d has mapped: %w", f.PID, err)
	}
	how := fmt.Sprintf("mapped by process %d", f.PID)
	if exe, err := os.Readlink(dir + "/exe"); err == nil {
		var program mapping.Mapping
		if program.SetPath(exe); filepath.Base(program.Path) == name {
			return Location{Path: dir + "/exe", Name: program.Path, Root: f.root(), How: how}, true, nil
		}
	}
	var best mapping.Mapping
	for _, m := range list {
		base := filepath.Base(m.Path)
		if m.Code && m.File() && isLibrary(base, name) && (best.Path == "" || newer(base, filepath.Base(best.Path))) {
			best = m
		}
	}
	if best.Path == "" {
		return Location{}, false, nil
	}
	loc := Location{Name: best.Path, Root: f.root(), How: how}
	var ok bool
	if loc.Path, _, ok = f.regular(best.Path); best.Deleted || !ok {
		// Replaced since it was mapped: the kernel still has it under its addresses.
		loc.Path = dir + "/map_files/" + best.Range()
	}
	return loc, true, nil
}

// run is the file that the process runs under a name: if all that it has mapped of it as code has lost the name since,
// as when a package is upgraded, that is what it has mapped, which the kernel still has under its addresses.
func (f *Finder) run(at Location) Location {
	if f.PID == 0 {
		return at
	}
	dir := fmt.Sprintf("%s/%d", f.procDir(), f.PID)
	list, err := mapping.Read(dir)
	if err != nil {
		return at // that there is no such process is said where it is traced
	}
	old := ""
	for _, m := range list {
		if !m.Code || !m.File() || m.Path != at.Name {
			continue
		}
		if !m.Deleted {
			return at
		}
		old = dir + "/map_files/" + m.Range()
	}
	if old != "" {
		at.Path, at.Replaced, at.How = old, true, fmt.Sprintf("mapped by process %d", f.PID)
	}
	return at
}
