package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Words that are changed atomically, also by loops of compare and exchange.

// update64 applies op to the word at p, atomically. Before 5.12 the kernel
// has atomic addition only: there | & ^ * are a load and a store, and may
// lose an update of another context (docs/semantics.md).
func (b aggs) update64(c *tree.Container, p, x *ir.Value, op string) {
	combine := map[string]ir.Op{"*": ir.OpMul, "|": ir.OpOr, "&": ir.OpAnd, "^": ir.OpXor}
	switch op {
	case "+":
		b.Op(ir.OpAtomicAdd64, p, x)
	case "-":
		b.Op(ir.OpAtomicAdd64, p, b.Op(ir.OpNeg, x))
	case "*", "|", "&", "^":
		if b.NoCmpXchg {
			b.Store(8, p, 0, b.Op(combine[op], b.Load(8, p, 0), x))
			return
		}
		b.exchange(c, p, func(old *ir.Value, _ *join) *ir.Value { return b.Op(combine[op], old, x) })
	default:
		b.fail("operator %s=", op)
	}
}

// exchangeTries bounds the loop of exchange; it was never seen to give up.
const exchangeTries = 8

// exchange replaces the word at p by what f makes of it, by a loop of compare-and-exchange. f can leave the word as it
// is: it then jumps to the join that it is given. From kernel 5.12.
func (b aggs) exchange(c *tree.Container, p *ir.Value, f func(old *ir.Value, done *join) *ir.Value) {
	done := b.newJoin(types.Type{})
	b.rounds(exchangeTries, func(*ir.Value) {
		old := b.Load(8, p, 0)
		next := f(old, done)
		seen := b.Op(ir.OpCmpXchg64, p, old, next)
		won, again := b.NewBlock(), b.NewBlock()
		from := b.Cur
		b.Branch(ir.EQ, seen, old, won, again)
		b.Likely(1, from)
		b.Begin(won)
		b.jump(done)
		b.Begin(again)
	})
	b.countSite(tree.Site{Kind: tree.SiteContention, Probe: b.prog.Probe, Container: c.ID, Pos: b.Pos})
	b.jump(done)
	b.enter(done)
}
