package attach

import (
	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

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
		if has.UprobeMulti && (len(a.At()) > 1 || has.UprobeDenied) {
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
