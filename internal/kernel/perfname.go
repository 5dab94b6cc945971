package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// Events of caches and raw events (r01c2) by names, how many lie between two samples (Period), and messages about names
// that are wrong.

// The types of perf_event_attr whose events are named by parts and by numbers
// (include/uapi/linux/perf_event.h: enum perf_type_id).
const (
	perfTypeCache = 3
	perfTypeRaw   = 4
)

// What events of caches consist of, by their numbers (enum perf_hw_cache_id
// and its like), in perf's words.
var (
	perfCaches = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	perfOps    = [][2]string{{"loads", "load"}, {"stores", "store"}, {"prefetches", "prefetch"}}
)

// cacheEvents are all that the numbers allow; a CPU has some of them.
func cacheEvents() (out []PerfEvent) {
	for c, cache := range perfCaches {
		for o, op := range perfOps {
			config := uint64(c | o<<8)
			out = append(out,
				PerfEvent{cache + "-" + op[0], nil, perfTypeCache, config, op[0] + " of " + cache},
				PerfEvent{cache + "-" + op[1] + "-misses", nil, perfTypeCache, config | 1<<16, op[0] + " of " + cache +
					" that missed"})
		}
	}
	return out
}

// allPerfEvents are those of a kind that have names.
func allPerfEvents(kind string) []PerfEvent {
	if kind == "hardware" {
		return append(slices.Clone(perfEvents[kind]), cacheEvents()...)
	}
	return perfEvents[kind]
}

// MatchPerfEvents gives the events of a kind that a name or a pattern means:
// cpu-clock, cs, *-faults, L1-dcache-load-misses, r01c2.
func MatchPerfEvents(kind, pattern string) ([]PerfEvent, error) {
	glob, err := naming.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var out []PerfEvent
	for _, e := range allPerfEvents(kind) {
		if glob.Match(e.Name) || strings.EqualFold(e.Name, pattern) || slices.ContainsFunc(e.Aliases, glob.Match) {
			out = append(out, e)
		}
	}
	if raw, ok := rawEvent(kind, pattern); ok {
		out = append(out, raw)
	}
	if len(out) == 0 {
		return nil, noPerfEvent(kind, pattern)
	}
	return out, nil
}

// rawEvent is the number of an event in the manual of the CPU: r, then at
// most 16 digits in hex, as perf has it.
func rawEvent(kind, name string) (PerfEvent, bool) {
	digits, ok := strings.CutPrefix(name, "r")
	if !ok || kind != "hardware" {
		return PerfEvent{}, false
	}
	config, err := strconv.ParseUint(digits, 16, 64)
	return PerfEvent{name, nil, perfTypeRaw, config, "by its number"}, err == nil
}

// IsRawEvent reports whether a name of a kind is the number of an event, as
// "read" could be too.
func IsRawEvent(kind, name string) bool {
	_, raw := rawEvent(kind, name)
	return raw
}

// Period is how many events lie between two samples unless the script says:
// often enough for a picture, and seldom enough to cost little. Of the clocks
// it is in ns.
func (e PerfEvent) Period() uint64 {
	switch {
	case e.Type != perfTypeSoftware && (strings.HasPrefix(e.Name, "branch") || e.Name == "bus-cycles"):
		return 100_000
	case e.Type != perfTypeSoftware || strings.HasSuffix(e.Name, "-clock"):
		return 1_000_000
	case e.Name == "context-switches":
		return 1000
	case e.Name == "page-faults" || e.Name == "minor-faults":
		return 100
	}
	return 1
}

// noPerfEvent says what there is, and under which kind.
func noPerfEvent(kind, name string) error {
	other := map[string]string{"software": "hardware", "hardware": "software"}[kind]
	if slices.Contains(PerfEventNames(other), name) {
		return fmt.Errorf("%s is a %s event: write %s:%s", name, other, other, name)
	}
	if near := naming.Suggest(name, PerfEventNames(kind)); near != "" {
		return fmt.Errorf("there is no %s event %s (did you mean %s?)", kind, name, near)
	}
	if near := naming.Suggest(name, PerfEventNames(other)); near != "" {
		return fmt.Errorf("there is no %s event %s (did you mean %s:%s?)", kind, name, other, near)
	}
	var have []string
	for _, e := range perfEvents[kind] {
		have = append(have, e.Name)
	}
	more := ""
	if kind == "hardware" {
		more = ", those of caches (L1-dcache-load-misses, LLC-loads, dTLB-store-misses …) and numbers of the CPU's " +
			"manual (r01c2)"
	}
	return fmt.Errorf("there is no %s event %s; there are %s%s", kind, name, strings.Join(have, ", "), more)
}
