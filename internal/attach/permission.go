package attach

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// EPERM of the kernel marked as missing rights, and the limit of locked memory (RLIMIT_MEMLOCK) raised.

// raiseMemlock lifts RLIMIT_MEMLOCK until restore is called: what is charged
// stays charged, and commands that are started do not inherit it.
func raiseMemlock() (restore func(), ok bool) { return raise(unix.RLIMIT_MEMLOCK) }

// raise lifts a limit of this process, as far as it goes, until restore is called; not ok, it is as high as it can be.
func raise(resource int) (restore func(), ok bool) {
	var old unix.Rlimit
	if unix.Getrlimit(resource, &old) != nil || old.Max == unix.RLIM_INFINITY && old.Cur == old.Max {
		return nil, false
	}
	all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if unix.Setrlimit(resource, &all) != nil {
		most := unix.Rlimit{Cur: old.Max, Max: old.Max} // as far as it goes without CAP_SYS_RESOURCE
		if old.Cur == old.Max || unix.Setrlimit(resource, &most) != nil {
			return nil, false
		}
	}
	return func() { _ = unix.Setrlimit(resource, &old) }, true
}

// RaiseMemlock lifts RLIMIT_MEMLOCK for good, as far as it goes: before 5.11
// also what is made later, to read tables, counts against it. Commands that are
// started afterwards inherit it.
func RaiseMemlock() { _, _ = raiseMemlock() }

// ErrPermission is in the chain of errors where the kernel answered EPERM, which more rights would cure. Errors of a
// kernel that is locked down have kernel.ErrLockdown instead. Package doctor says which right is missing.
var ErrPermission = errors.New("not permitted")

// A refusal is an error of the kernel's that has ErrPermission in its chain.
type refusal struct{ error }

func (r refusal) Unwrap() []error { return []error{ErrPermission, r.error} }

// markPermission tells refusals from failures.
func markPermission(err error) error {
	if !errors.Is(err, unix.EPERM) || errors.Is(err, kernel.ErrLockdown) || errors.Is(err, ErrPermission) {
		return err
	}
	if mode := kernel.Lockdown(); mode == "confidentiality" { // integrity forbids no reading
		return fmt.Errorf("%w (%s): %w", kernel.ErrLockdown, mode, err)
	}
	return refusal{err}
}

// canTrace reports whether this process has the capabilities that tracing needs.
func canTrace() (bool, error) {
	held, err := kernel.OwnCapabilities()
	has := func(bit uint) bool { return held.Effective>>bit&1 != 0 }
	return has(unix.CAP_SYS_ADMIN) || has(unix.CAP_BPF) && has(unix.CAP_PERFMON), err
}
