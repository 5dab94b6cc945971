package procs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/format"
)

// --cgroup and --container: control groups by their paths and ids, and messages when there is none or only version 1.

// A CgroupFolder is a cgroup of version 2 as programs know it: by the number of its folder, which is that of the inode,
// and how many cgroups it is in.
type CgroupFolder struct {
	Path  string // of its folder
	ID    uint64 // the inode's number
	Level int    // how many cgroups it is in
}

// A cgroupMount is a place at which cgroups of version 2 are mounted.
type cgroupMount struct {
	folder string
	root   string // which cgroup is there, as our cgroup namespace sees it
}

// cgroupMounts are all places, as /proc/self/mountinfo has them (proc(5)).
func cgroupMounts() (list []cgroupMount, err error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find the cgroups: %w", err)
	}
	old := false
	for line := range strings.Lines(string(mounts)) {
		place, kind, _ := strings.Cut(line, " - ")
		fields := strings.Fields(place)
		switch name, _, _ := strings.Cut(kind, " "); {
		case len(fields) < 5:
		case name == "cgroup2":
			list = append(list, cgroupMount{folder: fields[4], root: fields[3]})
		case name == "cgroup":
			old = true
		}
	}
	switch {
	case len(list) == 0 && old:
		return nil, errors.New("this machine has cgroups of version 1 only: " +
			"programs in the kernel know those of version 2")
	case len(list) == 0:
		return nil, errors.New("no cgroups of version 2 are mounted here; mount -t cgroup2 none /sys/fs/cgroup does it")
	}
	return list, nil
}

// FindCgroup finds a cgroup by the path of its folder, or by what is behind the mount point, as /proc/PID/cgroup has
// it.
func FindCgroup(path string) (CgroupFolder, error) {
	mounts, err := cgroupMounts()
	if err != nil {
		return CgroupFolder{}, err
	}
	clean := filepath.Clean(path)
	for _, m := range mounts {
		if clean == m.folder || strings.HasPrefix(clean, m.folder+"/") {
			return m.cgroup(clean)
		}
	}
	folder := filepath.Join(mounts[0].folder, path)
	if _, err := os.Stat(folder); err != nil {
		if version1(path) {
			return CgroupFolder{}, fmt.Errorf("%s is a cgroup of version 1: "+
				"programs in the kernel know those of version 2, which are below %s", path, mounts[0].folder)
		}
		if _, err := os.Stat(path); err == nil && filepath.IsAbs(path) {
			return CgroupFolder{}, fmt.Errorf("%s is no cgroup: %s", path, mounts[0].wanted())
		}
	}
	return mounts[0].cgroup(folder)
}

// version1 reports whether a path leads to a cgroup of version 1.
func version1(path string) bool {
	var at unix.Statfs_t
	return unix.Statfs(path, &at) == nil && int64(at.Type) == unix.CGROUP_SUPER_MAGIC
}

// cgroup is that of a folder.
func (m cgroupMount) cgroup(folder string) (c CgroupFolder, err error) {
	var at unix.Stat_t
	switch err := unix.Stat(folder, &at); {
	case errors.Is(err, unix.ENOENT):
		beside := thereAre(cgroupsIn(filepath.Dir(folder)))
		return c, fmt.Errorf("there is no cgroup %s%s: %s", folder, beside, m.wanted())
	case err != nil:
		return c, fmt.Errorf("%s: %w", folder, err)
	case at.Mode&unix.S_IFMT != unix.S_IFDIR:
		return c, fmt.Errorf("%s is no cgroup: that is a folder", folder)
	}
	above, err := m.level()
	if err != nil {
		return c, err
	}
	c = CgroupFolder{Path: folder, ID: at.Ino, Level: above}
	if below, _ := filepath.Rel(m.folder, folder); below != "." {
		c.Level += strings.Count(below, "/") + 1
	}
	return c, nil
}

// wanted says what can be given for a cgroup.
func (m cgroupMount) wanted() string {
	return "give a folder of " + m.folder + ", or what stands behind 0:: in /proc/PID/cgroup"
}

// cgroupsIn are the names of the cgroups in one.
func cgroupsIn(folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// thereAre says which there are instead of what was not found.
func thereAre(names []string) string {
	const shown = 10
	if len(names) == 0 {
		return ""
	}
	return "; there are " + format.Few(names, shown)
}

// A container is one of version 2's cgroups that a program for containers has made.
type container struct {
	id     string
	folder string
}

// FindContainer finds the cgroup of a container by its id, or how that begins.
func FindContainer(id string) (CgroupFolder, error) {
	mounts, err := cgroupMounts()
	if err != nil {
		return CgroupFolder{}, err
	}
	m := mounts[0]
	all := containers(m.folder)
	var found []container
	for _, c := range all {
		if strings.HasPrefix(c.id, id) {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		return m.cgroup(found[0].folder)
	case len(found) > 1:
		return CgroupFolder{}, fmt.Errorf("the ids of %d containers begin with %s: %s", len(found), id,
			strings.Join(shortIDs(found), ", "))
	case len(all) == 0:
		return CgroupFolder{}, fmt.Errorf("no cgroup below %s is that of a container", m.folder)
	}
	return CgroupFolder{}, fmt.Errorf("there is no container %s%s", id, thereAre(shortIDs(all)))
}

// shortIDs are the first digits of ids, as programs for containers show them.
func shortIDs(list []container) (out []string) {
	const digits = 12
	for _, c := range list {
		out = append(out, c.id[:digits])
	}
	return out
}

// containers are those whose cgroups are below a folder, each once: cgroups that a container makes in its own are part
// of it.
func containers(tree string) (out []container) {
	walk := func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // it has gone, or may not be looked at
		}
		name := d.Name()
		id := containerID().FindString(name)
		if id == "" || strings.Contains(name, "conmon") { // Podman's and CRI-O's monitor of the container
			return nil
		}
		if !slices.ContainsFunc(out, func(c container) bool { return c.id == id }) {
			out = append(out, container{id, path})
		}
		return fs.SkipDir
	}
	_ = filepath.WalkDir(tree, walk) // it returns what walk does: nothing
	return out
}
