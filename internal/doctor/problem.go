package doctor

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/startrace/startrace/internal/kernel"
)

// The problems with their causes and remedies, a function each, in `rules`: no rights, lockdown, user namespaces, old
// kernels, switches that are off.

// rules are the causes in the order in which they hide each other: what holds
// further up is to be cured first. Each gives nil where it does not hold.
var rules = []func(m *Machine) *Problem{
	(*Machine).userNamespace, (*Machine).capabilities, (*Machine).confidentiality, (*Machine).lockedMemory,
	(*Machine).forbidden, (*Machine).oldKernel, (*Machine).noPrograms, (*Machine).noTypes, (*Machine).noTracefs,
	(*Machine).paranoid,
	(*Machine).switchedOff, (*Machine).noKprobes, (*Machine).noUprobes, (*Machine).refusedPoints, (*Machine).integrity,
}

// Problems gives what is wrong, the cause of most first.
func (m *Machine) Problems() []Problem {
	out := []Problem{}
	for _, rule := range rules {
		if p := rule(m); p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// notPermitted reports whether way was tried and forbidden.
func (m *Machine) notPermitted(way kernel.Way) bool { return denied(m.Tried[way]) }

// denied tells errors that more rights would cure.
func denied(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES)
}

// mayTrace reports whether nothing that rules out tracing was found by trying,
// or nothing was tried.
func (m *Machine) mayTrace() bool {
	return m.Tried != nil && m.Tried[kernel.WayLoad] == nil && m.Tried[kernel.WayRing] == nil
}

// userNamespace: capabilities of another namespace than the initial one do not
// count, for the kernel asks for those of the initial one (capable, kernel/capability.c).
func (m *Machine) userNamespace() *Problem {
	if !m.UserNamespace || m.mayTrace() {
		return nil
	}
	what := "this process is in a user namespace, where capabilities do not count for tracing"
	if m.Container != "" {
		what = fmt.Sprintf("this process is in a user namespace "+
			"(of a container: %s), where capabilities do not count for tracing", m.Container)
	}
	return &Problem{ID: "user-namespace", Cause: what, Fatal: true,
		Remedy: "run startrace outside of the namespace, as root of the machine itself; " +
			"it sees the processes in containers from there"}
}

func (m *Machine) capabilities() *Problem {
	missing := m.lacking(capBPF, capPerfmon)
	if len(missing) == 0 {
		return nil
	}
	if m.Tracefs != nil {
		missing = append(missing, m.lacking(capReadSearch)...)
	}
	p := &Problem{ID: "capabilities", Fatal: true,
		Cause: fmt.Sprintf("user %d may not trace without %s", m.User, names(missing)),
		Remedy: "run it as root (sudo startrace …), or give the program the rights once, as root: " + setcap +
			" PATH/TO/startrace"}
	if m.User == 0 {
		p.Remedy = "run it with all capabilities of root; a container gets them by --cap-add BPF --cap-add PERFMON " +
			"--cap-add DAC_READ_SEARCH, or --privileged"
	}
	return p
}

// confidentiality: security/security.c, enum lockdown_reason: BPF_READ_KERNEL,
// KPROBES, PERF and TRACEFS are beyond integrity.
func (m *Machine) confidentiality() *Problem {
	if m.Lockdown != "confidentiality" {
		return nil
	}
	p := &Problem{ID: "lockdown", Fatal: true, Remedy: m.unlock(),
		Cause: "the kernel is locked down (confidentiality): programs may not read its memory, " +
			"and tracefs is closed, which has the tracepoints"}
	if m.mayTrace() {
		p.Fatal, p.Loss = false, "tracepoints, system calls, calls of functions with their ends, -c, -f, and all that "+
			"reads memory of the kernel"
	}
	return p
}

// unlock says how to get rid of a lockdown: it cannot be lifted at run time.
func (m *Machine) unlock() string {
	switch {
	case m.Commanded:
		return fmt.Sprintf("boot without lockdown=%s in the kernel's command line; "+
			"it cannot be lifted before the next boot", m.Lockdown)
	case m.SecureBoot == "on":
		return "switch Secure Boot off, which locked it, in the firmware's setup or by mokutil --disable-validation, " +
			"and boot; it cannot be lifted before"
	}
	return "boot again, with lockdown=none if the kernel was built to lock itself; " +
		"what wrote to /sys/kernel/security/lockdown must not do so; it cannot be lifted before"
}

// enoughMemory is more than the ring and the tables of usual scripts take.
const enoughMemory = 64 << 20

// lockedMemory: from 5.11 on maps count against the memory of the cgroup.
func (m *Machine) lockedMemory() *Problem {
	if m.Version.AtLeast(5, 11) || m.Memlock >= enoughMemory || m.has(capResource) {
		return nil
	}
	return &Problem{ID: "memlock", Fatal: true,
		Cause: fmt.Sprintf("the limit of locked memory is %d KB, and before Linux 5.11 the tables of programs count "+
			"against it", m.Memlock>>10),
		Remedy: "raise it: ulimit -l unlimited (as root; LimitMEMLOCK=infinity in a unit of systemd), " +
			"or run with CAP_SYS_RESOURCE"}
}

// forbidden: the rights are there, and still the kernel said no.
func (m *Machine) forbidden() *Problem {
	if len(m.lacking(capBPF, capPerfmon)) > 0 || m.UserNamespace || m.Lockdown == "confidentiality" ||
		m.lockedMemory() != nil {
		return nil
	}
	switch {
	case m.notPermitted(kernel.WayLoad), m.notPermitted(kernel.WayRing):
		return m.forbiddenBy()
	case m.notPermitted(kernel.WayProfile) && m.paranoid() == nil:
		p := m.forbiddenBy()
		p.Fatal, p.Loss = false, perfEvents
		return p
	}
	return nil
}

// perfEvents is what needs perf_event_open.
const perfEvents = "tracepoints, profiles and perf events"

func (m *Machine) forbiddenBy() *Problem {
	return m.orFiltered("and the filter forbids bpf or perf_event_open", &Problem{ID: "forbidden", Fatal: true,
		Cause: "the kernel refuses although this process has the capabilities: a security module forbids it",
		Remedy: "look for denials of SELinux or AppArmor in the kernel's messages (dmesg, ausearch -m avc), " +
			"and allow bpf and perf_event_open"})
}

// orFiltered is p; where the system calls of the process are filtered that is its
// cause, and effect is what the filter does.
func (m *Machine) orFiltered(effect string, p *Problem) *Problem {
	if m.Seccomp {
		p.Cause = "the system calls of this process are filtered (seccomp), " + effect
		p.Remedy = "run startrace outside of the container or service that sets the filter, or start that with " +
			"--privileged, or --security-opt seccomp=unconfined"
	}
	return p
}

func (m *Machine) oldKernel() *Problem {
	if m.Version.Text == "" || m.Version.AtLeast(5, 10) || m.Tried != nil && m.Tried[kernel.WayRing] == nil {
		return nil
	}
	return &Problem{ID: "kernel", Fatal: true,
		Cause: "Linux " + m.Version.Text + " is too old", Remedy: "boot Linux 5.10 or newer"}
}

// noPrograms: a filter may give ENOSYS, too, so that programs make do without.
func (m *Machine) noPrograms() *Problem {
	if !errors.Is(m.Tried[kernel.WayLoad], syscall.ENOSYS) {
		return nil
	}
	return m.withoutCalls()
}

func (m *Machine) withoutCalls() *Problem {
	return m.orFiltered("as if the kernel had no bpf or perf_event_open", &Problem{ID: "calls", Fatal: true,
		Cause: "this kernel was built without bpf or perf_event_open (CONFIG_BPF_SYSCALL, CONFIG_PERF_EVENTS)",
		Remedy: "boot a kernel that has them, as those of all big distributions do; " +
			"an emulator of programs (qemu-user, gVisor) has none: run startrace outside of it"})
}

func (m *Machine) noTypes() *Problem {
	if m.BTF == nil {
		return nil
	}
	p := &Problem{ID: "btf", Cause: m.BTF.Error(),
		Loss: "raw tracepoints, functions of the kernel with their arguments, iterators, fields of structs, " +
			"-c and -f",
		Remedy: "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as those of all big distributions are; tracepoints, " +
			"system calls and functions of programs can be traced without, all of them or of a process (-p)"}
	if strings.Contains(p.Cause, "sysfs is not mounted") {
		p.Remedy = "mount it, as root: mount -t sysfs sysfs /sys"
	}
	return p
}

func (m *Machine) noTracefs() *Problem {
	if m.Tracefs == nil || m.Lockdown == "confidentiality" || len(m.lacking(capBPF, capPerfmon)) > 0 {
		return nil // the problem has been named
	}
	p := &Problem{ID: "tracefs", Cause: m.Tracefs.Error(), Loss: "tracepoints",
		Remedy: "mount it, as root: mount -t tracefs tracefs /sys/kernel/tracing"}
	switch {
	case errors.Is(m.Tracefs, kernel.ErrPermission):
		p.Cause = fmt.Sprintf("user %d may not read tracefs (/sys/kernel/tracing), which has the tracepoints", m.User)
		p.Remedy = "run it as root, or with CAP_DAC_READ_SEARCH: " + setcap + " PATH/TO/startrace"
	case errors.Is(m.Tracefs, kernel.ErrNoTracefs):
		p.Cause = "tracefs, which has the tracepoints, is not mounted at /sys/kernel/tracing, and this process may " +
			"not mount it"
		if m.Container != "" || m.PIDNamespace {
			p.Remedy = "mount it on the machine and hand it to the container: " +
				"-v /sys/kernel/tracing:/sys/kernel/tracing:ro; or run startrace outside"
		}
	}
	return p
}

// paranoid: the mainline kernel asks for CAP_PERFMON only; Debian and Ubuntu
// know the levels 3 and 4, at which kernels before 5.12 or so want CAP_SYS_ADMIN.
func (m *Machine) paranoid() *Problem {
	level := m.Settings["perf_event_paranoid"]
	if m.Capabilities>>capAdmin.bit&1 != 0 || level != "3" && level != "4" || !m.notPermitted(kernel.WayProfile) ||
		!m.has(capPerfmon) {
		return nil
	}
	p := m.paranoidAt(level)
	if more := m.refusedKinds(); len(more) > 0 {
		p.Loss += ", and " + strings.Join(more, ", ")
	}
	return p
}

func (m *Machine) paranoidAt(level string) *Problem {
	return &Problem{ID: "paranoid", Loss: perfEvents,
		Cause: "kernel.perf_event_paranoid is " + level +
			", at which this kernel wants CAP_SYS_ADMIN for perf events (CAP_PERFMON is not enough)",
		Remedy: "lower it, as root: sysctl kernel.perf_event_paranoid=2; or run as root"}
}

// switchedOff: such probes attach, and nothing calls them.
func (m *Machine) switchedOff() *Problem {
	var off *kernel.SwitchedOff
	if !errors.As(m.Tried[kernel.WayKprobe], &off) {
		return nil
	}
	loss := "functions of the kernel by kprobes"
	if errors.As(m.Tried[kernel.WayFentry], new(*kernel.SwitchedOff)) {
		loss = "functions of the kernel"
	}
	return &Problem{ID: "switched-off", Loss: loss, Cause: off.What + " are switched off: " + off.File + " is 0",
		Remedy: "switch them on, as root: echo 1 > " + off.File}
}

func (m *Machine) noKprobes() *Problem {
	if err := m.Tried[kernel.WayKprobe]; err == nil || denied(err) || m.switchedOff() != nil || m.noPrograms() != nil ||
		m.Tried[kernel.WayFentry] == nil || m.Tried[kernel.WayKprobeMulti] == nil {
		return nil
	}
	return &Problem{ID: "kprobes",
		Cause: "this kernel was built without probes of its functions (CONFIG_KPROBES, CONFIG_FUNCTION_TRACER)",
		Loss:  "functions of the kernel",
		Remedy: "boot a kernel that has them, as those of all big distributions do; " +
			"tracepoints, system calls and programs can be traced without"}
}

func (m *Machine) noUprobes() *Problem {
	if err := m.Tried[kernel.WayUprobe]; err == nil || denied(err) || m.noPrograms() != nil {
		return nil
	}
	return &Problem{ID: "uprobes", Cause: "this kernel was built without probes of programs (CONFIG_UPROBES)",
		Loss:   "functions of programs and libraries",
		Remedy: "boot a kernel that has them, as those of all big distributions do"}
}

// integrity forbids no reading (security/security.c: LOCKDOWN_BPF_WRITE_USER).
func (m *Machine) integrity() *Problem {
	if m.Lockdown != "integrity" {
		return nil
	}
	return &Problem{ID: "lockdown",
		Cause:  "the kernel is locked down (integrity): programs may read all memory, but not change that of processes",
		Remedy: "none is needed to trace; to write, " + m.unlock()}
}
