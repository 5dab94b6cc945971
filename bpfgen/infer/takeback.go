package infer

import (
	"maps"
	"slices"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// What a walk has learnt is taken back when it comes to nothing: a handler turns out not to run in the kernel, a loop
// is walked to see what its variables become, a function for its value alone.

// A mark is a point in a walk to which it can come back, with all that was known there.
type mark struct {
	learnt learnt
	place  *progPlace
}

// progPlace is a place in a program that is made.
type progPlace struct {
	// body is the walker as it was there.
	body body
	// vars are the variables, and returns is how many values had been returned.
	vars vars
	// stmts is how many statements the current block had.
	stmts, returns int
	// locals and inlines are how many the program had.
	locals, inlines int
	// span is what its span had kept; nil where the program belongs to none.
	span *spanMark
}

// spanMark is what a span kept by then, and the place in the program of its start.
type spanMark struct {
	vals         map[int]*tree.Expr
	asked        map[int]string
	names        []string
	order, turns int
	start        *progPlace
}

// mark is the point where the walk is.
func (b *body) mark() mark {
	b.u.owner = &owner{}
	return mark{b.u.learnt, placeIn(b)}
}

// back goes back to a mark, as if nothing had been walked since. What is only counted goes on: the numbers of names
// (nameTable), and the iterations that are written out, which bound the work.
func (b *body) back(m mark) {
	b.u.learnt = m.learnt
	written := b.written
	m.place.restore(b)
	b.written = written
}

func placeIn(b *body) *progPlace {
	p := &progPlace{body: *b, stmts: len(b.block.Stmts), locals: len(b.prog.Locals), inlines: b.prog.Inlines}
	if b.frame != nil {
		p.vars, p.returns = b.frame.Vars, len(b.frame.returns)
	}
	if st := b.span; st != nil {
		p.span = &spanMark{vals: maps.Clone(st.vals), asked: maps.Clone(st.asked.names),
			names: slices.Clone(st.span.Names), turns: st.turn}
		if st.order != nil {
			p.span.order = len(*st.order)
		}
		if st.start != b {
			p.span.start = placeIn(st.start)
		}
	}
	return p
}

func (p *progPlace) restore(b *body) {
	*b = p.body
	b.block.Stmts = b.block.Stmts[:p.stmts]
	b.prog.Locals, b.prog.Inlines = b.prog.Locals[:p.locals], p.inlines
	if b.frame != nil {
		b.frame.Vars, b.frame.returns = p.vars, b.frame.returns[:p.returns]
	}
	if p.span != nil {
		p.span.restore(b.span)
	}
}

func (p *spanMark) restore(st *spanState) {
	clear(st.vals)
	maps.Copy(st.vals, p.vals)
	clear(st.asked.names)
	maps.Copy(st.asked.names, p.asked)
	st.span.Names = append(st.span.Names[:0], p.names...)
	st.span.Slots = st.span.Slots[:len(p.names)]
	st.turn = p.turns
	if st.order != nil {
		*st.order = (*st.order)[:p.order]
	}
	if p.start != nil {
		p.start.restore(st.start)
	}
}

// tries runs a walk that may come to nothing, and reports the refusal that ended it. Only in such a walk is a refusal
// no mistake.
func (b *body) tries(walk func()) (block *tree.Block, r *refusal.Refusal) {
	b.u.trying++
	defer func() { b.u.trying-- }()
	r = refusal.Attempt(func() { block = b.inBlock(walk) })
	return block, r
}

// attempt runs a part of a walk that goes on behind it, and gives the refusal that ended the part.
func (b *body) attempt(f func()) *refusal.Refusal {
	frame, calls := b.frame, b.calls
	r := refusal.Attempt(f)
	if r != nil {
		b.frame, b.calls = frame, calls
	}
	return r
}

// cont is what is known of a container that a kernel half uses. The caller may change it. If a mark was made since the
// last change it is a copy, so that going back to the mark undoes the change.
func (u *unit) cont(c *plan.Container) *contType {
	t, ok := u.conts.Get(c.ID)
	if !ok {
		t = newContType(c) // refuses a first value that no kernel half can keep
	}
	u.noteUse(c.ID, c.Kind != plan.Table && c.Kind != plan.Cell)
	u.used.Set(c.ID, true)
	switch {
	case !ok:
	case t.owner == u.owner:
		return t
	default:
		again := *t
		again.present = slices.Clone(t.present)
		t = &again
	}
	t.owner = u.owner
	u.conts.Set(c.ID, t)
	return t
}
