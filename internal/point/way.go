package point

import "github.com/startrace/startrace/internal/kernel"

// A Way is something that a kernel may have or forbid, and that is found out by trying it: how points of some kinds are
// attached, or what tracing needs in any case.
type Way struct {
	Name    kernel.Way
	Use     string // what it is for
	Since   string // the version of Linux that has it; "" where that depends on the configuration only
	Instead string // what is done or can be done without it
	// Forbidden is why the kernel refuses it to who may load programs at all; "": nothing but that is known.
	Forbidden string
}

// noDirectCalls is why there are no trampolines.
const noDirectCalls = "this kernel was built without what they need (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), " +
	"or a security module forbids them"

// Ways are all of them, in the order in which doctor shows them.
func Ways() []*Way {
	return []*Way{
		{Name: kernel.WayLoad, Use: "tracing programs can be loaded", Since: "4.17"},
		{Name: kernel.WayMemory, Use: "programs may read the kernel's memory", Since: "5.5"},
		{Name: kernel.WayRing, Use: "events come through a ring buffer", Since: "5.8"},
		byRawTracepoint, byTracepoint, byClock,
		byKprobe, byKprobes, byKprobeSession, byTrampoline,
		byUprobe, byUprobes, byUprobeSession,
		{Name: kernel.WayCookies, Use: "one program knows at which of many functions it runs", Since: "5.15",
			Instead: "a program for each function"},
		byIterator, byHook, byCounter, byWatchpoint,
	}
}
