package infer

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// This file makes the programs of span(start, end, key=): one for each start
// point, which opens an entry, and one for each end point, which takes it and
// goes on with what the probe does.
//
// What the end needs of the start (e.start…) becomes a slot of the entry. The
// walk of an end is bound to one start, so it is repeated for each of them; all
// repetitions ask for the same slots in the same order, and each start learns
// by its own what to put into them. Only the first repetition's program stays.

// expandSpan gives the span as one target.
func (u *unit) expandSpan(p *plan.Span) []*target {
	t := &target{kind: targetSpan, text: "span", name: "span", pos: p.Pos, span: p}
	t.starts, t.ends = single(u.expand(p.Start, p.Pos)), single(u.expand(p.End, p.Pos))
	for _, one := range append(append([]*target{}, t.starts...), t.ends...) {
		if one.kind == targetSyscall || one.kind == targetSpan || one.kind == targetFuncSpan {
			wrong(p.Pos, "%s is a span itself, so it cannot begin or end one: use its tracepoints", one.text)
		}
	}
	return []*target{t}
}

// spanWalk makes the programs of one span for one probe.
type spanWalk struct {
	pr     *probe
	t      *target
	id     int
	span   *tree.Span
	starts []*spanStart
	key    *types.Type // joined over all rounds
	// filtered: ends without a start are no loss.
	filtered bool
}

type spanStart struct {
	body *body
	ev   *event
	key  *tree.Expr
	none bool // the key of this point is always None
	vals map[int]*tree.Expr
}

func (pr *probe) spans(t *target) {
	d := t.span
	if pr.u.spanKeys[d] == nil {
		pr.u.spanKeys[d] = &types.Type{}
	}
	w := &spanWalk{pr: pr, t: t, id: len(pr.u.res.Tree.Spans), key: pr.u.spanKeys[d]}
	w.span = &tree.Span{Probe: pr.p.ID, Size: d.Size, First: d.Again == "first", Timeout: d.Timeout, Pos: d.Pos}
	if w.span.Size <= 0 {
		w.span.Size = plan.DefaultSize
	}
	pr.u.res.Tree.Spans = append(pr.u.res.Tree.Spans, w.span)
	w.filtered = pr.u.plan.Target.PID > 0 || pr.u.plan.Target.Self > 0 || pr.p.Start != nil && pr.p.Where != nil
	for _, s := range t.starts {
		w.start(s)
	}
	for _, e := range t.ends {
		w.end(e)
	}
	pr.closers = append(pr.closers, w.close)
}

func (w *spanWalk) program(t *target, suffix string) *tree.Program {
	name := t.short()
	if len(name) > 8 {
		name = name[:8]
	}
	p := &tree.Program{Name: w.pr.u.programName(w.pr.p.ID, name+suffix), Probe: w.pr.p.ID, Attach: t.attach()}
	p.Attach.Span = w.id
	return p
}

// start walks one start point.
func (w *spanWalk) start(t *target) {
	prog := w.program(t, "_in")
	b := newBody(w.pr, prog)
	ev := w.pr.armed(b, t.event(b), t)
	if ev == nil {
		return
	}
	ev.name = w.startName(t)
	s := &spanStart{body: b, ev: ev, vals: map[int]*tree.Expr{}}
	w.pr.targetTest(b, ev)
	w.pr.atStart(b, ev, t)
	s.key = w.keyOf(b, ev, w.t.span.StartKey)
	s.none = s.key == nil && w.t.span.StartKey != nil
	b.lazy = true
	w.starts = append(w.starts, s)
	w.pr.u.res.Tree.Programs = append(w.pr.u.res.Tree.Programs, prog)
}

// startName is e.start.probe: with several start points not a constant for
// the end, which does not know by which of them it began.
func (w *spanWalk) startName(t *target) func(plan.Pos) val {
	if len(w.t.starts) == 1 {
		return nil
	}
	room := 0
	for _, s := range w.t.starts {
		room = max(room, len(s.text)+1)
	}
	return func(pos plan.Pos) val {
		e := constExpr(plan.String(t.text), pos)
		e.Type = types.StrOf(room)
		return exprVal(e)
	}
}

// keyOf is the key of an event; None: not this one.
func (w *spanWalk) keyOf(b *body, ev *event, fn *plan.Func) *tree.Expr {
	if fn == nil {
		return nil
	}
	w.pr.place("key", fn, false, "")
	e := b.rv(b.callFunc(fn, eventArg(ev, fn.Pos), fn.Pos), fn.Pos)
	if e.Type.Kind == types.None {
		b.stop(fn.Pos)
		return nil
	}
	if e.Type.MayNone && e.Type.Kind != types.Ptr {
		b.require(negate(b.isNone(exprVal(e), fn.Pos), fn.Pos), fn.Pos)
		e = assumeNotNone(e)
	}
	t, ok := types.Join(*w.key, keyType(e.Type))
	if !ok {
		wrong(fn.Pos, "the key of this span is %s here, and %s elsewhere", e.Type, *w.key)
	}
	if !t.Equal(*w.key) {
		*w.key = t
		w.pr.u.changed = true
	}
	return convert(e, t)
}

// end walks one end point, once for each start point.
func (w *spanWalk) end(t *target) {
	order := &[]int{}
	for k, s := range w.starts {
		prog := &tree.Program{Attach: t.attach()}
		if k == 0 {
			prog = w.program(t, "_out")
			w.pr.u.res.Tree.Programs = append(w.pr.u.res.Tree.Programs, prog)
		}
		kept := w.pr.handler.kept()
		w.endFor(newBody(w.pr, prog), t, s, order, k == 0)
		if k > 0 {
			kept()
		}
	}
}

// endFor walks an end point bound to one start point.
func (w *spanWalk) endFor(b *body, t *target, s *spanStart, order *[]int, first bool) {
	b.span = &spanState{span: w.span, start: s.body, end: b, vals: s.vals, order: order, first: first}
	ev := w.pr.armed(b, t.event(b), t)
	if ev == nil {
		return
	}
	end := &tree.Stmt{Op: tree.SSpanEnd, Int: int64(w.id), Pos: w.t.pos}
	key := w.t.span.EndKey
	if e := w.keyOf(b, ev, key); e != nil {
		end.Exprs = []*tree.Expr{e}
	} else if key != nil {
		return // no event of this point ends one
	}
	ev.startEv = s.ev // the key is what finds it
	ev.duration = func(pos plan.Pos) val { return elapsed(b, ev, s.ev, pos) }
	if w.filtered {
		end.Str = "filtered"
	}
	b.emit(end)
	w.pr.consume(b, ev, w.t)
}

// elapsed is the time from the start to the end.
func elapsed(b *body, ev, began *event, pos plan.Pos) val {
	then := b.rv(began.mustField("time", pos), pos)
	now := b.rv(ev.mustField("time", pos), pos)
	return exprVal(&tree.Expr{Op: tree.OpSub, Type: types.I64, Args: []*tree.Expr{now, then}, Pos: pos})
}

// close ends the start programs when all slots are known.
func (w *spanWalk) close() {
	w.span.Key = *w.key
	for _, s := range w.starts {
		if s.none {
			continue
		}
		st := &tree.Stmt{Op: tree.SSpanStart, Int: int64(w.id), Pos: w.t.pos}
		if s.key != nil {
			st.Exprs = append(st.Exprs, convert(s.key, *w.key))
		}
		st.Exprs = append(st.Exprs, slotValues(w.span, s.vals, w.t.pos)...)
		s.body.emit(st)
	}
}

// slotValues are the expressions that fill the slots of a span.
func slotValues(span *tree.Span, vals map[int]*tree.Expr, pos plan.Pos) []*tree.Expr {
	var out []*tree.Expr
	for i, t := range span.Slots {
		e, ok := vals[i]
		if !ok {
			e = zeroOf(t, pos)
		}
		out = append(out, e)
	}
	return out
}

// again is the slot that another start point's walk asked for at this turn.
func (st *spanState) again(e *tree.Expr) int {
	if st.turn >= len(*st.order) {
		wrong(e.Pos, "the start points of this span do not have the same fields")
	}
	i := (*st.order)[st.turn]
	st.turn++
	if !st.span.Slots[i].Equal(e.Type) {
		wrong(e.Pos, "e.start has %s at one start point and %s at another here", st.span.Slots[i], e.Type)
	}
	if have, ok := st.vals[i]; ok && !sameExpr(have, e) {
		panic(fmt.Sprintf("infer: slot %d of a span is filled twice", i))
	}
	st.vals[i] = e
	return i
}
