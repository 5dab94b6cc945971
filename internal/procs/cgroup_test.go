package procs

import (
	"os"
	"path/filepath"
	"testing"
)

// A cgroup that is not there is told with what there is, and with what can be given.
func TestMissingCgroup(t *testing.T) {
	m := cgroupMount{folder: t.TempDir(), root: "/"}
	wanted := ": give a folder of " + m.folder + ", or what stands behind 0:: in /proc/PID/cgroup"
	missing := filepath.Join(m.folder, "missing")
	check := func(want string) {
		t.Helper()
		if _, err := m.cgroup(missing); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	check("there is no cgroup " + missing + wanted)
	if err := os.Mkdir(filepath.Join(m.folder, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("there is no cgroup " + missing + "; there are other" + wanted)
}

// A path that leads to something else is no cgroup.
func TestNoCgroup(t *testing.T) {
	mounts, err := cgroupMounts()
	if err != nil {
		t.Skipf("needs cgroups of version 2 (CONFIG_CGROUPS, mount -t cgroup2; guests have it): %v", err)
	}
	path := t.TempDir()
	if _, err := FindCgroup(path); err == nil || err.Error() != path+" is no cgroup: "+mounts[0].wanted() {
		t.Errorf("got %v", err)
	}
}
