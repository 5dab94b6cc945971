package doctor

import (
	"errors"
	"slices"
	"syscall"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/point"
)

// The words for each way to attach that was tried: works, refused, not there.

// ways are the findings that come from trying.
func (m *Machine) ways() (out []Finding) {
	for _, w := range point.Ways() {
		err, tried := m.Tried[w.Name]
		if !tried {
			continue
		}
		f := Finding{string(w.Name), OK, w.Use, ""}
		if several, known := m.Tried[kernel.WayUprobeMulti]; w.Name == kernel.WayUprobe && denied(err) && known &&
			several == nil {
			f.Text += ", by uprobe_multi: single ones need CAP_SYS_ADMIN"
		} else if err != nil {
			f.State = No
			f.Text += " - " + m.refusal(err, w.Since)
			if w.Forbidden != "" && denied(err) && m.mayTrace() {
				f.Text = w.Use + " - " + w.Forbidden
			}
			if w.Instead != "" && m.oneWorks(w.By) {
				f.Remedy = "instead: " + w.Instead
			}
		}
		out = append(out, f)
	}
	return out
}

// oneWorks reports whether one of some ways works, or there are none to work.
func (m *Machine) oneWorks(ways []kernel.Way) bool {
	return len(ways) == 0 || slices.ContainsFunc(ways, func(w kernel.Way) bool {
		err, tried := m.Tried[w]
		return tried && err == nil
	})
}

// refusal says in words what kept something from working.
func (m *Machine) refusal(err error, since string) string {
	switch {
	case errors.Is(err, kernel.ErrNoTracefs), errors.Is(err, kernel.ErrPermission), errors.Is(err, kernel.ErrLockdown):
		return err.Error()
	case denied(err):
		return "not permitted"
	case m.Lockdown == "confidentiality" && errors.Is(err, syscall.EINVAL):
		return "refused, for the kernel is locked down"
	}
	for _, missing := range []error{syscall.EINVAL, syscall.ENOENT, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EBADF,
		syscall.ENODEV} {
		if !errors.Is(err, missing) {
			continue
		}
		if since != "" {
			return "this kernel does not have it (Linux " + since + ")"
		}
		return "this kernel or machine does not have it"
	}
	return err.Error()
}
