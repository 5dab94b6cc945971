package build

import "github.com/startrace/startrace/bpfgen/tree"

// A string that is read into a variable and then used once is read where it
// is used: straight into the key or record, which saves the copy. What an
// event refers to is the same at both places, so a handler cannot tell.

// locals counts assignments and uses of variables.
type locals struct{ assigned, used map[int64]int }

func countLocals(p *tree.Program) locals {
	l := localsOf(p.Body)
	for _, v := range p.Variants {
		l.block(v.Body)
	}
	return l
}

func localsOf(blk *tree.Block) locals {
	l := locals{map[int64]int{}, map[int64]int{}}
	l.block(blk)
	return l
}

func (l locals) block(blk *tree.Block) {
	tree.WalkBlock(blk, func(s *tree.Stmt) {
		if s.Op == tree.SAssign || s.Op == tree.SFor {
			l.assigned[s.Int]++
		}
	}, func(e *tree.Expr) {
		if e.Op == tree.OpLocal {
			l.used[e.Int]++
		}
	})
}

// deferred notes the assignment of a string to be made where it is used, if
// that is possible: outside of loops, in which variables change.
func (b *builder) deferred(s *tree.Stmt) bool {
	e := s.Exprs[0]
	if b.locals.assigned[s.Int] != 1 || b.locals.used[s.Int] != 1 || len(b.loops) > 0 {
		return false
	}
	text := e.Op == tree.OpStr || e.Op == tree.OpMem || e.Op == tree.OpBuiltin && e.Str == "comm"
	if !text || !e.Type.Equal(b.prog.Locals[s.Int].Type) || !b.stable(e) {
		return false
	}
	b.lazy[s.Int] = e
	return true
}

// stable reports whether e gives the same later: it uses no variable that is
// assigned more than once, and no state.
func (b *builder) stable(e *tree.Expr) bool {
	ok := true
	tree.WalkExpr(e, func(*tree.Stmt) { ok = false }, func(x *tree.Expr) {
		switch x.Op {
		case tree.OpTableGet, tree.OpTableIndex, tree.OpTablePop, tree.OpTableHas, tree.OpCellGet, tree.OpInline,
			tree.OpSignal:
			ok = false
		case tree.OpLocal:
			ok = ok && b.locals.assigned[x.Int] == 1
		}
	})
	return ok
}

// behind gives the deferred expression that a variable stands for, else e.
func (b *builder) behind(e *tree.Expr) *tree.Expr {
	if e.Op == tree.OpLocal {
		if x, ok := b.lazy[e.Int]; ok {
			return x
		}
	}
	return e
}
