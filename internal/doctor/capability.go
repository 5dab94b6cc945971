package doctor

import (
	"strings"
)

// Capabilities that tracing needs (`tracing`), a row each with what it is for.

// A capability is one that tracing can need (capability(7), Linux 5.8).
type capability struct {
	name string
	bit  uint
	use  string
}

var (
	capBPF        = capability{"CAP_BPF", 39, "to load programs"}
	capPerfmon    = capability{"CAP_PERFMON", 38, "to attach them and let them read memory"}
	capReadSearch = capability{"CAP_DAC_READ_SEARCH", 2, "to read tracefs, which has the tracepoints"}
	capPtrace     = capability{"CAP_SYS_PTRACE", 19, "to name functions in the stacks of other users' processes"}
	capSyslog     = capability{"CAP_SYSLOG", 34, "to name functions of the kernel"}
	capResource   = capability{"CAP_SYS_RESOURCE", 24, "to raise the limit of locked memory before Linux 5.11"}
	capAdmin      = capability{"CAP_SYS_ADMIN", 21,
		"includes CAP_BPF and CAP_PERFMON; to mount tracefs, and to watch addresses of the kernel"}
)

// tracing are those that startrace wants, the first two for everything.
var tracing = []capability{capBPF, capPerfmon, capReadSearch, capPtrace, capSyslog}

// setcap names those in tracing as setcap(8) wants them.
const setcap = "setcap cap_bpf,cap_perfmon,cap_dac_read_search,cap_sys_ptrace,cap_syslog+ep"

// has reports whether the process holds c, in whatever user namespace.
func (m *Machine) has(c capability) bool {
	if m.Capabilities>>c.bit&1 != 0 {
		return true
	}
	// include/linux/capability.h, bpf_capable and perfmon_capable.
	return (c.bit == capBPF.bit || c.bit == capPerfmon.bit) && m.Capabilities>>capAdmin.bit&1 != 0
}

// lacking gives those of list that the process does not hold.
func (m *Machine) lacking(list ...capability) (out []capability) {
	for _, c := range list {
		if !m.has(c) {
			out = append(out, c)
		}
	}
	return out
}

// names joins names of capabilities: "A, B and C".
func names(list []capability) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = c.name
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
