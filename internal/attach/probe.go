package attach

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
)

// Probes at places one by one by perf events, the message that open files do not suffice for so many, and places that
// were left out.

// openProbes attaches a program to its places, one by one. Of several places those
// that the kernel refuses are left out and named, unless these are all. others:
// the probe has more places, which are attached.
func (l *Loaded) openProbes(prog *program, others bool) (points []spot, err error) {
	f := prog.Attach.Functions()
	pmu, err := findPMU(wayOf(f.Mech).probes)
	if err != nil {
		return nil, err
	}
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	open := func(p *tree.Place) (spot, error) { return openProbe(pmu, f, p, cpus[0], prog.code) }
	if f.Mech == tree.AttachKretprobe {
		open = l.returnOpener(prog, cpus[0], open)
	}
	var refused []string
	var last error
	for i := range f.Places {
		p, err := open(&f.Places[i])
		switch {
		case err == nil:
			points = append(points, p)
		case (others || len(f.Places) > 1) && placeIsAtFault(err):
			refused, last = append(refused, f.Places[i].String()), err
		default:
			err = explainLimit(err, len(points), len(f.Places))
			return nil, errors.Join(err, l.releaseAll(points))
		}
	}
	if len(points) == 0 && !others {
		return nil, fmt.Errorf("none of %s can be probed: %w", format.Count(len(f.Places), "function"), last)
	}
	l.refuse(prog, refused)
	return points, nil
}

// explainLimit says so if a pattern has more places than the process may have
// open files: each is one.
func explainLimit(err error, open, places int) error {
	if !errors.Is(err, unix.EMFILE) {
		return err
	}
	return fmt.Errorf("the limit of open files was reached after %d of %d places, each of which is one: "+
		"raise it (ulimit -n, as root), or name fewer: %w", open, places, err)
}

// Refused gives the places that were left out when probes were attached for the first time, in the order of the probes.
func (l *Loaded) Refused() []Refused {
	return slices.SortedStableFunc(slices.Values(l.refused), func(a, b Refused) int {
		return cmp.Compare(a.Probe, b.Probe)
	})
}

// refuse notes what was left out; when a program is attached again that is the
// same.
func (l *Loaded) refuse(p *program, places []string) {
	if len(places) > 0 && !p.detached {
		l.refused = append(l.refused, Refused{p.Probe, places})
	}
}

// releaseAll closes spots, one after another, and waits for each.
func (l *Loaded) releaseAll(points []spot) error {
	var errs []error
	for _, p := range points {
		errs = append(errs, l.release(p))
	}
	return errors.Join(errs...)
}

// openProbe opens the perf event of one place and gives it the program. The
// event is on one CPU, and the program runs on all of them (see openTracepoint).
func openProbe(pmu *dynamicPMU, f *tree.Functions, p *tree.Place, cpu int, prog *ebpf.Program) (spot, error) {
	at := wayOf(f.Mech)
	user := at.probes == userProbes
	text := p.Func
	if user {
		text = f.Binary
	}
	name, err := unix.BytePtrFromString(text)
	if err != nil {
		return spot{}, fmt.Errorf("%q: %w", text, err)
	}
	var attr unix.PerfEventAttr
	pid := -1
	if user {
		attr = pmu.uprobeAttr(p, name, at.returns)
		if f.Process > 0 {
			pid, cpu = f.Process, -1
		}
	} else {
		attr = pmu.kprobeAttr(p, name, at.returns)
	}
	event, err := bpf.OpenPerfEvent(&attr, pid, cpu, prog, cookieOf(f, p))
	runtime.KeepAlive(name) // attr holds its address as a number
	if err != nil {
		return spot{}, explainPlace(f, p, err)
	}
	return spot{link: event, kind: probePoint, module: p.Module}, nil
}
