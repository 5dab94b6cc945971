package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Which types of file systems and which disks the kernel has, for the flags fstype and diskname.

// FileSystems gives the types of file systems that the kernel knows at this
// moment: a module can bring another one.
func FileSystems() ([]string, error) {
	text, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(text)) { // "nodev\tproc", "\text4"
		_, name, _ := strings.Cut(strings.TrimSpace("x"+line), "\t")
		out = append(out, name)
	}
	return out, nil
}

// Disks gives the names of the block devices that make requests of their own:
// disks, and not their partitions.
func Disks() ([]string, error) { return dirNames("/sys/block") }

// DiskOf gives the disk of a partition; "" for what is no partition that is
// there now.
func DiskOf(name string) string { return diskOf("/sys", name) }

func diskOf(sysfs, name string) string {
	if strings.Contains(name, "/") {
		return ""
	}
	dir := filepath.Join(sysfs, "class/block", name)
	if _, err := os.Stat(filepath.Join(dir, "partition")); err != nil {
		return ""
	}
	at, err := filepath.EvalSymlinks(dir) // …/block/sda/sda1
	if err != nil {
		return ""
	}
	return filepath.Base(filepath.Dir(at))
}

func dirNames(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there: is sysfs mounted?", dir)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out, err
}
