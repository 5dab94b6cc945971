package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

func (b *builder) block(blk *tree.Block) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		b.stmt(s)
	}
}

func (b *builder) stmt(s *tree.Stmt) {
	defer b.at(s.Pos)()
	switch s.Op {
	case tree.SAssign:
		if !b.deferred(s) {
			b.assign(s.Int, b.expr(s.Exprs[0]))
		}
	case tree.SDo:
		b.expr(s.Exprs[0])
	case tree.SIf:
		b.ifStmt(s)
	case tree.SFor:
		b.forStmt(s)
	case tree.SBreak:
		b.jump(b.loops[len(b.loops)-1].exit)
	case tree.SContinue:
		b.jump(b.loops[len(b.loops)-1].next)
	case tree.SReturn:
		b.returnStmt(s)
	case tree.SStop:
		b.ret()
	case tree.SCall:
		b.callStmt(s)
	case tree.SSend:
		b.send(s)
	case tree.SCount:
		b.countSpan(tree.SiteKind(s.Int))
	case tree.SSpanEnter:
		b.spanEnter(s)
	case tree.SSpanStart:
		b.spanStart(s)
	case tree.SSpanEnd:
		b.spanEnd(s)
	default:
		b.containerStmt(s)
	}
}

func (b *builder) containerStmt(s *tree.Stmt) {
	c := b.container(s.Int)
	switch s.Op {
	case tree.STableSet:
		b.tableSet(c, s.Exprs[0], s.Exprs[1])
	case tree.STableUpdate:
		b.tableUpdate(c, s.Exprs[0], s.Exprs[1], s.Str)
	case tree.STableRemove:
		b.tableRemove(c, s.Exprs[0])
	case tree.SCellSet:
		b.cellSet(c, s.Exprs[0])
	case tree.SCellAdd:
		b.cellAdd(c, s.Exprs[0], s.Str)
	case tree.SAggAdd:
		b.aggAdd(c, s)
	default:
		b.fail("statement %s", s.Op)
	}
}

// assign sets a variable. In a loop a string is copied to memory of the
// variable's own: the place that it was read to is used again in the next
// iteration.
func (b *builder) assign(local int64, v val) {
	v = b.convert(v, b.prog.Locals[local].Type)
	if len(b.loops) > 0 {
		v = b.own(v)
	}
	b.setVar(local, v)
}

// own copies the strings of v that lie in memory.
func (b *builder) own(v val) val {
	switch {
	case v.s != nil && v.s.konst == nil:
		v.s = b.copyStr(v.s, v.t)
	case v.elems != nil:
		elems := make([]val, len(v.elems))
		for i, e := range v.elems {
			elems[i] = b.own(e)
		}
		v.elems = elems
	}
	return v
}

func (b *builder) ifStmt(s *tree.Stmt) {
	then, els := b.f.NewBlock(), b.f.NewBlock()
	b.cond(s.Exprs[0], then, els)
	j := b.newJoin(types.Type{})
	saved := b.save()
	b.begin(then)
	b.block(s.Then)
	b.jump(j)
	b.restore(saved)
	b.begin(els)
	b.block(s.Else)
	b.jump(j)
	b.enter(j)
}

// An inline is an OpInline under construction.
type inline struct{ done *join }

func (b *builder) inlineExpr(e *tree.Expr) val {
	var v val
	if site, ok := b.callees.of(e.Body); ok && b.callable(site) {
		v = b.callSub(site)
	} else {
		v = b.inlined(e.Int, e.Type, e.Body)
	}
	if v.t.Kind == types.Bot {
		return val{t: e.Type}
	}
	return v
}

// inlined builds the body of inline n, whose value is of type t.
func (b *builder) inlined(n int64, t types.Type, body *tree.Block) val {
	in := &inline{b.newJoin(valueType(t))}
	b.inlines[n] = in
	b.block(body)
	b.jumpWith(in.done, b.absent(t, tree.TagNone))
	return b.enter(in.done)
}

// valueType is t for a join that needs a value, Bot for None.
func valueType(t types.Type) types.Type {
	if t.Kind == types.None && !hasTag(t) {
		return types.Type{}
	}
	return t
}

func (b *builder) returnStmt(s *tree.Stmt) {
	var v val
	if len(s.Exprs) > 0 {
		v = b.expr(s.Exprs[0])
	}
	b.leaveInline(s.Int, v)
}

// leaveInline goes on behind inline n with its value v.
func (b *builder) leaveInline(n int64, v val) {
	switch in := b.inlines[n]; {
	case in != nil:
		b.jumpWith(in.done, v)
	case b.round != nil:
		b.returnFromRounds(n, v)
	default:
		b.fail("return from inline %d, which is not open", n)
	}
}

// site counts at a site of the handler and ends the program.
func (b *builder) errorSite(what string) {
	b.countSite(tree.Site{Kind: tree.SiteError, What: what, Probe: b.prog.Probe, Container: -1, Pos: b.pos})
	b.ret()
}

func (b *builder) countSite(s tree.Site) {
	b.Uses[tree.MapSites] = true
	b.cur.AddImm(ir.OpCountSite, b.pos, int64(b.Site(s)))
}

// countSiteBy counts n things at once.
func (b *builder) countSiteBy(s tree.Site, n *ir.Value) {
	b.Uses[tree.MapSites] = true
	b.op(ir.OpAtomicAdd64, b.mapValue(tree.MapSites, 8*int64(b.Site(s))), n)
}
