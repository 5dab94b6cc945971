package locate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mapped finds a name among the files that the process has mapped as code; its
// own program first.
func (f *Finder) mapped(name string) (Location, bool, error) {
	dir := fmt.Sprintf("%s/%d", f.procDir(), f.PID)
	text, err := os.ReadFile(dir + "/maps")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Location{}, false, fmt.Errorf("there is no process %d", f.PID)
	case err != nil:
		return Location{}, false, fmt.Errorf("read what process %d has mapped: %w", f.PID, err)
	}
	how := fmt.Sprintf("mapped by process %d", f.PID)
	if exe, err := os.Readlink(dir + "/exe"); err == nil && filepath.Base(strings.TrimSuffix(exe, deleted)) == name {
		return Location{Path: dir + "/exe", Name: strings.TrimSuffix(exe, deleted), Root: f.root(), How: how}, true, nil
	}
	var best codeMapping
	for _, m := range codeMappings(string(text)) {
		base := filepath.Base(m.name)
		if isLibrary(base, name) && (best.name == "" || newer(base, filepath.Base(best.name))) {
			best = m
		}
	}
	if best.name == "" {
		return Location{}, false, nil
	}
	loc := Location{Name: best.name, Root: f.root(), How: how}
	var ok bool
	if loc.Path, _, ok = f.regular(best.name); best.deleted || !ok {
		// Replaced since it was mapped: the kernel still has it under its addresses
		// (proc_pid_map_files(5)).
		loc.Path = fmt.Sprintf("%s/map_files/%s", dir, best.addresses)
	}
	return loc, true, nil
}

const deleted = " (deleted)"

type codeMapping struct {
	addresses, name string
	deleted         bool
}

// codeMappings reads the lines of /proc/PID/maps that are code of files.
func codeMappings(text string) (out []codeMapping) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 || !strings.Contains(f[1], "x") || !strings.HasPrefix(f[5], "/") {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		// map_files writes addresses without zeros in front.
		m := codeMapping{addresses: strings.TrimLeft(from, "0") + "-" + strings.TrimLeft(to, "0"), name: strings.TrimSuffix(line[strings.Index(line, f[5]):], "\n")}
		m.name, m.deleted = strings.CutSuffix(m.name, deleted)
		out = append(out, m)
	}
	return out
}
