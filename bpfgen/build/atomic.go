package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// update64 applies op to the word at p, atomically. Before 5.12 the kernel
// has atomic addition only: there | & ^ * are a load and a store, and may
// lose an update of another context (docs/semantics.md).
func (b *builder) update64(c *tree.Container, p, x *ir.Value, op string) {
	combine := map[string]ir.Op{"*": ir.OpMul, "|": ir.OpOr, "&": ir.OpAnd, "^": ir.OpXor}
	switch op {
	case "+":
		b.op(ir.OpAtomicAdd64, p, x)
	case "-":
		b.op(ir.OpAtomicAdd64, p, b.op(ir.OpNeg, x))
	case "*", "|", "&", "^":
		if b.NoCmpXchg {
			b.store(8, p, 0, b.op(combine[op], b.load(8, p, 0), x))
			return
		}
		b.exchange(c, p, func(old *ir.Value, _ *join) *ir.Value { return b.op(combine[op], old, x) })
	default:
		b.fail("operator %s=", op)
	}
}

// exchangeTries bounds the loop of exchange; it was never seen to give up.
const exchangeTries = 8

// exchange replaces the word at p by f of it, unless f goes to the join it is
// given. Kernel 5.12.
func (b *builder) exchange(c *tree.Container, p *ir.Value, f func(old *ir.Value, done *join) *ir.Value) {
	done := b.newJoin(types.Type{})
	b.rounds(exchangeTries, func(*ir.Value) {
		old := b.load(8, p, 0)
		next := f(old, done)
		seen := b.op(ir.OpCmpXchg64, p, old, next)
		won, again := b.f.NewBlock(), b.f.NewBlock()
		from := b.cur
		b.branch(ir.EQ, seen, old, won, again)
		b.likely(1, from)
		b.begin(won)
		b.jump(done)
		b.begin(again)
	})
	b.countSite(tree.Site{Kind: tree.SiteContention, Probe: b.prog.Probe, Container: c.ID, Pos: b.pos})
	b.jump(done)
	b.enter(done)
}
