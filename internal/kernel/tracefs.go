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
		if lock := Lockdown(); lock != "" && lock != "none" {
			return "", lockdownError(lock)
		}
		return "", fmt.Errorf("%w: %s has no folder events; was the kernel built without CONFIG_FTRACE?", ErrNoTracefs, dir)
	}
	return dir, nil
}

func permissionError(path string) error {
	return fmt.Errorf("%w to read %s: run as root (or with CAP_DAC_READ_SEARCH)", ErrPermission, path)
}

func lockdownError(mode string) error {
	return fmt.Errorf("%w (%s): tracefs is closed when the kernel boots so; "+
		"boot without lockdown=%s or switch Secure Boot off", ErrLockdown, mode, mode)
}

// Lockdown gives the mode of the kernel's lockdown: "none", "integrity" or
// "confidentiality"; "" if the kernel has no lockdown or the file cannot be
// read (man 7 kernel_lockdown).
func Lockdown() string {
	b, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	return parseLockdown(string(b))
}

// parseLockdown finds the chosen word in "none [integrity] confidentiality".
func parseLockdown(s string) string {
	for _, word := range strings.Fields(s) {
		if strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") {
			return word[1 : len(word)-1]
		}
	}
	return ""
}
