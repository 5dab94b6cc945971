package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What the end of a span gets from its start: a slot of the entry for each value.

// bring makes a value of the start a slot of the span.
func (st *spanState) bring(b *body, v val) val {
	if v.comp {
		return v.eachPart(b.here)
	}
	if v.expr == nil {
		v.start = nil
		return v
	}
	retry := st.retry && v.expr.Op == tree.OpStr && v.expr.Str != tree.Kernel && v.expr.Type.MayFault
	kept := v.expr
	if retry && kept.Edge { // that no NUL follows is known at the end only, where the next page is in memory
		e := *kept
		e.Edge, kept = false, &e
	}
	var i int
	switch {
	case st.order == nil:
		i = st.slot(kept, v.field)
	case st.first:
		i = st.slot(kept, v.field)
		*st.order = append(*st.order, i)
	default:
		i = st.again(kept, v.field)
	}
	slot := &tree.Expr{Op: tree.OpSpanSlot, Type: st.span.Slots[i], Int: int64(i), Pos: v.expr.Pos}
	if st.image != nil {
		if e := st.image.read(b, st, v, slot); e != nil {
			return exprVal(e)
		}
	}
	if retry {
		slot = st.readAgain(b, v, slot)
	}
	return exprVal(slot)
}

// readAgain is a string that is read at the end if the start could not read
// it: programs may not wait for a page that is not in memory, but the call
// itself has read the string since.
func (st *spanState) readAgain(b *body, v val, slot *tree.Expr) *tree.Expr {
	e := *v.expr
	e.Args = make([]*tree.Expr, len(v.expr.Args))
	for i, a := range v.expr.Args {
		if a.Op != tree.OpConst {
			a = st.bring(b, val{expr: a, start: v.start}).expr
		}
		e.Args[i] = a
	}
	fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{slot}, Pos: e.Pos}
	return &tree.Expr{Op: tree.OpCond, Type: e.Type, Args: []*tree.Expr{fault, &e, slot}, Pos: e.Pos}
}

// slot finds or makes the slot that keeps e, which the script calls field.
func (st *spanState) slot(e *tree.Expr, field string) int {
	name := slotName(e, field)
	for i := range st.span.Slots {
		number := i == 0 && st.span.Numbered // which changes until the end of the walk
		if have, ok := st.vals[i]; ok && !number && sameExpr(have, e) {
			st.asked.note(i, name)
			return i
		}
	}
	for i, t := range st.span.Slots {
		if _, taken := st.vals[i]; !taken && t.Equal(e.Type) && st.shares(i, name) {
			st.vals[i] = e
			st.asked.note(i, name)
			return i
		}
	}
	st.span.Slots = append(st.span.Slots, e.Type)
	st.span.Names = append(st.span.Names, name)
	i := len(st.span.Slots) - 1
	st.vals[i] = e
	st.asked.note(i, name)
	return i
}

// shares reports whether another call's value can have slot i too, which in
// spans of the script has one name.
func (st *spanState) shares(i int, name string) bool {
	if st.span.Names[i] == name {
		return true
	}
	if st.span.Plan == nil {
		st.span.Names[i] = tree.Unnamed
	}
	return st.span.Plan == nil
}

// close emits the statement that opens the entry, at the end of the start.
func (st *spanState) close(pos plan.Pos) {
	s := &tree.Stmt{Op: tree.SSpanStart, Int: int64(st.start.prog.Attach.Span), Pos: pos}
	st.number(pos)
	s.Exprs = slotValues(st.span, st.vals, pos)
	st.start.opens(s)
}

// again is the slot that another start point's walk asked for at this turn.
func (st *spanState) again(e *tree.Expr, field string) int {
	if st.turn >= len(*st.order) {
		st.differ()
		return st.slot(e, field)
	}
	i := (*st.order)[st.turn]
	st.turn++
	have, ok := st.vals[i]
	if !st.span.Slots[i].Equal(e.Type) || ok && !sameExpr(have, e) {
		st.differ()
		return st.slot(e, field)
	}
	st.vals[i] = e
	st.asked.note(i, slotName(e, field))
	return i
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

func slotName(e *tree.Expr, field string) string {
	if field != "" && !strings.HasSuffix(field, "]") { // an element has no name
		return field
	}
	if _, own := builtinFields[e.Str]; own && e.Op == tree.OpBuiltin {
		return e.Str
	}
	return tree.Unnamed
}
