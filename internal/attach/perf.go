package attach

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
)

// openTracepoint attaches a program to a perf tracepoint. The event is opened
// on one CPU and for all processes; programs nevertheless run for the
// tracepoint on all CPUs (perf_trace_run_bpf_submit, kernel/events/core.c).
// It takes no samples: some tracepoints do not allow that
// (TRACE_EVENT_PERF_PERM of irq_work_exit, arch/x86/include/asm/trace/irq_vectors.h).
func (l *Loaded) openTracepoint(a *tree.Attach, prog int) ([]point, error) {
	if l.opts.TracepointID == nil {
		return nil, errors.New("no source of tracepoint numbers")
	}
	id, err := l.opts.TracepointID(a.Group, a.Name)
	if err != nil {
		return nil, err
	}
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}
	fd, err := openPerf(&attr, cpus[0], prog)
	if err != nil {
		return nil, err
	}
	return []point{{fd: fd, kind: tracePoint}}, nil
}

// openClock makes a program run by a timer: on each CPU for a profile, on one
// for an interval.
func openClock(a *tree.Attach, prog int) ([]point, error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	if a.Kind == tree.AttachInterval {
		cpus = cpus[:1]
	}
	points, err := openOn(cpus, clockAttr(a), prog)
	return points, explainRate(a, err)
}

func clockAttr(a *tree.Attach) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Sample: a.Period, Bits: unix.PerfBitDisabled,
	}
	if a.Period == 0 {
		attr.Sample = a.Freq
		attr.Bits |= unix.PerfBitFreq
	}
	return attr
}

// explainRate says so if a frequency is above what the kernel allows.
func explainRate(a *tree.Attach, err error) error {
	if err == nil || !errors.Is(err, unix.EINVAL) || a.Period != 0 {
		return err
	}
	const file = "/proc/sys/kernel/perf_event_max_sample_rate"
	text, readErr := os.ReadFile(file)
	limit, parseErr := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if readErr == nil && parseErr == nil && a.Freq > limit {
		return fmt.Errorf("%d samples per second are more than the %d that %s allows: %w", a.Freq, limit, file, err)
	}
	return err
}

// openPerf opens a perf event for all processes on one CPU, gives it the
// program and starts it.
func openPerf(attr *unix.PerfEventAttr, cpu, prog int) (int, error) {
	return openEvent(attr, -1, cpu, prog, nil)
}

// onlineCPUs reads the numbers of the CPUs that run; there is at least one.
func onlineCPUs() ([]int, error) {
	const file = "/sys/devices/system/cpu/online"
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("find the CPUs: %w", err)
	}
	cpus, err := parseCPUs(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return cpus, nil
}

// parseCPUs reads a list like "0-3,8" (Documentation/admin-guide/cputopology.rst).
func parseCPUs(list string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		lo, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("bad list of CPUs %q: %w", list, err)
		}
		hi, err := strconv.ParseUint(last, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("bad list of CPUs %q: %w", list, err)
		}
		for cpu := lo; cpu <= hi; cpu++ {
			out = append(out, int(cpu))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("bad list of CPUs %q", list)
	}
	return out, nil
}
