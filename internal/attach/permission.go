package attach

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// raiseMemlock lifts RLIMIT_MEMLOCK until restore is called: what is charged
// stays charged, and commands that are started do not inherit it.
func raiseMemlock() (restore func(), ok bool) {
	var old unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old) != nil || old.Max == unix.RLIM_INFINITY && old.Cur == old.Max {
		return nil, false
	}
	all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if unix.Setrlimit(unix.RLIMIT_MEMLOCK, &all) != nil {
		return nil, false
	}
	return func() { _ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old) }, true
}

// ErrPermission is in the chain of errors that more rights would cure.
var ErrPermission = errors.New("not permitted")

// ErrLockdown is in the chain of errors that come from the kernel's lockdown.
var ErrLockdown = errors.New("the kernel is locked down")

// The bits of the capabilities that tracing needs (capability(7)).
const (
	capSysAdmin = 21
	capPerfmon  = 38
	capBPF      = 39
)

// explainPermission says what is missing when the kernel returned EPERM.
func explainPermission(err error) error {
	if !errors.Is(err, unix.EPERM) || errors.Is(err, ErrLockdown) || errors.Is(err, ErrPermission) {
		return err
	}
	if lockdown := lockdownMode(); lockdown != "none" {
		return fmt.Errorf("%w (%s mode): %w", ErrLockdown, lockdown, err)
	}
	held, capErr := effectiveCapabilities()
	has := func(bit uint) bool { return held>>bit&1 != 0 }
	switch {
	case capErr != nil:
		return fmt.Errorf("%w: %w; tracing needs root", ErrPermission, err)
	case has(capSysAdmin) || has(capBPF) && has(capPerfmon):
		return fmt.Errorf("%w: %w; this process has the capabilities, so a container, a security module or seccomp forbids it", ErrPermission, err)
	}
	return fmt.Errorf("%w: %w; tracing needs root, or CAP_BPF and CAP_PERFMON from Linux 5.8", ErrPermission, err)
}

// effectiveCapabilities gives the thread's capabilities as a bit set.
func effectiveCapabilities() (uint64, error) {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return 0, err
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), nil
}

// lockdownMode gives "none", "integrity" or "confidentiality"; a kernel
// without lockdown has no such file, and an unreadable one says nothing.
func lockdownMode() string {
	text, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return "none"
	}
	return selectedWord(string(text))
}

// selectedWord gives the word in brackets of "none [integrity] confidentiality".
func selectedWord(text string) string {
	if _, rest, ok := strings.Cut(text, "["); ok {
		if word, _, ok := strings.Cut(rest, "]"); ok {
			return word
		}
	}
	return "none"
}
