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

// A rank is when programs are attached: the ends of spans come before their starts,
// so that no start is recorded whose end is then not seen. Programs at one
// tracepoint run in the order in which they were attached (order.go): an entry of a
// span has its new number before others look for it, and is forgotten after all have.
type rank uint8

// The ranks; 0 is none.
const (
	rankExec   rank = iota + 1 // gives the entry of a span its new number
	rankEnd                    // ends of spans of system calls
	rankOther                  // all others, the ends of a probe before its starts
	rankStart                  // starts of spans of system calls
	rankExit                   // forgets entries of spans
	rankAtOnce                 // runs when it is attached: all others see what it does
)

func rankOf(p *tree.Program) rank {
	switch {
	case p.Name == bpfgen.SpanExec:
		return rankExec
	case bpfgen.IsSpanExit(p):
		return rankExit
	}
	return wayOf(p.Attach.Kind()).rank
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
		points, err := wayOf(p.Attach.Kind()).open(l, p)
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
	if !errors.Is(err, unix.EMFILE) || len(a.At()) > 0 {
		return err
	}
	return fmt.Errorf("the limit of open files was reached, each point is one: raise it (ulimit -n, as root): %w", err)
}

// explainCrowd says what to do where a point has as many programs as it can have.
// Those of other tracers are among them.
func explainCrowd(a *tree.Attach, err error) error {
	if !errors.Is(err, unix.E2BIG) {
		return err
	}
	return fmt.Errorf("%s: %w", wayOf(a.Kind()).crowd, err)
}

func openRaw(name string, prog *ebpf.Program) ([]spot, error) {
	link, err := bpf.AttachRawTracepoint(name, prog)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, fmt.Errorf("this kernel has no raw tracepoint %s", name)
	case errors.Is(err, unix.EINVAL):
		return nil, fmt.Errorf("raw tracepoint %s has fewer arguments than the program reads: %w", name, err)
	case err != nil:
		return nil, err
	}
	return []spot{{link: link, kind: rawPoint}}, nil
}
