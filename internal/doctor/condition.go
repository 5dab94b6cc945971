package doctor

import (
	"cmp"
	"fmt"
)

// Findings about rights, lockdown, secure boot, containers, locked memory and settings of /proc/sys/kernel
// (`settingNames`, setting).

// conditions are the findings that come from reading.
func (m *Machine) conditions() []Finding {
	out := []Finding{
		{"kernel", OK, "Linux " + m.Version.Text + " (" + m.Arch + ")", ""},
		readable("types (BTF)", m.BTF, "/sys/kernel/btf/vmlinux"),
		readable("tracefs", m.Tracefs, m.TracefsPath),
		readable("kernel symbols", m.Symbols, "/proc/kallsyms shows addresses"),
	}
	if !m.Version.AtLeast(5, 10) {
		out[0].State = No
	}
	out = append(out, m.lockdown(), m.secureBoot(), m.rights())
	for _, c := range m.lacking(tracing...) {
		out = append(out, Finding{c.name, No, "is missing; it is needed " + c.use, "run as root, or: " + setcap +
			" PATH/TO/startrace"})
	}
	out = append(out, m.surroundings()...)
	for _, name := range settingNames {
		if value, ok := m.Settings[name]; ok {
			out = append(out, Finding{name, OK, value + " (" + m.setting(name, value) + ")", ""})
		}
	}
	return append(out, m.memlock())
}

func readable(subject string, err error, text string) Finding {
	if err != nil {
		return Finding{subject, No, err.Error(), ""}
	}
	return Finding{subject, OK, text, ""}
}

func (m *Machine) lockdown() Finding {
	f := Finding{"lockdown", OK,
		cmp.Or(m.Lockdown, "this kernel has none, or securityfs is not mounted at /sys/kernel/security"), ""}
	switch m.Lockdown {
	case "integrity":
		f.State, f.Text = Note, "integrity: programs may read all memory, but not change that of processes"
	case "confidentiality":
		f.State, f.Text = No, "confidentiality: no reading of the kernel's memory, no tracefs, no single kprobes"
	}
	return f
}

func (m *Machine) secureBoot() Finding {
	switch m.SecureBoot {
	case "on":
		return Finding{"Secure Boot", Note, "on; many distributions lock the kernel down then", ""}
	case "off":
		return Finding{"Secure Boot", OK, "off", ""}
	}
	return Finding{"Secure Boot", OK, "this machine was not booted by UEFI, or does not show its variables", ""}
}

func (m *Machine) rights() Finding {
	if missing := m.lacking(tracing...); len(missing) > 0 {
		return Finding{"user", Note, fmt.Sprintf("%d, without %s", m.User, names(missing)), ""}
	}
	return Finding{"user", OK, fmt.Sprintf("%d, with all capabilities that tracing needs", m.User), ""}
}

// surroundings are namespaces, containers and filters.
func (m *Machine) surroundings() (out []Finding) {
	note := func(is bool, subject, yes, no string) {
		f := Finding{subject, OK, no, ""}
		if is {
			f.State, f.Text = Note, yes
		}
		out = append(out, f)
	}
	note(m.Container != "", "container",
		m.Container+"; what happens outside can be traced too, where the kernel permits it", "none was recognised")
	note(m.UserNamespace, "user namespace", "not the machine's own: capabilities in it do not count for tracing",
		"the machine's own")
	note(m.PIDNamespace, "pid namespace", "not the machine's own: -p does not know the numbers that the kernel uses",
		"the machine's own")
	note(m.Seccomp, "seccomp", "system calls of this process are filtered", "system calls are not filtered")
	return out
}

// settingNames are the settings that matter, as files of /proc/sys/kernel.
var settingNames = []string{"perf_event_paranoid", "unprivileged_bpf_disabled", "kptr_restrict"}

// setting says what a value means (Documentation/admin-guide/sysctl/kernel.rst).
func (m *Machine) setting(name, value string) string {
	switch name {
	case "perf_event_paranoid":
		if m.paranoid() != nil {
			return "perf events need CAP_SYS_ADMIN here"
		}
		if value == "3" || value == "4" {
			return "no matter with CAP_SYS_ADMIN"
		}
		return "no matter with CAP_PERFMON"
	case "unprivileged_bpf_disabled":
		return "no matter with CAP_BPF"
	case "kptr_restrict":
		return addressesShown(value)
	}
	panic("doctor: nobody says what the setting " + name + " means")
}

// addressesShown says to whom the kernel shows addresses by a value of kptr_restrict.
func addressesShown(value string) string {
	switch value {
	case "0":
		return "addresses are shown to those who may trace"
	case "1":
		return "addresses are shown with CAP_SYSLOG"
	}
	return "addresses are shown to nobody"
}

func (m *Machine) memlock() Finding {
	f := Finding{"locked memory", OK, "the limit is no matter from Linux 5.11 on", ""}
	switch {
	case m.lockedMemory() != nil:
		f.State, f.Text = No, fmt.Sprintf("at most %d KB, too little before Linux 5.11", m.Memlock>>10)
	case !m.Version.AtLeast(5, 11) && m.has(capResource):
		f.Text = "startrace raises the limit while it loads programs"
	case !m.Version.AtLeast(5, 11):
		f.Text = "the limit is high enough"
	}
	return f
}
