package point

import (
	"cmp"
	"slices"

	"github.com/startrace/startrace/internal/kernel"
)

// The table of families and kinds, in the order of lists and the doctor.

// table has all families. Kinds are listed in this order.
var table = assemble(Tracepoints, RawTracepoints, SystemCalls, KernelFunctions, UserFunctions, StaticProbes, Timers,
	Counters, Watchpoints, Iterators, Hooks)

// assemble fills in what rows leave out.
func assemble(families ...*Family) (kinds []*Kind) {
	for _, f := range families {
		for _, k := range f.Kinds {
			k.Family = f
			k.Wanted = cmp.Or(k.Wanted, k.Form)
			k.Min = max(k.Min, 1)
			k.Max = max(k.Max, k.Min)
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Kinds gives all kinds in the order in which they are listed.
func Kinds() []*Kind { return slices.Clone(table) }

// Named gives the kind of a name or a short name.
func Named(word string) (k *Kind, known bool) {
	for _, k := range table {
		if k.Name == word || k.Short == word && word != "" {
			return k, true
		}
	}
	return nil, false
}

// Must gives the kind of a name that has been read before.
func Must(name string) *Kind {
	k, known := Named(name)
	if !known {
		panic("there is no kind of points " + name)
	}
	return k
}

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
