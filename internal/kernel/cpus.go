package kernel

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The lists of CPUs that run and of those that there are, from /sys.

// OnlineCPUs reads the numbers of the CPUs that run; there is at least one.
func OnlineCPUs() ([]int, error) { return readCPUs("online") }

// PresentCPUs reads the numbers of the CPUs that the machine has; some can be offline.
func PresentCPUs() ([]int, error) { return readCPUs("present") }

func readCPUs(list string) ([]int, error) {
	file := "/sys/devices/system/cpu/" + list
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
