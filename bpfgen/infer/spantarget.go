package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// -p and -c with spans: whose process decides, that of the start or of the end.
//
// Which events of a span are shown, with -p and -c, is decided by e.pid, which is that of the end. Where the two belong
// together by thread it is that of the start, too: then the start is tested, and those of other processes leave no
// entry. Of a span with a key the start may be another process's doing, as a signal is sent by one process and
// delivered to another. So such starts are recorded whoever makes them, and the end takes the entry and is tested.
//
//	span("tracepoint:signal:signal_generate", "tracepoint:signal:signal_deliver",
//	     key = (lambda e: e.args.pid, lambda e: e.pid))      with -p: the signals that the process gets
//
// An event with a pid of its own (record(pid = e.start.pid)) is tested by that. An end that is nobody's, as the beat of
// a clock, is tested by the pid of its start.
//
// An end without a start is a loss, and counted, where the start was to be seen and the end is of a process that is
// traced. The start was not to be seen where the script lets some go (a where= that decides at the start, an event that
// returns None, a key of None). A start is lost where it finds no room, or where another one takes its place; it counts
// where it is itself of a process that is traced (tree.Span.Muted).

// ownPid reports whether the event that the probe gets has a pid of its own.
func (w *spanWalk) ownPid() bool { return w.pr.u.ownPid.At(spanUse{w.of.Plan, w.pr.p.ID}) }

// setOwnPid notes that it has, for the next round.
func (w *spanWalk) setOwnPid() {
	if !w.ownPid() {
		w.pr.u.ownPid.Set(spanUse{w.of.Plan, w.pr.p.ID}, true)
		w.pr.u.changed = true
	}
}

// test tests the process of a start, or notes whether it is traced.
func (w *spanWalk) test(s *spanStart) {
	_, named := s.ev.over["pid"]
	if w.tested && !named {
		w.pr.targetTest(s.body, s.ev)
		return
	}
	s.ev.untested = true
	pos := w.pr.p.Pos
	s.mute = constExpr(plan.Bool(false), pos)
	if named {
		w.setOwnPid()
		if t := s.body.rv(s.ev.over["pid"], pos).Type; t.Kind != types.Int || t.MayNone || t.Tagged() {
			return // it may not be known
		}
	}
	if traced := w.pr.traced(s.body, s.ev); traced != nil {
		s.mute = not(traced, pos)
		w.span.Muted = w.of.Plan.StartKey != nil
	}
}

// counts says of the end which of those without a start are losses.
func (w *spanWalk) counts(b *body, end *tree.Stmt, t *points.Target, ev *event) {
	nobodys := slices.ContainsFunc(w.of.Parts(), (*points.Target).Nobodys)
	target := w.pr.u.plan.Target.PID != 0 || w.pr.u.plan.Target.Passing()
	_, named := ev.over["pid"]
	unknown := w.ownPid() && !named // the pid is given when the start is known
	if !named {
		ev = b.eventAt(t)
	}
	if w.filtered || w.pr.u.plan.Target.Passing() || nobodys || unknown && target && !t.OwnDoing() {
		end.Str = "filtered"
	}
	if nobodys || unknown && !target {
		return
	}
	if test := b.inBlock(func() { w.pr.targetTest(b, ev) }); len(test.Stmts) > 0 {
		end.Else = test
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
