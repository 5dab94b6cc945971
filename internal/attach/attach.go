package attach

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// An Error says which point could not be attached and why.
type Error struct {
	Program *tree.Program
	Err     error
}

func (e *Error) Error() string {
	return "attach " + pointName(&e.Program.Attach) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// pointName names a point as scripts do.
func pointName(a *tree.Attach) string {
	switch a.Kind {
	case tree.AttachTracepoint:
		return "tracepoint:" + a.Group + ":" + a.Name
	case tree.AttachRawTracepoint:
		return "rawtracepoint:" + a.Name
	case tree.AttachProfile:
		return "profile"
	case tree.AttachInterval:
		return "interval"
	case tree.AttachPerf:
		return a.Group + ":" + a.Name
	case tree.AttachWatchpoint:
		return "watchpoint:" + a.Name
	case tree.AttachIter:
		return "iter:" + a.Name
	case tree.AttachSyscallEnter:
		return "syscall entry"
	case tree.AttachSyscallExit:
		return "syscall exit"
	}
	if short := *a; len(a.Places) > namedPlaces {
		short.Places, short.Cookies = a.Places[:namedPlaces], false
		return fmt.Sprintf("%s and %d more", short.String(), len(a.Places)-namedPlaces)
	}
	return a.String()
}

// namedPlaces is how many places of a pattern an error names.
const namedPlaces = 3

// rank orders programs for attaching: the ends of spans come before their
// starts, so that no start is recorded whose end is then not seen. Programs at
// one tracepoint run in the order in which they were attached (order.go): an entry
// of a span has its new number before others look for it, and is forgotten after
// all have.
func rank(p *tree.Program) int {
	switch {
	case p.Name == bpfgen.SpanExec:
		return 0
	case bpfgen.IsSpanExit(p):
		return 4
	case p.Attach.Kind == tree.AttachSyscallExit:
		return 1
	case p.Attach.Kind == tree.AttachSyscallEnter:
		return 3
	case p.Attach.Kind == tree.AttachIter:
		return 5 // it runs at once: all others see what it does
	}
	return 2
}

// Attach attaches all programs that are not attached; programs run from then
// on. If one fails, those that this call attached are detached again.
func (l *Loaded) Attach() error { return l.attach(func(*program) bool { return true }) }

// AttachProbe attaches the programs of one probe, and those that serve all
// probes, as Attach does.
func (l *Loaded) AttachProbe(probe int) error {
	return l.attach(func(p *program) bool { return p.Probe == probe || p.Probe < 0 })
}

func (l *Loaded) attach(want func(*program) bool) error {
	todo := l.selected(func(p *program) bool { return len(p.points) == 0 && want(p) })
	if err := l.forgetSpans(todo); err != nil {
		return err
	}
	if slices.ContainsFunc(todo, func(p *program) bool { return p.detached }) {
		l.closing.settle() // the kernel does not take a program at a point where it still is
	}
	before := slices.DeleteFunc(slices.Clone(l.programs), func(p *program) bool { return len(p.points) == 0 })
	undo := func() { // opening one can make another
		l.detach(l.selected(func(p *program) bool { return !slices.Contains(before, p) }))
	}
	var left leftOut
	for _, p := range todo {
		if left.has(p) {
			continue
		}
		if err := l.opts.stopped(); err != nil {
			undo()
			return err
		}
		points, err := l.open(p)
		if err != nil && !l.leave(p, err, &left) {
			undo()
			return &Error{p.Program, markPermission(explainCrowd(&p.Attach, explainFiles(&p.Attach, err)))}
		}
		p.points = points
	}
	if err := l.withoutPoints(&left); err != nil {
		undo()
		return err
	}
	return l.pairsFrom(todo)
}

// selected gives the programs that want accepts, in the order of rank.
func (l *Loaded) selected(want func(*program) bool) []*program {
	var out []*program
	for _, p := range l.programs {
		if !p.Tail && want(p) { // others jump to a tail
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, l.less)
	return out
}

// explainFiles says what to do where the process may open no more files; for
// patterns of functions openProbes has said it.
func explainFiles(a *tree.Attach, err error) error {
	if !errors.Is(err, unix.EMFILE) || len(a.Places) > 0 {
		return err
	}
	return fmt.Errorf("the limit of open files was reached, each point is one: raise it (ulimit -n, as root): %w", err)
}

// explainCrowd says what to do where a point has as many programs as it can have:
// BPF_TRACE_MAX_PROGS of kernel/trace/bpf_trace.c, BPF_MAX_TRAMP_LINKS of
// include/linux/bpf.h. Those of other tracers are among them.
func explainCrowd(a *tree.Attach, err error) error {
	const better = "let one handler do what those of several probes do"
	switch {
	case !errors.Is(err, unix.E2BIG):
		return err
	case a.Kind == tree.AttachTracepoint:
		return fmt.Errorf("a tracepoint runs 64 programs at most, and this one has as many: %s, or take rawtracepoint:, which has no such limit: %w", better, err)
	case a.Kind == tree.AttachFentry || a.Kind == tree.AttachFexit:
		return fmt.Errorf("a function runs 38 programs by trampolines at most, and this one has as many: %s, or take kprobe: or kretprobe: %w", better, err)
	}
	return fmt.Errorf("this point has as many programs as it can run: %s: %w", better, err)
}

// open attaches p to its point.
func (l *Loaded) open(p *program) ([]point, error) {
	a := &p.Attach
	switch a.Kind {
	case tree.AttachTracepoint:
		return l.openTracepoint(a, p.code)
	case tree.AttachRawTracepoint:
		return openRaw(a.Name, p.code)
	case tree.AttachSyscallEnter:
		return openRaw("sys_enter", p.code)
	case tree.AttachSyscallExit:
		return openRaw("sys_exit", p.code)
	case tree.AttachProfile, tree.AttachInterval:
		return openClock(a, p.code)
	case tree.AttachKprobe, tree.AttachKretprobe, tree.AttachUprobe, tree.AttachUretprobe:
		return l.openFunctions(p)
	case tree.AttachFentry, tree.AttachFexit:
		return openTrampoline(a, p.code)
	case tree.AttachPerf:
		return openCounter(a, p.code)
	case tree.AttachWatchpoint:
		return openWatchpoint(a, p.code)
	case tree.AttachIter:
		return nil, l.runIterator(p.code)
	}
	return nil, errors.New("unknown kind of point")
}

func openRaw(name string, prog *ebpf.Program) ([]point, error) {
	link, err := bpf.AttachRawTracepoint(name, prog)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, fmt.Errorf("this kernel has no raw tracepoint %s", name)
	case errors.Is(err, unix.EINVAL):
		return nil, fmt.Errorf("raw tracepoint %s has fewer arguments than the program reads: %w", name, err)
	case err != nil:
		return nil, err
	}
	return []point{{link: link, kind: rawPoint}}, nil
}
