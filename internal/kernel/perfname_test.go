package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatchPerfEvents(t *testing.T) {
	for _, c := range []struct {
		kind, name, full string
		typ              uint32
		config, period   uint64
	}{
		{"software", "cpu-clock", "cpu-clock", 1, 0, 1_000_000},
		{"software", "faults", "page-faults", 1, 2, 100},
		{"software", "cs", "context-switches", 1, 3, 1000},
		{"software", "bpf-output", "bpf-output", 1, 10, 1},
		{"hardware", "branches", "branch-instructions", 0, 4, 100_000},
		{"hardware", "frontend-stalls", "stalled-cycles-frontend", 0, 7, 1_000_000},
		{"hardware", "ref-cycles", "ref-cycles", 0, 9, 1_000_000},
		{"hardware", "L1-dcache-load-misses", "L1-dcache-load-misses", 3, 0x10000, 1_000_000},
		{"hardware", "dTLB-stores", "dTLB-stores", 3, 0x103, 1_000_000},
		{"hardware", "llc-prefetch-misses", "LLC-prefetch-misses", 3, 0x10202, 1_000_000},
		{"hardware", "r01c2", "r01c2", 4, 0x1c2, 1_000_000},
	} {
		got, err := MatchPerfEvents(c.kind, c.name)
		if err != nil || len(got) != 1 {
			t.Errorf("%s:%s is %v, %v; want one event", c.kind, c.name, got, err)
			continue
		}
		if e := got[0]; e.Name != c.full || e.Type != c.typ || e.Config != c.config || e.Period() != c.period {
			t.Errorf("%s:%s is %s %d:%#x every %d; want %s %d:%#x every %d", c.kind, c.name, e.Name, e.Type, e.Config,
				e.Period(), c.full, c.typ, c.config, c.period)
		}
	}
	faults, err := MatchPerfEvents("software", "*-faults")
	if err != nil || len(faults) != 5 {
		t.Errorf("*-faults are %v, %v; want page, minor, major, alignment, emulation", faults, err)
	}
}

func TestNoPerfEvent(t *testing.T) {
	for name, want := range map[string]string{
		"software:page-fault":            "did you mean page-faults?",
		"software:cycles":                "cycles is a hardware event: write hardware:cycles",
		"hardware:L1-dcache-load-missed": "did you mean L1-dcache-load-misses?",
		"hardware:page-faultz":           "did you mean software:page-faults?",
		"hardware:rxyz":                  "there is no hardware event rxyz",
		"hardware:r11223344556677889":    "there is no hardware event",
		"software:r1":                    "there is no software event r1; there are cpu-clock, task-clock",
	} {
		kind, event, _ := strings.Cut(name, ":")
		got, err := MatchPerfEvents(kind, event)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", name, got, err, want)
		}
	}
}

// The units of the CPU, by the names of x86, of its two kinds of cores, and of arm64; others are not the CPU's.
func TestHasCounters(t *testing.T) {
	for _, c := range []struct {
		files string // of the units
		want  bool
	}{
		{"cpu/type software/type", true},
		{"cpu_core/cpus cpu_atom/cpus", true},
		{"armv8_pmuv3/cpus", true},
		{"armv9_neoverse_n2/cpus", true},
		{"apple_icestorm_pmu/cpus", true},
		{"software/type uncore_imc/cpumask msr/type arm_spe_0/cpumask", false},
		{"", false},
	} {
		devices := t.TempDir()
		for file := range strings.FieldsSeq(c.files) {
			file = filepath.Join(devices, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := hasCounters(devices); got != c.want {
			t.Errorf("%q: got %v", c.files, got)
		}
	}
}
