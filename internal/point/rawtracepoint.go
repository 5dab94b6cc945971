package point

import "github.com/startrace/startrace/internal/kernel"

// The row of rawtracepoint: in the table of kinds: form, examples, what its events have, words of other tracers.

var byRawTracepoint = &Way{Name: kernel.WayRaw, Use: "rawtracepoint: and syscall:", Since: "4.17"}

// RawTracepoints are the kernel's tracepoints, with the arguments of the places that call them.
var RawTracepoints = &Family{Name: "raw tracepoints", Kinds: []*Kind{{
	Name: "rawtracepoint", Short: "rt",
	Form:     "NAME",
	What:     "the same with the arguments of their call sites",
	Examples: []string{"rawtracepoint:sched_switch"},
	Gives:    []string{"args"},
	Set:      "raw tracepoints", Bare: true, OfModules: true,
	ListedBy: BTF, Ways: []*Way{byRawTracepoint}, Preempted: "tracepoint:CATEGORY:NAME",
	Foreign: map[string]string{"rawtp": "use rawtracepoint", "raw_tp": "use rawtracepoint"},
}}}
