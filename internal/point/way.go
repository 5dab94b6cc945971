package point

import "github.com/startrace/startrace/internal/kernel"

// A Way is something that a kernel may have or forbid, and that is found out by trying it: how points of some kinds are
// attached, or what tracing needs in any case.
type Way struct {
	Name    kernel.Way
	Use     string // what it is for
	Since   string // the version of Linux that has it; "" where that depends on the configuration only
	Instead string // what is done or can be done without it
}

// Ways are all of them, in the order in which doctor shows them.
func Ways() []*Way {
	return []*Way{
		{kernel.WayLoad, "tracing programs can be loaded", "4.17", ""},
		{kernel.WayMemory, "programs may read the kernel's memory", "5.5", ""},
		{kernel.WayRing, "events come through a ring buffer", "5.8", ""},
		byRawTracepoint, byTracepoint, byClock,
		byKprobe, byKprobes, byKprobeSession, byTrampoline,
		byUprobe, byUprobes, byUprobeSession,
		{kernel.WayCookies, "one program knows at which of many functions it runs", "5.15",
			"a program for each function"},
		byIterator, byCounter, byWatchpoint,
	}
}
