package attach

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// Perf events of tracepoints and clocks (profile:, interval:), and messages about rates that are too high.

// openTracepoint attaches a program to a perf tracepoint. The event is opened
// on one CPU and for all processes; programs nevertheless run for the
// tracepoint on all CPUs (perf_trace_run_bpf_submit, kernel/events/core.c).
// It takes no samples: some tracepoints do not allow that
// (TRACE_EVENT_PERF_PERM of irq_work_exit, arch/x86/include/asm/trace/irq_vectors.h).
func openTracepoint(l *Loaded, at tree.Tracepoint, prog *ebpf.Program) ([]spot, error) {
	if l.opts.TracepointID == nil {
		return nil, errors.New("no source of tracepoint numbers")
	}
	id, err := l.opts.TracepointID(at.Group, at.Name)
	if err != nil {
		return nil, err
	}
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}
	event, err := openPerf(&attr, cpus[0], prog)
	if err != nil {
		return nil, err
	}
	return []spot{{link: event, kind: tracePoint}}, nil
}

// openClock makes a program run by a timer: on each CPU for a profile, on one
// for an interval.
func openClock(_ *Loaded, c tree.Clock, prog *ebpf.Program) ([]spot, error) {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	if !c.EveryCPU {
		cpus = cpus[:1]
	}
	points, err := openOn(cpus, clockAttr(c), prog)
	return points, explainRate(c.Freq, c.Period, err)
}

// clockAttr describes the event of a clock on one CPU. It is stopped until it has its program.
func clockAttr(c tree.Clock) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Sample: c.Period, Bits: unix.PerfBitDisabled,
	}
	if c.Period == 0 {
		attr.Sample = c.Freq
		attr.Bits |= unix.PerfBitFreq
	}
	return attr
}

// explainRate says so if a frequency is above what the kernel allows.
func explainRate(freq, period uint64, err error) error {
	if err == nil || !errors.Is(err, unix.EINVAL) || period != 0 {
		return err
	}
	const file = "/proc/sys/kernel/perf_event_max_sample_rate"
	text, readErr := os.ReadFile(file)
	limit, parseErr := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if readErr == nil && parseErr == nil && freq > limit {
		return rateError(freq, limit, err)
	}
	return err
}

// usualLimit is the limit of samples per second that kernels begin with. They lower it by themselves where interrupts
// take long.
const usualLimit = 100000

// rateError says what to do where a frequency is above the limit.
func rateError(freq, limit uint64, err error) error {
	remedy := fmt.Sprintf("want at most %d", limit)
	if freq <= usualLimit {
		remedy += fmt.Sprintf(", or raise it, as root: sysctl kernel.perf_event_max_sample_rate=%d", usualLimit)
	}
	return fmt.Errorf("%d samples per second are more than the %d that kernel.perf_event_max_sample_rate allows: "+
		"%s: %w", freq, limit, remedy, err)
}

// openPerf opens a perf event for all processes on one CPU, gives it the
// program and starts it.
func openPerf(attr *unix.PerfEventAttr, cpu int, prog *ebpf.Program) (*bpf.PerfEvent, error) {
	return bpf.OpenPerfEvent(attr, -1, cpu, prog, nil)
}
