package attach

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
)

// A way is all that this package knows of one kind of attaching. What is asked of a kind elsewhere stands here as an
// answer that each kind gives, so a new one is a case of wayOf.
type way struct {
	// point names a point as scripts do.
	point func(*tree.Attach) string
	// open attaches a program to its points.
	open func(*Loaded, *program) ([]point, error)
	// rank is when its programs are attached.
	rank rank
	// head: the kernel runs a program before those that were attached earlier, see order.go.
	head func(*Loaded, *program) bool
	// probes are the source of single probes at places; "" where programs have none.
	probes source
	// returns: its probes stand at the returns of functions.
	returns bool
	// crowd says why a point takes no more programs, and what to do.
	crowd string
}

// A source of perf events that puts probes where it is told, as the kernel calls it.
type source string

// The sources.
const (
	kernelProbes source = "kprobe"
	userProbes   source = "uprobe"
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
	switch kind {
	case tree.AttachTracepoint:
		return way{point: groupPoint("tracepoint:"), open: openTracepoint, rank: rankOther, head: never, crowd: crowdTraced}
	case tree.AttachRawTracepoint:
		return way{point: namePoint("rawtracepoint:"), rank: rankOther, head: never, crowd: crowdPoint,
			open: func(_ *Loaded, p *program) ([]point, error) { return openRaw(p.Attach.Name, p) }}
	case tree.AttachSyscallEnter:
		return way{point: words("syscall entry"), rank: rankStart, head: never, crowd: crowdPoint,
			open: func(_ *Loaded, p *program) ([]point, error) { return openRaw("sys_enter", p) }}
	case tree.AttachSyscallExit:
		return way{point: words("syscall exit"), rank: rankEnd, head: never, crowd: crowdPoint,
			open: func(_ *Loaded, p *program) ([]point, error) { return openRaw("sys_exit", p) }}
	case tree.AttachProfile:
		return way{point: words("profile"), open: openProfile, rank: rankOther, head: never, crowd: crowdPoint}
	case tree.AttachInterval:
		return way{point: words("interval"), open: openInterval, rank: rankOther, head: never, crowd: crowdPoint}
	case tree.AttachPerf:
		return way{point: groupPoint(""), open: openCounter, rank: rankOther, head: always, crowd: crowdPoint}
	case tree.AttachWatchpoint:
		return way{point: namePoint("watchpoint:"), open: openWatchpoint, rank: rankOther, head: never, crowd: crowdPoint}
	case tree.AttachIter:
		return way{point: namePoint("iter:"), open: (*Loaded).runIterator, rank: rankAtOnce, head: never, crowd: crowdPoint}
	}
	return functionWay(kind)
}

// functionWay gives the way of a kind that stands at functions.
func functionWay(kind tree.AttachKind) way {
	w := way{point: places, open: (*Loaded).openFunctions, rank: rankOther, head: always, crowd: crowdPoint}
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
		w.open, w.crowd = openTrampoline, crowdTrampoline
	default:
		panic(fmt.Sprintf("package attach knows no way to attach programs of kind %d", kind))
	}
	return w
}

// pointName names a point as scripts do.
func pointName(a *tree.Attach) string { return wayOf(a.Kind).point(a) }

func words(text string) func(*tree.Attach) string {
	return func(*tree.Attach) string { return text }
}

func namePoint(prefix string) func(*tree.Attach) string {
	return func(a *tree.Attach) string { return prefix + a.Name }
}

func groupPoint(prefix string) func(*tree.Attach) string {
	return func(a *tree.Attach) string { return prefix + a.Group + ":" + a.Name }
}

// namedPlaces is how many places of a pattern an error names.
const namedPlaces = 3

// places names the functions where programs stand.
func places(a *tree.Attach) string {
	if short := *a; len(a.Places) > namedPlaces {
		short.Places, short.Cookies = a.Places[:namedPlaces], false
		return fmt.Sprintf("%s and %d more", short.String(), len(a.Places)-namedPlaces)
	}
	return a.String()
}
