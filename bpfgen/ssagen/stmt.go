package ssagen

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Statements of the tree: assignments, if, return, counts.

// run writes the statements of a block; nil has none.
func (b stmts) run(blk *tree.Block) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		b.stmt(s)
	}
}

// stmt writes a statement.
func (b stmts) stmt(s *tree.Stmt) {
	defer b.at(s.Pos)()
	switch s.Op {
	case tree.SAssign:
		if !(late{b.code}).deferred(s) {
			b.assign(s.Int, b.expr(s.Exprs[0]))
		}
	case tree.SDo:
		b.expr(s.Exprs[0])
	case tree.SIf:
		b.ifStmt(s)
	case tree.SFor:
		loops(b).forStmt(s)
	case tree.SBreak:
		b.jump(b.loops[len(b.loops)-1].exit)
	case tree.SContinue:
		b.jump(b.loops[len(b.loops)-1].next)
	case tree.SReturn:
		b.returnStmt(s)
	case tree.SStop:
		b.ret()
	case tree.SCall:
		subs(b).callStmt(s)
	case tree.SSend:
		sends{b.code}.send(s)
	case tree.SCount:
		b.count(tree.SiteKind(s.Int))
	case tree.SSpanEnter:
		nesting{b.code}.spanEnter(s)
	case tree.SSpanStart:
		span, name := b.span()
		pairingOf(span, b.code).spanStart(s, span, name)
	case tree.SSpanEnd:
		span, name := b.span()
		pairingOf(span, b.code).spanEnd(s, span, name)
	default:
		b.containerStmt(s)
	}
}

// count is SCount: what a program sees of its span is counted for that.
func (b stmts) count(kind tree.SiteKind) {
	if kind == tree.SiteSeen {
		b.countSpan(kind)
	} else {
		b.countHere(kind)
	}
}

// containerStmt writes a statement that changes a container.
func (b stmts) containerStmt(s *tree.Stmt) {
	c := b.container(s.Int)
	switch s.Op {
	case tree.STableSet:
		tables{b.code}.tableSet(c, s.Exprs[0], s.Exprs[1])
	case tree.STableUpdate:
		tables{b.code}.tableUpdate(c, s.Exprs[0], s.Exprs[1], s.Str)
	case tree.STableRemove:
		tables{b.code}.tableRemove(c, s.Exprs[0])
	case tree.SCellSet:
		tables{b.code}.cellSet(c, s.Exprs[0])
	case tree.SCellAdd:
		tables{b.code}.cellAdd(c, s.Exprs[0], s.Str)
	case tree.SAggAdd:
		aggs{b.code}.aggAdd(c, s)
	default:
		b.fail("statement %s", s.Op)
	}
}

// assign sets a variable. In a loop a string is copied to memory of the
// variable's own: the place that it was read to is used again in the next
// iteration.
func (b stmts) assign(local int64, v val) {
	v = b.convert(v, b.prog.Locals[local].Type)
	if len(b.loops) > 0 {
		v = b.own(v)
	}
	b.setVar(local, v)
}

// own copies the strings of v that lie in memory.
func (b stmts) own(v val) val {
	switch {
	case v.s != nil && v.s.konst == nil:
		v.s = copies{b.code}.copyStr(v.s, v.t)
	case v.elems != nil:
		elems := make([]val, len(v.elems))
		for i, e := range v.elems {
			elems[i] = b.own(e)
		}
		v.elems = elems
	}
	return v
}

// ifStmt is SIf. Variables that the two ways set differently become parameters of the block behind it (join.go).
func (b stmts) ifStmt(s *tree.Stmt) {
	then, els := b.NewBlock(), b.NewBlock()
	b.cond(s.Exprs[0], then, els)
	j := b.newJoin(types.Type{})
	saved := b.save()
	b.Begin(then)
	b.block(s.Then)
	b.jump(j)
	b.restore(saved)
	b.Begin(els)
	b.block(s.Else)
	b.jump(j)
	b.enter(j)
}

// returnStmt is SReturn: it leaves the function of the script that it stands in.
func (b stmts) returnStmt(s *tree.Stmt) {
	var v val
	if len(s.Exprs) > 0 {
		v = b.expr(s.Exprs[0])
	}
	b.leaveInline(s.Int, v)
}

// inlineExpr is OpInline: a call of a subprogram, or the body of the function where it is called.
func (b stmts) inlineExpr(e *tree.Expr) val {
	var v val
	if site, ok := b.callees.of(e.Body); ok && (subs(b)).callable(site) {
		v = subs(b).callSub(site)
	} else {
		v = b.inlined(e.Int, e.Type, e.Body)
	}
	if v.t.Kind == types.Bot {
		return val{t: e.Type}
	}
	return v
}
