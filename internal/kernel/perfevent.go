package kernel

import "path/filepath"

// The events of software: and hardware: with their numbers and words, a row each.

// A PerfEvent is an event that perf_event_open(2) counts.
type PerfEvent struct {
	// Name is as scripts write it and perf list shows it.
	Name    string
	Aliases []string // as perf list and bpftrace have them
	Type    uint32   // PERF_TYPE_*
	// Config is the number of the event among those of its Type (PERF_COUNT_*).
	Config uint64
	// What says in a few words what is counted.
	What string
}

// The numbers are of include/uapi/linux/perf_event.h (enum perf_sw_ids and
// perf_hw_id), the names of tools/perf.
const (
	perfTypeHardware = 0
	perfTypeSoftware = 1
)

var perfEvents = map[string][]PerfEvent{
	"software": {
		{"cpu-clock", []string{"cpu"}, perfTypeSoftware, 0, "a timer of each CPU, in ns"},
		{"task-clock", nil, perfTypeSoftware, 1, "a timer that runs while a task does, in ns"},
		{"page-faults", []string{"faults"}, perfTypeSoftware, 2, "page faults"},
		{"context-switches", []string{"cs"}, perfTypeSoftware, 3, "switches from one task to another"},
		{"cpu-migrations", []string{"migrations"}, perfTypeSoftware, 4, "tasks that went to another CPU"},
		{"minor-faults", nil, perfTypeSoftware, 5, "page faults that needed no disk"},
		{"major-faults", nil, perfTypeSoftware, 6, "page faults that needed the disk"},
		{"alignment-faults", nil, perfTypeSoftware, 7, "accesses that the kernel had to align"},
		{"emulation-faults", nil, perfTypeSoftware, 8, "instructions that the kernel emulated"},
		{"dummy", nil, perfTypeSoftware, 9, "nothing"},
		{"bpf-output", nil, perfTypeSoftware, 10, "output of BPF programs (4.4)"},
		{"cgroup-switches", nil, perfTypeSoftware, 11, "switches to a task of another control group (5.13)"},
	},
	"hardware": {
		{"cpu-cycles", []string{"cycles"}, perfTypeHardware, 0, "cycles of the CPU"},
		{"instructions", nil, perfTypeHardware, 1, "instructions that were completed"},
		{"cache-references", nil, perfTypeHardware, 2, "accesses of the last cache"},
		{"cache-misses", nil, perfTypeHardware, 3, "misses of the last cache"},
		{"branch-instructions", []string{"branches"}, perfTypeHardware, 4, "branches that were completed"},
		{"branch-misses", nil, perfTypeHardware, 5, "branches that were predicted wrong"},
		{"bus-cycles", nil, perfTypeHardware, 6, "cycles of the bus"},
		{"stalled-cycles-frontend", []string{"frontend-stalls", "idle-cycles-frontend"}, perfTypeHardware, 7,
			"cycles that waited for instructions"},
		{"stalled-cycles-backend", []string{"backend-stalls", "idle-cycles-backend"}, perfTypeHardware, 8,
			"cycles that waited for results"},
		{"ref-cycles", nil, perfTypeHardware, 9, "cycles at a constant frequency"},
	},
}

// eventSources is where the kernel tells which units count events.
const eventSources = "/sys/bus/event_source/devices"

// HasCounters reports whether the kernel drives counters of the CPU: the unit
// is called cpu on x86, and where there are several kinds of cores, or on
// arm64, it is the one that names its CPUs, as in perf.
func HasCounters() bool { return hasCounters(eventSources) }

func hasCounters(devices string) bool {
	for _, pattern := range []string{"cpu", "*/cpus"} {
		if found, err := filepath.Glob(filepath.Join(devices, pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// PerfEventNames gives all names, for spelling hints.
func PerfEventNames(kind string) (out []string) {
	for _, e := range allPerfEvents(kind) {
		out = append(append(out, e.Name), e.Aliases...)
	}
	return out
}
