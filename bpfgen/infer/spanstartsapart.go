package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Spans with several start points of which the end makes different things: a branch for each of them.
//
// Where the start points of a span differ in what its end makes of them, the
// entry keeps which of them it was, and the end's program has a branch for each.

// maxApart bounds the branches of such a program.
const maxApart = 64

// differ notes that the start points have to be kept apart, in the next round.
func (w *spanWalk) differ() {
	u, use := w.pr.u, spanUse{w.of.Plan, w.pr.p.ID}
	if u.apart.At(use) {
		return
	}
	if len(w.starts) > maxApart {
		wrong(w.t.Pos, "this span has %d start points, and what is asked of e.start differs between them: "+
			"that takes at most %d; use fewer, or ask for what they have alike", len(w.starts), maxApart)
	}
	u.apart.Set(use, true)
	u.changed = true
}

// keepApart makes the slot for the number of the start point, if an earlier
// round found that it is needed.
func (w *spanWalk) keepApart() {
	if w.apart = w.pr.u.apart.At(spanUse{w.of.Plan, w.pr.p.ID}); w.apart {
		number(w.span)
	}
}

// numbered are the slots that the next start point fills from the beginning.
func (w *spanWalk) numbered(pos plan.Pos) map[int]*tree.Expr {
	if !w.apart {
		return map[int]*tree.Expr{}
	}
	return map[int]*tree.Expr{0: convert(intExpr(int64(len(w.starts)), pos), types.U32)}
}

// endApart walks an end point with a branch for each start point.
func (w *spanWalk) endApart(b *body, t *points.Target) {
	ev := w.taken(b, t)
	if ev == nil {
		return
	}
	which := &tree.Expr{Op: tree.OpSpanSlot, Type: types.U32, Pos: w.t.Pos}
	for k, s := range w.starts {
		branch := b.inBlock(func() {
			b.span = &spanState{span: w.span, start: s.body, end: b, vals: s.vals, asked: s.asked}
			w.pr.consume(b, w.endOf(b, ev, t, s), w.t)
		})
		this := operation(tree.OpEq, types.Boolean, which, intExpr(int64(k), w.t.Pos), w.t.Pos)
		b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{this}, Then: branch, Pos: w.t.Pos})
	}
}

// A repetition is what the walk of an end came to for one start point.
type repetition struct {
	// pr is the probe, and body the program of the end.
	pr   *probe
	body *body
	// since is how many sends each version of the handler had before.
	since []int
	// records is how many records the unit had before.
	records int
	// sends are those that this walk has added, set by end.
	sends []*send
	// sent are the records that it has added, set by end.
	sent []*wire.Record
	// turns is how many slots of the start it has asked for.
	turns int
}

func (w *spanWalk) repetition(b *body) *repetition {
	return &repetition{pr: w.pr, body: b, since: w.pr.handler.sent(), records: len(w.pr.u.res.Tree.Records)}
}

// end notes what has been sent, and how much of the start, and takes it back:
// the next repetition then gives its records the same numbers.
func (r *repetition) end(st *spanState) {
	for i, p := range r.pr.handler.halves {
		since := 0
		if i < len(r.since) {
			since = r.since[i]
		}
		r.sends = append(r.sends, p.sends[since:]...)
		p.sends = slices.Clip(p.sends[:since])
	}
	records := &r.pr.u.res.Tree.Records
	r.sent = slices.Clone((*records)[r.records:])
	*records = (*records)[:r.records]
	r.turns = len(*st.order)
	if !st.first {
		r.turns = st.turn
	}
}

// stay makes this repetition the one whose program stays.
func (r *repetition) stay() {
	for _, s := range r.sends {
		s.proj.sends = append(s.proj.sends, s)
	}
	records := &r.pr.u.res.Tree.Records
	*records = append(*records, r.sent...)
}

// same reports whether both came to the same program.
func (r *repetition) same(o *repetition) bool {
	if r.turns != o.turns || len(r.sends) != len(o.sends) || r.text() != o.text() {
		return false
	}
	for i, s := range r.sends {
		if s.proj != o.sends[i].proj || len(s.values) != len(o.sends[i].values) {
			return false
		}
		for slot, v := range s.values {
			other, ok := o.sends[i].values[slot]
			if !ok || !same(v, other) {
				return false
			}
		}
	}
	return true
}

func (r *repetition) text() string {
	p := r.body.prog
	return (&tree.Program{Locals: p.Locals, Inlines: p.Inlines, Body: p.Body}).String()
}
