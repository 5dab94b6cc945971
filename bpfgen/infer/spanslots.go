package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What the end of a call needs of its start, decided when unused values are dropped: the slots get new numbers.
//
// What the end of a call needs of its start is known for sure only when prune has dropped what no consumer uses: the
// function of an event may put more into its record than the handler reads. So the slots of spans of calls are given
// out anew behind that. Of
//
//	def opened(e):
//	    how = e.args.how if hasattr(e.args, "how") else e.args
//	    return record(path = e.args.filename, flags = how.flags)
//
//	probe(event(("syscall:{openat,openat2}", opened)), lambda e: print(e.path))
//
// the start keeps the path alone, and in the same slot for both calls, so that their ends are one code.
//
// Spans of the script, and probes whose items() the script calls, keep what they have: items() shows it.

// slotPart is a start and an end of the same calls.
type slotPart struct{ start, end *tree.Block }

// slotPlan gives out the slots of a span anew.
type slotPlan struct {
	// id is the number of the span.
	id int
	// old are its slots as the walks have given them out, with their names.
	old   []types.Type
	names []string
	// span is the span itself, which gets the new ones.
	span *tree.Span
}

// dropSlots drops the slots that no end reads.
func dropSlots(u *tree.Unit, of *plan.Plan) {
	for id, span := range u.Spans {
		if span.Plan != nil || asksOpen(of, span.Probe) {
			continue
		}
		starts, ends := programsOfSpan(u, id)
		if len(starts) != len(ends) {
			continue
		}
		p := &slotPlan{id: id, old: span.Slots, names: span.Names, span: span}
		span.Slots, span.Names, span.Kept = nil, nil, nil
		parts := slotParts(starts, ends)
		moves := make([]map[int64]int64, len(parts))
		for i, part := range parts {
			moves[i] = p.assign(part)
		}
		p.unname(moves)
		for i, part := range parts {
			p.move(part, moves[i])
		}
		for _, prog := range starts {
			prune(prog)
		}
	}
}

// asksOpen reports whether the script asks which calls of a probe are open.
func asksOpen(of *plan.Plan, probe int) bool {
	return slices.ContainsFunc(of.Probes, func(p *plan.Probe) bool { return p.ID == probe && p.Open })
}

// programsOfSpan are the programs of a span of calls, of which each start has its end at the same index.
func programsOfSpan(u *tree.Unit, span int) (starts, ends []*tree.Program) {
	for _, prog := range u.Programs {
		switch has := spanStmts(prog, span); {
		case has[tree.SSpanStart]:
			starts = append(starts, prog)
		case has[tree.SSpanEnd]:
			ends = append(ends, prog)
		}
	}
	return starts, ends
}

// spanStmts says which statements of a span a program has.
func spanStmts(prog *tree.Program, span int) map[tree.StmtOp]bool {
	has := map[tree.StmtOp]bool{}
	for _, blk := range blocks(prog) {
		tree.WalkBlock(blk, func(s *tree.Stmt) {
			if s.Op == tree.SSpanStart || s.Op == tree.SSpanEnd {
				has[s.Op] = has[s.Op] || s.Int == int64(span)
			}
		}, func(*tree.Expr) {})
	}
	return has
}

// slotParts pairs the programs of a span, and their variants.
func slotParts(starts, ends []*tree.Program) (out []slotPart) {
	for i, start := range starts {
		if start.Body != nil {
			out = append(out, slotPart{start.Body, ends[i].Body})
		}
		for _, v := range start.Variants {
			of := func(other tree.Variant) bool { return slices.Equal(other.Syscalls, v.Syscalls) }
			if k := slices.IndexFunc(ends[i].Variants, of); k >= 0 { // else they never return
				out = append(out, slotPart{v.Body, ends[i].Variants[k].Body})
			}
		}
	}
	return out
}

// assign gives the slots that a part needs their new numbers. Parts share slots of one type.
func (p *slotPlan) assign(part slotPart) map[int64]int64 {
	needs, to := p.needs(part), map[int64]int64{}
	taken := map[int]bool{}
	for old, t := range p.old {
		if !needs[int64(old)] {
			continue
		}
		n := 0
		for n < len(p.span.Slots) && (taken[n] || !p.span.Slots[n].Equal(t)) {
			n++
		}
		if n == len(p.span.Slots) {
			p.span.Slots, p.span.Names = append(p.span.Slots, t), append(p.span.Names, p.names[old])
		} else if p.span.Names[n] != p.names[old] {
			p.span.Names[n] = tree.Unnamed
		}
		taken[n], to[int64(old)] = true, int64(n)
	}
	return to
}

// unname takes the names from slots that only some parts fill: what items() shows holds of each call.
func (p *slotPlan) unname(moves []map[int64]int64) {
	filled := map[int64]int{}
	for _, to := range moves {
		for _, n := range to {
			filled[n]++
		}
	}
	for n := range p.span.Names {
		if filled[int64(n)] < len(moves) {
			p.span.Names[n] = tree.Unnamed
		}
	}
}

// needs are the slots that the end of a part reads, or whose values do more than being there.
func (p *slotPlan) needs(part slotPart) map[int64]bool {
	needs := map[int64]bool{}
	tree.WalkBlock(part.end, func(*tree.Stmt) {}, func(e *tree.Expr) {
		if e.Op == tree.OpSpanSlot {
			needs[e.Int] = true
		}
	})
	p.opening(part, func(s *tree.Stmt) {
		for i, e := range s.Exprs {
			if keeps(e) {
				needs[int64(i)] = true
			}
		}
	})
	return needs
}

// opening calls f with the statements that open an entry.
func (p *slotPlan) opening(part slotPart, f func(*tree.Stmt)) {
	tree.WalkBlock(part.start, func(s *tree.Stmt) {
		if s.Op == tree.SSpanStart && s.Int == int64(p.id) {
			f(s)
		}
	}, func(*tree.Expr) {})
}

// move puts the values of a part into their new slots and reads them there.
func (p *slotPlan) move(part slotPart, to map[int64]int64) {
	p.opening(part, func(s *tree.Stmt) {
		values := make([]*tree.Expr, len(p.span.Slots))
		for old, n := range to {
			values[n] = s.Exprs[old]
		}
		for n, e := range values {
			if e == nil {
				values[n] = p.unread(p.span.Slots[n], s.Pos)
			}
		}
		s.Exprs = values
	})
	moved := map[*tree.Expr]bool{} // several places may have one expression
	tree.WalkBlock(part.end, func(*tree.Stmt) {}, func(e *tree.Expr) {
		if e.Op == tree.OpSpanSlot && !moved[e] {
			moved[e], e.Int = true, to[e.Int]
		}
	})
}

// unread is what a start puts into a slot that its end does not read. A text has 1,024 bytes there and more, so it is
// not cleared as a whole, but for calls that nest: those make their entry anew.
func (p *slotPlan) unread(t types.Type, pos plan.Pos) *tree.Expr {
	if p.span.Nested || t.Kind != types.Str && t.Kind != types.Bytes {
		return zeroOf(t, pos)
	}
	return &tree.Expr{Op: tree.OpUnread, Type: t, Pos: pos}
}
