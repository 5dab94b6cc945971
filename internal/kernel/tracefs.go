package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Where tracefs is, messages why it cannot be read, and the kernel's lockdown.

// The kinds of trouble with tracefs; use errors.Is.
var (
	ErrNoTracefs  = errors.New("tracefs is missing")
	ErrPermission = errors.New("no permission")
	ErrLockdown   = errors.New("the kernel is locked down")
)

var tracefsPlaces = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// TracefsPath gives the folder of tracefs. As root it is mounted at
// /sys/kernel/tracing if it is nowhere.
func (f *Facts) TracefsPath() (string, error) {
	f.tracefsOnce.Do(func() {
		if f.opts.TracefsPath != "" {
			f.tracefs = f.opts.TracefsPath
			return
		}
		f.tracefs, f.tracefsErr = findTracefs()
	})
	return f.tracefs, f.tracefsErr
}

// CheckTracefs says why the formats of tracepoints cannot be read: the folders of
// tracefs can be open to all while its files are not (Debian's 6.18).
func (f *Facts) CheckTracefs() error {
	dir, err := f.TracefsPath()
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(dir, "events", "header_page")) // always there, as closed as the formats
	switch {
	case errors.Is(err, fs.ErrPermission):
		return permissionError(dir)
	case err != nil:
		return nil // a fixture, or another way to show events
	}
	return file.Close()
}

func findTracefs() (string, error) {
	for _, dir := range tracefsPlaces {
		_, err := os.Stat(filepath.Join(dir, "events"))
		if err == nil {
			return dir, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			return "", permissionError(dir)
		}
	}
	dir := tracefsPlaces[0]
	if os.Geteuid() != 0 {
		return "", fmt.Errorf("%w: not mounted at %s, and mounting it needs root", ErrNoTracefs, dir)
	}
	if err := unix.Mount("tracefs", dir, "tracefs", 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
		return "", fmt.Errorf("%w: mount it at %s: %w", ErrNoTracefs, dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "events")); err != nil {
		if err := lockedDown(); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: %s has no folder events; was the kernel built without CONFIG_FTRACE?", ErrNoTracefs,
			dir)
	}
	return dir, nil
}

// permissionError explains EACCES and EPERM: root meets them under lockdown.
func permissionError(path string) error {
	if err := lockedDown(); err != nil && os.Geteuid() == 0 {
		return err
	}
	return fmt.Errorf("%w to read %s: run as root (or with CAP_DAC_READ_SEARCH)", ErrPermission, path)
}

// lockedDown gives an error if the kernel is locked down in a way that closes
// tracefs: at boot then, no event has a folder.
func lockedDown() error {
	if mode := Lockdown(); mode == "confidentiality" {
		return fmt.Errorf("%w (%s): it hides tracefs; "+
			"boot without lockdown=%s", ErrLockdown, mode, mode)
	}
	return nil
}

// Lockdown gives the mode of the kernel's lockdown: "none", "integrity" or
// "confidentiality"; "" if the kernel has no lockdown or the file cannot be
// read (man 7 kernel_lockdown).
func Lockdown() string {
	b, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	return ParseLockdown(string(b))
}

// ParseLockdown finds the chosen word in "none [integrity] confidentiality".
func ParseLockdown(s string) string {
	for _, word := range strings.Fields(s) {
		if strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") {
			return word[1 : len(word)-1]
		}
	}
	return ""
}
