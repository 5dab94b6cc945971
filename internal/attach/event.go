package attach

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// Events of software: and hardware: opened on each CPU, and why one is not counted.

// openEverywhere opens a perf event on each CPU.
func openEverywhere(attr unix.PerfEventAttr, prog *ebpf.Program) ([]spot, error) {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	return openOn(cpus, attr, prog)
}

// openOn opens a perf event on CPUs, for all processes: programs choose theirs.
func openOn(cpus []int, attr unix.PerfEventAttr, prog *ebpf.Program) (points []spot, err error) {
	for _, cpu := range cpus {
		one := attr
		event, err := openPerf(&one, cpu, prog)
		if errors.Is(err, unix.ENODEV) && len(cpus) > 1 {
			continue // the CPU went offline meanwhile
		}
		if err != nil {
			for _, p := range points {
				err = errors.Join(err, p.link.Close())
			}
			return nil, err
		}
		points = append(points, spot{link: event, kind: clockPoint, cpu: cpu})
	}
	return points, nil
}

// openCounter attaches a program to every c.Period-th event of a counter.
func openCounter(_ *Loaded, c tree.Counter, prog *ebpf.Program) ([]spot, error) {
	points, err := openEverywhere(counterAttr(c), prog)
	if err == nil {
		return points, nil
	}
	if rate := explainRate(c.Freq, c.Period, err); rate != err {
		return nil, rate
	}
	return nil, explainCounter(c, err, kernel.HasCounters())
}

// counterAttr describes the event of a counter on one CPU. It is stopped until it has its program.
func counterAttr(c tree.Counter) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{Type: c.Type, Config: c.Config, Sample: c.Period, Bits: unix.PerfBitDisabled}
	if c.Period == 0 {
		attr.Sample = c.Freq
		attr.Bits |= unix.PerfBitFreq
	}
	return attr
}

// explainCounter says why an event is not counted and what to do instead.
// counters: the kernel drives counters of the CPU.
func explainCounter(c tree.Counter, err error, counters bool) error {
	const instead = "profile:99hz samples by time, software: events are counted everywhere"
	refused := errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EINVAL)
	switch {
	case c.Group == "software" && refused:
		return fmt.Errorf("this kernel does not have the event; startrace list -v software: "+
			"shows in which version it came: %w", err)
	case c.Group == "software":
		return err
	case !counters && (refused || errors.Is(err, unix.EOPNOTSUPP)):
		return fmt.Errorf("the kernel sees no counters of the CPU on this machine, as on most virtual ones: "+
			"trace on the machine itself, or give the guest counters (QEMU: -cpu host,pmu=on); %s: %w", instead, err)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("this CPU counts %s, but does not interrupt for it, so it cannot be sampled; %s: %w", c.Name,
			instead, err)
	case refused:
		return fmt.Errorf("this CPU does not count %s; perf list shows what it counts, and its manual the numbers of "+
			"others (hardware:r01c2); %s: %w", c.Name, instead, err)
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("all counters of the CPU are in use: end what uses them "+
			"(perf, or the watchdog: sysctl kernel.nmi_watchdog=0): %w", err)
	}
	return err
}
