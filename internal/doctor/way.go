package doctor

import (
	"errors"
	"syscall"

	"github.com/startrace/startrace/internal/kernel"
)

// wayTable says of each thing that is tried what it is for, since when kernels
// have it, and what is done without it.
var wayTable = []struct {
	way      kernel.Way
	use      string
	since    string // "" for those that depend on the configuration only
	fallback string
}{
	{kernel.WayLoad, "tracing programs can be loaded", "4.17", ""},
	{kernel.WayMemory, "programs may read the kernel's memory", "5.5", ""},
	{kernel.WayRing, "events come through a ring buffer", "5.8", ""},
	{kernel.WayRaw, "rawtracepoint: and syscall:", "4.17", ""},
	{kernel.WayTracepoint, "tracepoint:", "", "rawtracepoint: has the same events with other arguments"},
	{kernel.WayProfile, "profile: and interval:", "", ""},
	{kernel.WayKprobe, "kprobe: and kretprobe:", "", "tracepoints and system calls"},
	{kernel.WayKprobeMulti, "many functions of the kernel at once", "5.18",
		"a probe for each function, which takes longer to attach"},
	{kernel.WayKprobeSession, "entry and return of a function by one program", "6.10",
		"two programs; nothing is missing"},
	{kernel.WayFentry, "fentry: and fexit:", "5.5", "func: takes kprobes, at several times the cost"},
	{kernel.WayUprobe, "uprobe:, uretprobe: and usdt:", "", ""},
	{kernel.WayUprobeMulti, "many functions of programs at once", "6.6", "a probe for each function"},
	{kernel.WayUprobeSession, "entry and return of a function of a program by one program", "6.13",
		"two programs; nothing is missing"},
	{kernel.WayCookies, "one program knows at which of many functions it runs", "5.15", "a program for each function"},
	{kernel.WayIterator, "iter:", "5.8", ""},
	{kernel.WayHardware, "hardware:, counters of the CPU", "",
		"software: and profile:; virtual machines often have no counters"},
	{kernel.WayWatchpoint, "watchpoint:", "", ""},
}

// ways are the findings that come from trying.
func (m *Machine) ways() (out []Finding) {
	for _, w := range wayTable {
		err, tried := m.Tried[w.way]
		if !tried {
			continue
		}
		f := Finding{string(w.way), OK, w.use, ""}
		if err != nil {
			f.State = No
			f.Text += " - " + m.refusal(err, w.since)
			if w.way == kernel.WayFentry && denied(err) && m.mayTrace() {
				f.Text = w.use + " - this kernel was built without what they need (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), or a security module forbids them"
			}
			if w.fallback != "" {
				f.Remedy = "instead: " + w.fallback
			}
		}
		out = append(out, f)
	}
	return out
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
