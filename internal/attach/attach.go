package attach

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// Attach attaches all programs; the message about the limit of open files (ulimit -n).
//
// Load has made the maps and loaded all programs before; nothing runs then. Attach takes the programs one after another
// in the order of less (order.go): first by rank, then by what the kernel makes of programs at one point, then by the
// number of the probe. The kind of each program has an opener (openerOf), which gives the spots where the program now
// stands. Of the script
//
//	probe("syscall:read", lambda e: printf("%d\n", e.duration))
//
// the unit has four programs, which are attached so:
//
//	span_exec    rankExec   a thread that gets another number keeps its open call
//	p0_read_out  rankEnd    the end of read(): it finds no start yet, which is not counted (pairing.go)
//	p0_read_in   rankStart  the start of read(): from here on there are events
//	span_exit    rankExit   a thread that ends gives its entry back
//
// A start is thus never recorded before its end is there to find it. If an opener fails, all programs of this call are
// detached again, except where only some places of a probe are refused (openProbes, leave).
//
// Detaching goes through the same list from its end to its beginning. It is done in four steps:
//
//  1. Pairs are no longer counted as lost (pairsUntil).
//  2. What the kernel has counted for a spot is read, as the kernel forgets it with the spot (keepUnseen).
//  3. Perf events of CPUs are stopped at once, and raw tracepoints are closed at once.
//  4. All spots but raw tracepoints are closed by threads in the background, since the kernel makes many of them wait
//     for a grace period. These end in any order.
//
// Close waits for the background, then closes the programs and at last the maps.

// An Error is the failure of attaching one program.
type Error struct {
	// Program is the program that could not be attached.
	Program *tree.Program
	// Err is what the kernel answered, with what to do about it. It has ErrPermission or kernel.ErrLockdown in its
	// chain where the answer was EPERM.
	Err error
}

func (e *Error) Error() string {
	return "attach " + pointName(&e.Program.Attach) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// LacksRights reports whether the run may not attach it: it has no right to, or the kernel is locked down. The kernel
// says EPERM, or EACCES where kernel.perf_event_paranoid asks for more.
func (e *Error) LacksRights() bool {
	return errors.Is(e.Err, fs.ErrPermission) || errors.Is(e.Err, kernel.ErrLockdown)
}

// Attach attaches all programs that are not attached. A program can run as soon as it is attached, before Attach
// returns. If one fails, those that this call attached are detached again, and the error is an *Error. It is
// Options.Stop's error where that ended the work.
func (l *Loaded) Attach() error { return l.attach(func(*program) bool { return true }) }

// AttachFollowing attaches the programs that keep the table of followed processes, and no others. The caller then puts
// into the table what these processes have started before. The programs that Attach attaches afterwards find the table
// complete. Its errors are those of Attach.
func AttachFollowing(l *Loaded) error {
	return l.attach(func(p *program) bool { return p.Follows() })
}

// AttachProbe attaches the programs of one probe, and those that serve all probes (their number of a probe is -1), as
// Attach does.
func (l *Loaded) AttachProbe(probe int) error {
	return l.attach(func(p *program) bool { return p.Probe == probe || p.Probe < 0 })
}

// attach attaches the programs that want accepts and that are not attached, with the errors of Attach.
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
	begun := spanCalls{l}.from(todo)
	err := l.pairsFrom(todo)
	spanCalls{l}.noteSeen(begun)
	return err
}

// explainFiles says what to do where the process may open no more files (EMFILE). For programs at functions it changes
// nothing, as openProbes has said it (explainLimit).
func explainFiles(a *tree.Attach, err error) error {
	if !errors.Is(err, unix.EMFILE) || len(a.At()) > 0 {
		return err
	}
	return fmt.Errorf("the limit of open files was reached, each point is one: raise it (ulimit -n, as root): %w", err)
}

// explainCrowd says what to do where a point has as many programs as it can have (E2BIG). The programs of other tracers
// count, too.
func explainCrowd(a *tree.Attach, err error) error {
	if !errors.Is(err, unix.E2BIG) {
		return err
	}
	return fmt.Errorf("%s: %w", wayOf(a.Kind()).crowd, err)
}
