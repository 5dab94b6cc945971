package attach

import (
	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Which programs are attached by one link to many places (kprobe_multi, uprobe_multi).

// multiType is the attach type of a program that is to be attached by one link;
// AttachNone where it is not.
func (l *Loaded) multiType(a *tree.Attach) ebpf.AttachType {
	if len(a.At()) == 0 || l.opts.Features == nil {
		return ebpf.AttachNone
	}
	has := l.opts.Features()
	switch w := wayOf(a.Kind()); w.probes {
	case kernelProbes:
		alone := w.returns && !has.KprobesCount && len(a.At()) <= maxAlone
		if has.KprobeMulti && byName(a.At()) && !alone {
			return kprobeLink(a.Functions()).AttachType()
		}
	case userProbes:
		// Perf events that probe one place each would be taken off under a lock (perf_uprobe_destroy,
		// kernel/trace/trace_event_perf.c), a grace period of 0.1 s after the other: 240 of them took 27 s on
		// 6.18. Links wait beside each other. Such events need CAP_SYS_ADMIN, too (perf_uprobe_event_init,
		// kernel/events/core.c), links only what loading takes.
		if has.UprobeMulti {
			return ebpf.AttachTraceUprobeMulti
		}
	}
	return ebpf.AttachNone
}

// byName: kprobe_multi takes whole functions.
func byName(places []tree.Place) bool {
	for _, p := range places {
		if p.Address != 0 || p.Offset != 0 {
			return false
		}
	}
	return true
}

// kprobeLink is the kind of link for a program that stands alone.
func kprobeLink(f *tree.Functions) bpf.KprobeLink {
	if wayOf(f.Mech).returns {
		return bpf.KprobeReturns
	}
	return bpf.KprobeMulti
}

// maxAlone is at how many functions return probes stand alone where a link does
// not count what it misses: each is attached by itself, which adds up.
const maxAlone = 16
