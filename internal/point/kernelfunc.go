package point

import "github.com/startrace/startrace/internal/kernel"

// The rows of func:, kprobe:, kretprobe:, fentry: and fexit: in the table of kinds: forms, examples, what their events
// have (`Gives`), words of other tracers.

// functionWays attach to functions without a trampoline.
var functionWays = []kernel.Way{kernel.WayKprobe, kernel.WayKprobeMulti}

var (
	byKprobe  = &Way{Name: kernel.WayKprobe, Use: "kprobe: and kretprobe:", Instead: "tracepoints and system calls"}
	byKprobes = &Way{Name: kernel.WayKprobeMulti, Use: "many functions of the kernel at once", Since: "5.18",
		Instead: "a probe for each function, which takes longer to attach", By: functionWays}
	byKprobeSession = &Way{Name: kernel.WayKprobeSession, Use: "entry and return of a function by one program",
		Since: "6.10", Instead: "two programs; nothing is missing", By: functionWays}
	byTrampoline = &Way{Name: kernel.WayFentry, Use: "fentry: and fexit:", Since: "5.5",
		Instead: "func: takes kprobes, at several times the cost", By: functionWays, Forbidden: noDirectCalls}
)

// functions is the set of the kernel's functions.
const functions = "functions"

// KernelFunctions are functions of the kernel and its modules, by the mechanism that is named, or by the best one.
var KernelFunctions = &Family{Name: "functions of the kernel", Calls: "func:NAME", Kinds: []*Kind{
	{
		Name:     "func",
		Form:     "FUNCTION",
		What:     "calls of kernel functions, entry and return as one event",
		Examples: []string{"func:vfs_read", "func:tcp_*"},
		Gives:    []string{"args", "ret", "duration", "depth"},
		Set:      functions, Bare: true, OfModules: true, Blacklisted: true,
		ListedBy: NoList, Ways: []*Way{byTrampoline, byKprobes, byKprobeSession, byKprobe}, Lacking: noWayIntoFunctions,
		Foreign: map[string]string{"fbt": "use func:FUNCTION", "kernel": "use func:FUNCTION"},
	},
	{
		Name: "kprobe", Short: "k",
		Form: "FUNCTION[+OFFSET]", TakesOffset: true,
		What:     "entries of kernel functions, or places in them",
		Examples: []string{"kprobe:vfs_*"},
		Gives:    []string{"args"},
		Set:      functions, OfModules: true, Blacklisted: true,
		ListedBy: NoList, Ways: []*Way{byKprobe, byKprobes, byTrampoline}, Lacking: noWayIntoFunctions,
	},
	{
		Name: "kretprobe", Short: "kr",
		Form:     "FUNCTION",
		What:     "returns of kernel functions",
		Examples: []string{"kretprobe:vfs_read"},
		Gives:    []string{"ret"},
		Set:      functions, OfModules: true, Blacklisted: true,
		ListedBy: NoList, Ways: []*Way{byKprobe, byKprobes}, Lacking: noKprobes,
	},
	{
		Name: "fentry", Short: "f",
		Form: "FUNCTION", Wanted: "FUNCTION, or bpf:PROGRAM", Max: 2,
		What:     "entries of kernel functions by trampolines",
		Examples: []string{"fentry:vfs_read"},
		Gives:    []string{"args"},
		Set:      functions, OfModules: true,
		ListedBy: NoList, Ways: []*Way{byTrampoline, byKprobe}, Lacking: noWayIntoFunctions,
		Preempted: "kprobe:FUNCTION",
		Foreign:   map[string]string{"kfunc": "use fentry, or func for entry and return"},
	},
	{
		Name: "fexit", Short: "fr",
		Form: "FUNCTION", Wanted: "FUNCTION, or bpf:PROGRAM", Max: 2,
		What:     "returns of kernel functions by trampolines",
		Examples: []string{"fexit:vfs_read"},
		Gives:    []string{"args", "ret"},
		Set:      functions, OfModules: true,
		ListedBy: NoList, Ways: []*Way{byTrampoline, byKprobe}, Lacking: noWayIntoFunctions, Preempted: "func:FUNCTION",
		Foreign: map[string]string{"kretfunc": "use fexit, or func for entry and return"},
	},
}}

func noKprobes(f *kernel.Facts) (lacking bool, why string) {
	has := f.Features()
	return !has.Kprobe, has.Why["kprobe"]
}

// noWayIntoFunctions: trampolines and kprobes take each other's place.
func noWayIntoFunctions(f *kernel.Facts) (lacking bool, why string) {
	lacking, why = noKprobes(f)
	return lacking && !f.Trampolines().There, why
}
