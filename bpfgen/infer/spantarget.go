package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// An end without a start is a loss, and counted, where the start was to be seen. It was not where the script lets some
// starts go (a where= that decides at the start, an event that returns None, a key of None), and where it was the doing
// of a process that is not traced. How that is known depends on what tells which start belongs to an end.

// A spanTarget is how the starts and ends of a span are told from those of processes that are not traced.
type spanTarget uint8

const (
	// byThread: both are the doing of one thread, so the end is tested as the start was.
	byThread spanTarget = iota
	// byStart: a start of startrace itself leaves a muted entry, by which its end is known.
	byStart
	// byEnd: the start of another process leaves none, so only those ends count that the traced process itself brings
	// about.
	byEnd
	// byNothing: the event's own pid decides, or it is nobody's.
	byNothing
)

func (w *spanWalk) testedBy() spanTarget {
	for _, t := range w.of.parts() {
		if t.nobodys() {
			return byNothing
		}
	}
	switch {
	case w.of.plan.StartKey == nil:
		return byThread
	case w.pr.u.plan.Target.PID == 0:
		return byStart
	}
	return byEnd
}

// test keeps the starts of processes that are not traced apart.
func (w *spanWalk) test(s *spanStart) {
	if _, named := s.ev.over["pid"]; named {
		w.target = byNothing
	}
	self := w.pr.u.plan.Target.Self
	if w.target != byStart || self == 0 {
		w.pr.targetTest(s.body, s.ev)
		return
	}
	pos := w.pr.p.Pos
	pid := s.body.rv(s.ev.mustField("pid", pos), pos)
	w.span.Muted = true
	s.mute = operation(tree.OpEq, types.Boolean, pid, intExpr(int64(self), pos), pos)
}

// counts says of the end which of those without a start are losses.
func (w *spanWalk) counts(b *body, end *tree.Stmt, t *target) {
	tested := w.target == byThread || w.target == byEnd && t.ownDoing()
	switch {
	case w.filtered, w.target == byNothing, w.target == byEnd && !tested:
		end.Str = "filtered"
	case tested:
		end.Else = b.inBlock(func() { w.pr.targetTest(b, t.event(t, b)) })
	}
}

// stops reports whether statements can end the handler quietly.
func stops(blk *tree.Block) bool {
	return blk != nil && slices.ContainsFunc(blk.Stmts, func(s *tree.Stmt) bool {
		return s.Op == tree.SStop || stops(s.Then) || stops(s.Else) || slices.ContainsFunc(s.Exprs, stopsInside)
	})
}

func stopsInside(e *tree.Expr) bool {
	return stops(e.Body) || slices.ContainsFunc(e.Args, stopsInside)
}
