package procs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What /proc knows of a process, for proc(pid): exe, cwd, cmdline, cgroup, container, open files. Each is false where
// the process has ended or may not be looked at.

// Link reads exe or cwd.
func Link(pid int, name string) (string, bool) {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", pid, name))
	return to, err == nil
}

// Cmdline is what the process was called with; nil where it has none, as
// threads of the kernel.
func Cmdline(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// Cgroup is its path in the unified hierarchy, else in the first that has one
// (cgroups(7)).
func Cgroup(pid int) (string, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", false
	}
	first, found := "", false
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(part) != 3:
		case part[0] == "0" && (part[2] != "/" || !found):
			return part[2], true
		case !found:
			first, found = part[2], true
		}
	}
	return first, found
}

// containerID is how Docker, containerd, CRI-O and Podman name the cgroups of
// containers: 64 hexadecimal digits, with a prefix or a suffix by systemd.
var containerID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{64}`) })

// ContainerOf is the id of the innermost container in a cgroup's path.
func ContainerOf(path string) string {
	all := containerID().FindAllString(path, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// An OpenFile is the number of a descriptor, FD, and what it leads to, To, as the links in /proc/PID/fd have it.
type OpenFile struct{ FD, To string }

// Open lists what a process has open, in the order of the numbers.
func Open(pid int) ([]OpenFile, bool) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	var out []OpenFile
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			out = append(out, OpenFile{e.Name(), to})
		}
	}
	slices.SortFunc(out, func(a, b OpenFile) int {
		return cmp.Or(cmp.Compare(len(a.FD), len(b.FD)), cmp.Compare(a.FD, b.FD))
	})
	return out, true
}
