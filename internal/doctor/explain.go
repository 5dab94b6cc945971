package doctor

import (
	"errors"
	"slices"
	"syscall"

	"github.com/startrace/startrace/internal/kernel"
)

// Which cause, as a problem of the doctor, explains an error of loading or attaching.

// A CauseError says what keeps a script from being traced, and what to do.
type CauseError struct {
	// Problem is the cause with its remedy.
	Problem Problem
	Err     error // what failed, for details
}

func (e *CauseError) Error() string {
	return e.Problem.Cause + "\n    remedy: " + e.Problem.Remedy +
		"\n    what failed: " + e.Err.Error() + "; startrace doctor says what can be traced here"
}

func (e *CauseError) Unwrap() error { return e.Err }

// Explain gives err with its cause if that lies in the machine or in the rights
// of this process; else err as it is.
func Explain(m *Machine, err error) error {
	if p := m.causeOf(err); p != nil {
		return &CauseError{*p, err}
	}
	return err
}

// causeOf finds the first problem of those that can make things fail as err
// says.
func (m *Machine) causeOf(err error) *Problem {
	permission := errors.Is(err, kernel.ErrLockdown) || denied(err)
	tracefs := m.Tracefs != nil && errors.Is(err, m.Tracefs)
	if errors.Is(err, syscall.ENOSYS) {
		return m.withoutCalls()
	}
	types := m.BTF != nil && errors.Is(err, m.BTF)
	if !permission && !tracefs && !types {
		return nil
	}
	may := []string{"user-namespace", "capabilities", "lockdown", "memlock"}
	if tracefs {
		may = append(may, "tracefs")
	}
	if types {
		may = append(may, "btf")
	}
	problems := m.Problems()
	for _, p := range problems {
		if slices.Contains(may, p.ID) && (p.Fatal || p.ID == "tracefs" || p.ID == "btf" ||
			p.ID == "lockdown" && m.Lockdown == "confidentiality") {
			return &p
		}
	}
	if permission && !tracefs && !types {
		return m.refused(err)
	}
	return nil
}

// refused explains a refusal where the rights to trace are there. bpf(2) says
// EPERM, perf_event_open(2) EACCES.
func (m *Machine) refused(err error) *Problem {
	admin := m.Capabilities>>capAdmin.bit&1 != 0
	level := m.Settings["perf_event_paranoid"]
	switch {
	case !admin && errors.Is(err, syscall.EACCES) && (level == "3" || level == "4"):
		return m.paranoidAt(level)
	case !admin && !m.Seccomp:
		return &Problem{ID: "admin", Fatal: true, Remedy: "run it as root, or with CAP_SYS_ADMIN",
			Cause: "the kernel does not permit this to a process with CAP_BPF and CAP_PERFMON alone"}
	}
	return m.forbiddenBy()
}
