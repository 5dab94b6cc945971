package kernel

// Way, what a kernel may lack or forbid and is tried, a constant each.

// A Way is something that a kernel may have or forbid and that is found out by
// trying it (internal/attach) or by reading files.
type Way string

const (
	WayLoad          Way = "programs"       // a tracing program can be loaded
	WayMemory        Way = "kernel memory"  // programs may read it
	WayRing          Way = "ring buffer"    // 5.8
	WayRaw           Way = "rawtracepoint"  // also what system calls are traced by
	WayTracepoint    Way = "tracepoint"     // by perf_event_open
	WayProfile       Way = "profile"        // a clock on each CPU
	WayKprobe        Way = "kprobe"         // CONFIG_KPROBES
	WayKprobeMulti   Way = "kprobe_multi"   // 5.18
	WayKprobeSession Way = "kprobe session" // 6.10
	WayFentry        Way = "fentry"         // 5.5 on amd64, 6.0 on arm64
	WayUprobe        Way = "uprobe"         // CONFIG_UPROBES
	WayUprobeMulti   Way = "uprobe_multi"   // 6.6
	WayUprobeSession Way = "uprobe session" // 6.13
	WayCookies       Way = "cookies"        // 5.15
	WayIterator      Way = "iter"           // 5.8
	WayHook          Way = "lsm"            // 5.7, CONFIG_BPF_LSM, and bpf among the security modules
	WayHardware      Way = "hardware"       // counters of the CPU
	WayWatchpoint    Way = "watchpoint"     // debug registers
)
