package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The programs of span(start, end, key=): opening an entry, taking it at the end, e.duration; the message about key=
// functions that give different kinds.
//
// What the end needs of the start (e.start…) becomes a slot of the entry. The
// walk of an end is bound to one start, so it is repeated for each of them. As
// long as all repetitions come to the same, asking for the same slots in the
// same order, each start learns by its own what to put into them, and only the
// first repetition's program stays. If they do not, because a field is a
// constant of the start point or only some have it, the span's starts are kept
// apart: see spanstartsapart.go.
//
// In
//
//	io = span("tracepoint:block:block_rq_issue", "tracepoint:block:block_rq_complete",
//	          key = lambda e: (e.args.dev, e.args.sector))
//	probe(io, lambda e: printf("%d %s\n", e.duration, e.start.comm))
//
// the walk of the end asks for e.duration, which needs the time of the start, and for e.start.comm. So the entry has
// two slots, which the start fills, under a key of two parts. The end reads them back:
//
//	span 0 probe 0 size 10240 key (u32, u64)
//	  slot 0 time u64
//	  slot 1 comm str[16]
//	program "p0_block_rq_in" probe 0 tracepoint block:block_rq_issue
//	    spanstart (tuple …) (builtin:u64 time) (builtin:str[16] comm) …
//	program "p0_block_rq_out" probe 0 tracepoint block:block_rq_complete
//	    spanend (tuple …)
//	    send r0 (sub:s64 (builtin:u64 time) (slot:u64 0)) (slot:str[16] 1)

// spanWalk makes the programs of one span for one probe.
type spanWalk struct {
	// pr is the probe.
	pr *probe
	// t is the target of the probe that is the span.
	t *points.Target
	// of is the source of t: the start and end points of the span, on this kernel.
	of *points.Span
	// id is the number of the span in the unit.
	id int
	// span is what the tree has of it. Its slots grow as the ends ask for values.
	span *tree.Span
	// starts are the programs that begin it, in the order of the script.
	starts []*spanStart
	// key is the type of its key, joined over its points and over all rounds (unit.spanKeys).
	key *types.Type
	// filtered is set where the script lets some starts go, as with where=, so that ends without a start are no loss.
	filtered bool
	// tested is set where the process of a start is tested, and with it that of the end.
	tested bool
	// apart is set where what an end makes of the start points differs, so that the program of the end has a branch for
	// each (spanstartsapart.go).
	apart bool
	// unended is how many of the end points have a key that is always None.
	unended int
}

// spanStart is the program of one start point of a span.
type spanStart struct {
	// body is that program.
	body *body
	// ev is the event there.
	ev *event
	// key is what the span's entry is found by. It is nil where that is the thread.
	key *tree.Expr
	// none is set where the key of this point is always None, so that none begins here.
	none bool
	// mute is true, when the program runs, where the process is not one that is traced. It is nil where tested has left
	// only those that are.
	mute *tree.Expr
	// vals are the values that ends have asked for, by slot.
	vals map[int]*tree.Expr
	// asked has what items() shows of what began here.
	asked *askedOfStart
}

// ownSpan makes the programs of a span of the script.
func (pr *probe) ownSpan(t *points.Target, s *points.Span) {
	d := s.Plan
	if pr.u.spanKeys[d] == nil {
		pr.u.spanKeys[d] = &types.Type{}
	}
	w := &spanWalk{pr: pr, t: t, of: s, id: len(pr.u.res.Tree.Spans), key: pr.u.spanKeys[d]}
	w.span = &tree.Span{Probe: pr.p.ID, Plan: d, Size: d.Size, First: d.Again == "first", Timeout: d.Timeout,
		Pos: d.Pos}
	if w.span.Size <= 0 {
		w.span.Size = plan.DefaultSize
	}
	pr.u.res.Tree.Spans = append(pr.u.res.Tree.Spans, w.span)
	w.keepApart()
	w.tested = d.StartKey == nil && !w.ownPid() && !slices.ContainsFunc(s.Parts(), (*points.Target).Nobodys)
	first := len(pr.u.res.Tree.Programs)
	for _, start := range s.Starts {
		w.start(start)
	}
	middle := len(pr.u.res.Tree.Programs)
	w.span.Ends = d.StartKey == nil && !w.filtered
	for _, e := range s.Ends {
		w.end(e)
	}
	if returnsAtOnce(s) {
		startsLast(pr.u.res.Tree.Programs[first:], middle-first)
	}
	pr.closers = append(pr.closers, w.close)
}

// returnsAtOnce reports whether an end is the return of a function at the very instruction by which
// it begins: it has no other (Go).
func returnsAtOnce(s *points.Span) bool {
	return slices.ContainsFunc(s.Ends, func(end *points.Target) bool {
		return slices.ContainsFunc(end.ReturnsAt(), func(at points.Instruction) bool {
			return slices.ContainsFunc(s.Starts,
				func(start *points.Target) bool { return slices.Contains(start.Entries(), at) })
		})
	})
}

// startsLast puts the first n programs behind the others: at one instruction the kernel runs first what was
// attached last (consumer_add, kernel/events/uprobes.c), and the start comes first.
func startsLast(programs []*tree.Program, n int) {
	copy(programs, slices.Concat(programs[n:], programs[:n]))
}

func (w *spanWalk) program(t *points.Target, suffix string) *tree.Program {
	name := t.Name[:min(len(t.Name), 8)]
	p := &tree.Program{Name: w.pr.u.programName(w.pr.p.ID, name+suffix), Probe: w.pr.p.ID, Attach: t.Attach()}
	p.Attach.Span = w.id
	return p
}

// start walks one start point.
func (w *spanWalk) start(t *points.Target) {
	prog := w.program(t, "_in")
	b := newBody(w.pr, prog)
	ev := w.pr.armed(b, b.eventAt(t), t)
	if ev == nil {
		return
	}
	ev.name = w.startName(t)
	s := &spanStart{body: b, ev: ev, vals: w.numbered(t.Pos), asked: newAsked()}
	w.filtered = w.filtered || stops(b.block)
	w.test(s)
	w.filtered = w.pr.atStart(b, ev, t) || w.filtered
	tested := len(b.block.Stmts)
	s.key = w.keyOf(b, ev, w.of.Plan.StartKey)
	w.filtered = w.filtered || stops(&tree.Block{Stmts: b.block.Stmts[tested:]})
	s.none = s.key == nil && w.of.Plan.StartKey != nil
	b.lazy = true
	w.starts = append(w.starts, s)
	w.pr.u.res.Tree.Programs = append(w.pr.u.res.Tree.Programs, prog)
}

// startName is e.start.probe: with several start points not a constant for
// the end, which does not know by which of them it began.
func (w *spanWalk) startName(t *points.Target) func(plan.Pos) val {
	if len(w.of.Starts) == 1 || w.apart {
		return nil
	}
	room := 0
	for _, s := range w.of.Starts {
		room = max(room, len(s.Text)+1)
	}
	return func(pos plan.Pos) val {
		e := constExpr(plan.String(t.Text), pos)
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
	var e *tree.Expr
	key := func() { e = b.rv(b.given(ev, fn), fn.Pos) }
	known := w.pr.early(b, func() { w.pr.reading(key) })
	if !known || e.Type.Kind == types.None && !e.Type.MayFault && w.pr.u.unknown.Len() > 0 {
		return &tree.Expr{Op: tree.OpConst, Type: *w.key, Pos: fn.Pos} // for this round only
	}
	none := b.ops().isNone(exprVal(e), fn.Pos)
	if none.known && none.value {
		b.stop(fn.Pos)
		return nil
	}
	if !none.known {
		b.require(negate(none, fn.Pos), fn.Pos)
		e = assumeNotNone(e)
	}
	e = keyed(b, e, fn.Pos)
	t, ok := types.Join(*w.key, keyType(e.Type))
	if !ok {
		wrong(fn.Pos, "the key of this span is %s here, and %s at another point: "+
			"both functions of key= must give the same kind", inWords(e.Type), inWords(*w.key))
	}
	if !t.Equal(*w.key) {
		*w.key = t
		w.pr.u.changed = true
	}
	return convert(e, t)
}

// end walks one end point, once for each start point.
func (w *spanWalk) end(t *points.Target) {
	prog := w.program(t, "_out")
	w.pr.u.res.Tree.Programs = append(w.pr.u.res.Tree.Programs, prog)
	b := newBody(w.pr, prog)
	if w.apart {
		w.endApart(b, t)
		return
	}
	var first *repetition
	order := &[]int{}
	for k, s := range w.starts {
		if k > 0 {
			b = newBody(w.pr, &tree.Program{Attach: prog.Attach})
		}
		r := w.repetition(b)
		b.span = &spanState{span: w.span, start: s.body, end: b, vals: s.vals, asked: s.asked, order: order,
			first: k == 0, differ: w.differ}
		if ev := w.taken(b, t); ev != nil {
			w.pr.consume(b, w.endOf(b, ev, t, s), w.t)
		}
		r.end(b.span)
		if first == nil {
			first = r
		}
		if !first.same(r) {
			w.differ()
		}
	}
	if first != nil {
		first.stay()
	}
}

// taken emits what takes the entry and gives the event of the end; nil: it is
// never one.
func (w *spanWalk) taken(b *body, t *points.Target) *event {
	ev := w.pr.armed(b, b.eventAt(t), t)
	if ev == nil {
		return nil
	}
	end := &tree.Stmt{Op: tree.SSpanEnd, Int: int64(w.id), Pos: w.t.Pos}
	key := w.of.Plan.EndKey
	if e := w.keyOf(b, ev, key); e != nil {
		end.Exprs = []*tree.Expr{e}
	} else if key != nil {
		w.unended++
		return nil // no event of this point ends one
	}
	w.counts(b, end, t, ev)
	b.emit(end)
	return ev
}

// endOf is the event of an end that began with s.
func (w *spanWalk) endOf(b *body, ev *event, t *points.Target, s *spanStart) *event {
	out := *ev
	out.startEv, out.tested, out.setOwnPid = s.ev, w.tested, w.setOwnPid
	if t.Nobodys() {
		out.judged = s.ev
	}
	out.duration = func(pos plan.Pos) val { return elapsed(b, &out, s.ev, pos) }
	return &out
}

// elapsed is the time from the start to the end.
func elapsed(b *body, ev, began *event, pos plan.Pos) val {
	then := b.rv(began.mustField("time", pos), pos)
	now := b.rv(ev.mustField("time", pos), pos)
	return exprVal(operation(tree.OpSub, types.I64, now, then, pos))
}

// close ends the start programs when all slots are known.
func (w *spanWalk) close() {
	w.span.Key, w.span.Filtered = *w.key, w.filtered
	begins := func(s *spanStart) bool { return !s.none }
	if fn := w.of.Plan.StartKey; len(w.starts) > 0 && !slices.ContainsFunc(w.starts, begins) {
		w.pr.u.warnf(fn.Pos, "the key of this span is always None at %s, which means that none begins",
			w.of.Starts[0].Text)
	}
	if fn := w.of.Plan.EndKey; fn != nil && len(w.of.Ends) > 0 && w.unended == len(w.of.Ends) {
		w.pr.u.warnf(fn.Pos, "the key of this span is always None at %s, which means that none ends", w.of.Ends[0].Text)
	}
	for _, s := range w.starts {
		w.span.Kept = append(w.span.Kept, s.asked.kept(len(w.span.Slots)))
		if s.none {
			continue
		}
		st := &tree.Stmt{Op: tree.SSpanStart, Int: int64(w.id), Pos: w.t.Pos}
		if s.key != nil {
			st.Exprs = append(st.Exprs, convert(s.key, *w.key))
		}
		st.Exprs = append(st.Exprs, slotValues(w.span, s.vals, w.t.Pos)...)
		if w.span.Muted {
			st.Exprs = append(st.Exprs, s.mute)
		}
		s.body.opens(st)
	}
}
