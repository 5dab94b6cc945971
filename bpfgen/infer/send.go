package infer

import (
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// sendDefault sends what a probe without a handler prints: what kernel=
// returned, or the usual fields of the event.
func (pr *probe) sendDefault(b *body, ev *event, t *target) {
	pos := pr.p.Pos
	names := []string{"comm", "pid", "probe"}
	switch {
	case ev.value != nil:
		names = append(names, "value")
	case len(ev.over) > 0:
		names = append(names, sortedKeys(ev.over)...)
	default:
		names = append(names, pr.defaultFields(ev)...)
	}
	var ts []types.Type
	s := &tree.Stmt{Op: tree.SSend, Int: int64(len(pr.u.res.Tree.Records)), Pos: pos}
	for _, n := range names {
		e := b.rv(b.sendable(ev.mustField(n, pos), pos), pos)
		s.Exprs = append(s.Exprs, e)
		ts = append(ts, e.Type)
	}
	b.emit(s)
	pr.u.res.Tree.Records = append(pr.u.res.Tree.Records, layout.Record(int(s.Int), pr.p.ID, names, ts))
}

// defaultFields are the fields of the default line that this event has.
func (pr *probe) defaultFields(ev *event) []string {
	var out []string
	if ev.args != nil && len(ev.args.names()) > 0 {
		out = append(out, "args")
	}
	if ev.ret != nil {
		out = append(out, "ret")
	}
	return out
}

// everything is e as a value: all fields that this event has.
func (e *event) everything(pos plan.Pos) val {
	out := val{comp: true, names: []string{}}
	add := func(n string, v val) {
		out.names = append(out.names, n)
		out.elems = append(out.elems, v)
	}
	for _, n := range []string{"time", "probe", "cpu", "comm", "pid", "tid", "uid"} {
		if _, over := e.over[n]; !over {
			add(n, e.mustField(n, pos))
		}
	}
	for _, n := range []string{"ret", "duration", "ip", "usermode"} {
		if v, ok := e.field(n, pos); ok {
			add(n, v)
		}
	}
	for _, n := range sortedKeys(e.over) {
		add(n, e.b.sendable(e.over[n], pos))
	}
	if e.args != nil && len(e.args.names()) > 0 {
		add("args", (&argsObj{e}).everything(pos))
	}
	return out
}

// everything is e.args as a record. What cannot be read is left out.
func (a *argsObj) everything(pos plan.Pos) val {
	out := val{comp: true, names: []string{}}
	for _, n := range a.ev.args.names() {
		var v val
		r := attempt(func() {
			v = a.ev.b.sendable(a.argument(n, pos), pos)
		})
		if r == nil {
			out.names = append(out.names, n)
			out.elems = append(out.elems, v)
		}
	}
	return out
}

// prune drops assignments to variables that nothing reads, so that fields of
// a record that no consumer uses are not read either. It repeats until
// nothing changes: one unused value may be the only use of another.
func prune(prog *tree.Program) {
	for {
		used := map[int64]bool{}
		for _, blk := range blocks(prog) {
			countUses(blk, used)
		}
		changed := false
		for _, blk := range blocks(prog) {
			changed = dropUnused(blk, used) || changed
		}
		if !changed {
			return
		}
	}
}

func blocks(prog *tree.Program) []*tree.Block {
	var out []*tree.Block
	if prog.Body != nil {
		out = append(out, prog.Body)
	}
	for _, v := range prog.Variants {
		out = append(out, v.Body)
	}
	return out
}

func countUses(blk *tree.Block, used map[int64]bool) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		for _, e := range s.Exprs {
			exprUses(e, used)
		}
		countUses(s.Then, used)
		countUses(s.Else, used)
	}
}

func exprUses(e *tree.Expr, used map[int64]bool) {
	if e.Op == tree.OpLocal {
		used[e.Int] = true
	}
	for _, a := range e.Args {
		exprUses(a, used)
	}
	countUses(e.Body, used)
}

// dropUnused removes assignments to unused variables; one whose value has an
// effect keeps it as a statement.
func dropUnused(blk *tree.Block, used map[int64]bool) bool {
	if blk == nil {
		return false
	}
	changed := false
	out := blk.Stmts[:0]
	for _, s := range blk.Stmts {
		for _, e := range s.Exprs {
			changed = dropInExpr(e, used) || changed
		}
		changed = dropUnused(s.Then, used) || changed
		changed = dropUnused(s.Else, used) || changed
		if s.Op == tree.SAssign && !used[s.Int] {
			changed = true
			if !keeps(s.Exprs[0]) {
				continue
			}
			s = &tree.Stmt{Op: tree.SDo, Exprs: s.Exprs, Pos: s.Pos}
		}
		out = append(out, s)
	}
	blk.Stmts = out
	return changed
}

func dropInExpr(e *tree.Expr, used map[int64]bool) bool {
	changed := dropUnused(e.Body, used)
	for _, a := range e.Args {
		changed = dropInExpr(a, used) || changed
	}
	return changed
}

// keeps reports whether e must be evaluated although its value is not used.
// A read of a table has no effect; taking an entry out has.
func keeps(e *tree.Expr) bool {
	switch e.Op {
	case tree.OpTableGet, tree.OpTableHas, tree.OpCellGet:
	default:
		if hasEffect(&tree.Expr{Op: e.Op}) {
			return true
		}
	}
	for _, a := range e.Args {
		if keeps(a) {
			return true
		}
	}
	return false
}
