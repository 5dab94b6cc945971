package attach

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// Events of a CPU that comes or goes are opened and closed.
//
// Profiles, counted events and watchpoints have a perf event on each CPU, and an interval has one on one CPU. When a
// CPU goes offline, its events end for good: they do not begin again when the CPU comes back (perf_event_exit_cpu,
// kernel/events/core.c). A CPU that comes has none. Events of tracepoints and probes are on one CPU, too, but their
// programs run on all, whether that one is there or not.

// A CPUChange is what a CPU that went or came meant for probes. Each probe is named once, by its number.
type CPUChange struct {
	// Probes are the probes whose events on the CPU ended, or began.
	Probes []int
	// Moved are the probes of intervals that go on at another CPU.
	Moved []int
	// NewCPU is the number of the CPU at which Moved go on. It means nothing if there are none.
	NewCPU int
}

// OnCPUs reports whether some program of l runs by events of CPUs: those of a profile, an interval, a counter or a
// watchpoint.
func OnCPUs(l *Loaded) bool { return slices.ContainsFunc(l.programs, (*program).onCPUs) }

// onCPUs reports whether the program runs by events of CPUs.
func (p *program) onCPUs() bool {
	_, ok := p.cpuEvent()
	return ok
}

// cpuEvent gives the event by which a CPU runs the program; ok is false for one that runs on all CPUs.
func (p *program) cpuEvent() (attr unix.PerfEventAttr, ok bool) {
	switch w := p.Attach.Way.(type) {
	case tree.Clock:
		return clockAttr(w), true
	case tree.Counter:
		return counterAttr(w), true
	case tree.Watchpoint:
		return p.watchAttr(w), true
	}
	return unix.PerfEventAttr{}, false
}

// everyCPU reports whether a program that runs by events of CPUs has one on each.
func (p *program) everyCPU() bool { return p.Attach.Kind() != tree.AttachInterval }

// CPUCame opens the events of a CPU that came online, and closes those that it had before it went. Where one cannot be
// opened, the others are opened nevertheless, and the error joins what went wrong, an *Error for each program.
func CPUCame(l *Loaded, cpu int) (change CPUChange, err error) {
	for _, p := range l.selected((*program).runsOnCPUs) {
		if had := p.closeOn(cpu, &l.closing); !had && !p.everyCPU() {
			continue
		}
		opened, failed := p.openOnCPU(cpu)
		err = errors.Join(err, failed)
		if opened {
			change.Probes = append(change.Probes, p.Probe)
		}
	}
	return change.once(), err
}

// CPUWent closes the events of a CPU that went offline, and opens those of intervals on another CPU. Its error is like
// that of CPUCame.
func CPUWent(l *Loaded, cpu int) (change CPUChange, err error) {
	for _, p := range l.selected((*program).runsOnCPUs) {
		switch had := p.closeOn(cpu, &l.closing); {
		case !had:
		case p.everyCPU():
			change.Probes = append(change.Probes, p.Probe)
		default:
			moved, failed := p.openAnywhere()
			err = errors.Join(err, failed)
			if moved {
				change.Moved, change.NewCPU = append(change.Moved, p.Probe), p.points[len(p.points)-1].cpu
			}
		}
	}
	return change.once(), err
}

// runsOnCPUs is onCPUs of a program that is attached.
func (p *program) runsOnCPUs() bool { return len(p.points) > 0 && p.onCPUs() }

// closeOn closes the event that a program has on a CPU, and reports whether it had one.
func (p *program) closeOn(cpu int, closing *closer) bool {
	i := slices.IndexFunc(p.points, func(s spot) bool { return s.cpu == cpu })
	if i < 0 {
		return false
	}
	gone := p.points[i]
	p.points = slices.Delete(p.points, i, i+1)
	gone.stop() // it may be alive: a CPU can come before it is known that it went
	closing.later(gone.link.Close)
	return true
}

// openOnCPU opens the event of a program on a CPU, and reports whether the CPU is still there.
func (p *program) openOnCPU(cpu int) (bool, error) {
	attr, _ := p.cpuEvent()
	event, err := openPerf(&attr, cpu, p.code)
	switch {
	case errors.Is(err, unix.ENODEV):
		return false, nil
	case err != nil:
		return false, &Error{p.Program, markPermission(explainFiles(&p.Attach, err))}
	}
	p.points = append(p.points, spot{link: event, kind: clockPoint, cpu: cpu})
	return true, nil
}

// openAnywhere opens the event of a program on the first CPU that takes it.
func (p *program) openAnywhere() (bool, error) {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return false, err
	}
	for _, cpu := range cpus {
		if opened, err := p.openOnCPU(cpu); opened || err != nil {
			return opened, err
		}
	}
	return false, nil
}

// once leaves one of each probe.
func (c CPUChange) once() CPUChange {
	for _, list := range []*[]int{&c.Probes, &c.Moved} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return c
}
