package attach

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
)

// An Error says which Program could not be attached, and why: Err.
type Error struct {
	Program *tree.Program
	Err     error
}

func (e *Error) Error() string {
	return "attach " + pointName(&e.Program.Attach) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Attach attaches all programs that are not attached; programs run from then
// on. If one fails, those that this call attached are detached again.
func (l *Loaded) Attach() error { return l.attach(func(*program) bool { return true }) }

// AttachFollowing attaches the programs that keep the table of followed processes.
// What these had started before can then be put into it, so that all others find
// the table complete.
func AttachFollowing(l *Loaded) error {
	return l.attach(func(p *program) bool { return p.Follows() })
}

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
		points, err := openerOf(p.Attach.Kind())(l, p)
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
