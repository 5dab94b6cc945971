package attach

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
)

// The table of ways to attach: how many programs fit at a point, with the message that it has as many, and how points
// are named.

// A way is all that this package knows of one kind of attaching. What is asked of a kind elsewhere stands here as an
// answer that each kind gives, so a new one is a case of wayOf.
type way struct {
	// point names the point of a program as scripts do.
	point func(*tree.Attach) string
	// rank is when its programs are attached. Those that keep the entries of spans have a rank of their own (rankOf).
	rank rank
	// head reports whether the kernel runs a program before those that were attached earlier at its point, see
	// order.go.
	head func(*Loaded, *program) bool
	// probes is the source of single probes at places. It is "" where programs have none.
	probes perfSource
	// returns is set where the probes stand at the returns of functions.
	returns bool
	// crowd says why a point takes no more programs, and what to do.
	crowd string
}

// A perfSource is a source of perf events that puts probes where it is told, as the kernel calls it.
type perfSource string

// The sources.
const (
	kernelProbes perfSource = "kprobe"
	userProbes   perfSource = "uprobe"
)

// What is done where a point has as many programs as it can have: BPF_TRACE_MAX_PROGS of kernel/trace/bpf_trace.c,
// BPF_MAX_TRAMP_LINKS of include/linux/bpf.h.
const (
	oneHandler  = "let one handler do what those of several probes do"
	crowdPoint  = "this point has as many programs as it can run: " + oneHandler
	crowdTraced = "a tracepoint runs 64 programs at most, and this one has as many: " + oneHandler +
		", or take rawtracepoint:, which has no such limit"
	crowdTrampoline = "a function runs 38 programs by trampolines at most, and this one has as many: " + oneHandler +
		", or take kprobe: or kretprobe:"
)

// wayOf gives the way of a kind.
func wayOf(kind tree.AttachKind) way {
	w := way{rank: rankOther, head: never, crowd: crowdPoint}
	switch kind {
	case tree.AttachTracepoint:
		w.point = named(func(t tree.Tracepoint) string { return "tracepoint:" + t.Group + ":" + t.Name })
		w.crowd = crowdTraced
	case tree.AttachRawTracepoint:
		w.point = named(func(r tree.RawTracepoint) string { return "rawtracepoint:" + r.Name })
	case tree.AttachSyscallEnter:
		w.point, w.rank = named(func(tree.SyscallEnter) string { return "syscall entry" }), rankStart
	case tree.AttachSyscallExit:
		w.point, w.rank = named(func(tree.SyscallExit) string { return "syscall exit" }), rankEnd
	case tree.AttachProfile:
		w.point = named(func(tree.Clock) string { return "profile" })
	case tree.AttachInterval:
		w.point = named(func(tree.Clock) string { return "interval" })
	case tree.AttachPerf:
		w.point = named(func(c tree.Counter) string { return c.Group + ":" + c.Name })
		w.head = always
	case tree.AttachWatchpoint:
		w.point = named(func(w tree.Watchpoint) string { return "watchpoint:" + w.Name })
	case tree.AttachIter:
		w.point, w.rank = named(func(i tree.Iterator) string { return "iter:" + i.Name }), rankAtOnce
	default:
		return functionWay(kind)
	}
	return w
}

// functionWay gives the way of a kind that stands at functions.
func functionWay(kind tree.AttachKind) way {
	w := way{point: functions, rank: rankOther, head: always, crowd: crowdPoint}
	switch kind {
	case tree.AttachKprobe:
		w.probes = kernelProbes
	case tree.AttachKretprobe:
		w.probes, w.returns, w.head = kernelProbes, true, linkedReturns
	case tree.AttachUprobe:
		w.probes = userProbes
	case tree.AttachUretprobe:
		w.probes, w.returns = userProbes, true
	case tree.AttachFentry, tree.AttachFexit, tree.AttachHook:
		w.crowd = crowdTrampoline
	default:
		panic(fmt.Sprintf("package attach knows no way to attach programs of kind %d", kind))
	}
	return w
}

// named names the points of one way.
func named[W tree.Way](name func(W) string) func(*tree.Attach) string {
	return func(a *tree.Attach) string { return name(a.Way.(W)) }
}

// pointName names a point as scripts do.
func pointName(a *tree.Attach) string { return wayOf(a.Kind()).point(a) }

// namedPlaces is how many places of a pattern an error names.
const namedPlaces = 3

// functions names the functions where programs stand.
func functions(a *tree.Attach) string {
	places := a.At()
	if len(places) <= namedPlaces {
		return a.String()
	}
	short := a.AtPlaces(places[:namedPlaces])
	short.Functions().Cookies = false
	return fmt.Sprintf("%s and %d more", short, len(places)-namedPlaces)
}

// Whether the kernel runs a program before what was attached earlier.
func always(*Loaded, *program) bool { return true }

func never(*Loaded, *program) bool { return false }

// linkedReturns is the answer of return probes: those of links, from 6.14 on.
func linkedReturns(l *Loaded, p *program) bool { return p.multi && l.returnsAsEntries() }

// returnsAsEntries is Options.ReturnsAsEntries.
func (l *Loaded) returnsAsEntries() bool {
	return l.opts.ReturnsAsEntries != nil && l.opts.ReturnsAsEntries()
}
