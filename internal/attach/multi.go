package attach

import (
	"errors"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Links that probe many functions at once. A program must be loaded for them
// (its attach type says so), so it is decided at the load; a program whose link
// the kernel refuses for one of its places is loaded again, for single probes.

// multiType is the attach type of a program that is to be attached by one link;
// AttachNone where it is not.
func (l *Loaded) multiType(a *tree.Attach) ebpf.AttachType {
	if len(a.Places) == 0 || l.opts.Features == nil {
		return ebpf.AttachNone
	}
	has := l.opts.Features()
	switch a.Kind {
	case tree.AttachKprobe, tree.AttachKretprobe:
		alone := isReturn(a.Kind) && !has.KprobesCount && len(a.Places) <= maxAlone
		if has.KprobeMulti && byName(a.Places) && !alone {
			return kprobeLink(a).AttachType()
		}
	case tree.AttachUprobe, tree.AttachUretprobe:
		if has.UprobeMulti && len(a.Places) > 1 {
			return ebpf.AttachTraceUprobeMulti
		}
	}
	return ebpf.AttachNone
}

// maxAlone is at how many functions return probes stand alone where a link does
// not count what it misses: each takes some milliseconds.
const maxAlone = 16

// byName: kprobe_multi takes whole functions.
func byName(places []tree.Place) bool {
	for _, p := range places {
		if p.Address != 0 || p.Offset != 0 {
			return false
		}
	}
	return true
}

// openMulti attaches p by one link. ok is false where single probes must do.
func openMulti(a *tree.Attach, prog int) (points []point, ok bool, err error) {
	var fd int
	kind := probePoint
	if probeSource(a.Kind) == "kprobe" {
		kind = countingPoint
		fd, err = linkKprobes(a, kprobeLink(a), prog)
	} else {
		fd, err = bpf.LinkUprobeMulti(prog, uprobes(a))
	}
	switch {
	case err == nil:
		return []point{{fd: fd, kind: kind}}, true, nil
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return nil, true, err
	}
	return nil, false, nil
}

func linkKprobes(a *tree.Attach, kind bpf.KprobeLink, prog int) (int, error) {
	var names []string
	for _, p := range a.Places {
		names = append(names, p.Func)
	}
	return bpf.LinkKprobes(prog, kind, names, cookies(a))
}

// kprobeLink is the kind of link for a program that stands alone.
func kprobeLink(a *tree.Attach) bpf.KprobeLink {
	if isReturn(a.Kind) {
		return bpf.KprobeReturns
	}
	return bpf.KprobeMulti
}

// cookies are those of the places, nil if the program does not ask.
func cookies(a *tree.Attach) []uint64 {
	if !a.Cookies {
		return nil
	}
	out := make([]uint64, len(a.Places))
	for i, p := range a.Places {
		out[i] = p.Cookie
	}
	return out
}

func uprobes(a *tree.Attach) *bpf.UprobeMulti {
	u := &bpf.UprobeMulti{Path: a.Binary, PID: a.Process, Returns: isReturn(a.Kind), Cookies: cookies(a)}
	for _, p := range a.Places {
		u.Offsets = append(u.Offsets, p.Offset)
		u.Semaphores = append(u.Semaphores, p.Semaphore)
	}
	return u
}

// openFunctions attaches p to its functions.
func (l *Loaded) openFunctions(p *program) ([]point, error) {
	if p.session {
		return l.openSession(p)
	}
	if p.multi {
		points, ok, err := openMulti(&p.Attach, p.fd)
		if ok {
			return points, err
		}
		fd, err := l.loadFor(p.Program, ebpf.AttachNone)
		if err != nil {
			return nil, err
		}
		if err := unix.Close(p.fd); err != nil {
			return nil, errors.Join(err, unix.Close(fd))
		}
		p.fd, p.multi = fd, false
	}
	return l.openProbes(p)
}
