package point

import "github.com/startrace/startrace/internal/kernel"

// The row of tracepoint: in the table of kinds: form, examples, what its events have, words of other tracers.

var byTracepoint = &Way{Name: kernel.WayTracepoint, Use: "tracepoint:",
	Instead: "rawtracepoint: has the same events with other arguments"}

// Tracepoints are the kernel's, with the arguments of their format.
var Tracepoints = &Family{Name: "tracepoints", Kinds: []*Kind{{
	Name: "tracepoint", Short: "t",
	Form: "CATEGORY:NAME", Min: 2,
	What:     "tracepoints of the kernel",
	Examples: []string{"tracepoint:sched:sched_switch", "tracepoint:block:*"},
	Gives:    []string{"args"},
	Set:      "tracepoints", Bare: true, Categories: true, OfModules: true,
	ListedBy: Tracefs, Ways: []*Way{byTracepoint},
	Foreign: map[string]string{
		"tp": "use tracepoint", "sdt": "use tracepoint or usdt", "sched": "use tracepoint:sched:NAME",
	},
}}}
