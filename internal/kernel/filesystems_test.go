package kernel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFileSystems(t *testing.T) {
	names, err := FileSystems()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, " \t\n") {
			t.Errorf("%q is no type", name)
		}
	}
	if !slices.Contains(names, "proc") || !slices.Contains(names, "tmpfs") {
		t.Errorf("got %q, want proc and tmpfs among them", names)
	}
}

// A partition has no requests of its own.
//
// > A message tells of a name that the machine does not have, and a partition is refused.
// > A partition is refused: its requests are those of its disk.
func TestDiskOf(t *testing.T) {
	sysfs := t.TempDir()
	disk := filepath.Join(sysfs, "devices/pci/block/sda")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(disk, "sda1"), 0o700),
		os.WriteFile(filepath.Join(disk, "sda1/partition"), []byte("1\n"), 0o600),
		os.MkdirAll(filepath.Join(sysfs, "class/block"), 0o700),
		os.Symlink(disk, filepath.Join(sysfs, "class/block/sda")),
		os.Symlink(filepath.Join(disk, "sda1"), filepath.Join(sysfs, "class/block/sda1")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"sda1": "sda", "sda": "", "sdb1": "", "": "", "../sda1": ""} {
		if got := diskOf(sysfs, name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
