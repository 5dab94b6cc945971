package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// add() of an aggregation: count, sum, extremes, weight.

// aggAdd is SAggAdd. Count adds the weight; total, mean and stats add value
// times weight to the sum; histograms add the weight to the value's bucket.
func (b aggs) aggAdd(c *tree.Container, s *tree.Stmt) {
	if c.Agg == nil {
		b.fail("container %d is not an aggregation", c.ID)
	}
	a := c.Agg.Member(s.Str)
	if a == nil {
		b.fail("aggregation %d has no member %q", c.ID, s.Str)
	}
	add := aggSample{c: c, t: s.Exprs[0].Type, v: b.number(s.Exprs[0]), weight: b.number(s.Exprs[1])}
	if a.Buckets != nil {
		if s.Exprs[1].Op != tree.OpConst && signed(s.Exprs[1].Type) {
			b.unless(ir.SLT, add.weight, 0, func() { b.errorSite("a weight of less than 0") })
		}
		add.bucket = b.bucket(a.Buckets, add.v, add.t)
	}
	if c.KeyLayout == nil {
		b.addSample(a, b.bank(c, b.MapValue(mapOf(c), 0)), add)
		return
	}
	key := stores(b).fixed(c.KeyLayout, c.Key, s.Exprs[2])
	tables(b).upsert(c, key, c.Agg.ValueSize(), func(p *ir.Value) { b.addSample(a, b.bank(c, p), add) })
	b.release(key)
}

func (b aggs) addSample(a *wire.Agg, p *ir.Value, s aggSample) {
	atomicAdd := func(off int, x *ir.Value) { b.OpImm(ir.OpAtomicAdd64, int64(off), p, x) }
	if a.Count >= 0 {
		atomicAdd(a.Count, s.weight)
	}
	if a.Sum >= 0 {
		x := s.v
		if s.weight.Op != ir.OpConst || s.weight.Imm != 1 {
			x = b.Op(ir.OpMul, s.v, s.weight)
		}
		atomicAdd(a.Sum, x)
	}
	if a.Buckets != nil {
		b.addBucket(a.Buckets, p, s)
	}
	if e, unsigned := a.ExtremesOf(s.t.Unsigned64()); e != wire.NoExtremes {
		b.ifWeighs(s, func() { b.extremes(a, e, unsigned, p, s) })
	}
}

// ifWeighs runs f unless the sample's weight is 0: that is no value.
func (b aggs) ifWeighs(s aggSample, f func()) {
	if s.weight.Op == ir.OpConst {
		if s.weight.Imm != 0 {
			f()
		}
		return
	}
	done := b.newJoin(types.Type{})
	b.unless(ir.EQ, s.weight, 0, func() { b.jump(done) })
	f()
	b.jump(done)
	b.enter(done)
}

// extremes raises the words of e, which are those of values without a sign or of others: see wire.EncodeLowest.
func (b aggs) extremes(a *wire.Agg, e wire.Extremes, unsigned bool, p *ir.Value, s aggSample) {
	lowest, highest := int64(1<<63-1), int64(-1<<63)
	if unsigned {
		lowest, highest = -1, 0
	}
	if e.Lowest >= 0 {
		b.raise(a, p, e.Lowest, b.Op(ir.OpXor, s.v, b.Const(lowest)), s)
	}
	if e.Highest >= 0 {
		b.raise(a, p, e.Highest, b.Op(ir.OpXor, s.v, b.Const(highest)), s)
	}
	if e.Set >= 0 {
		b.Store(8, p, int64(e.Set), b.Const(1))
	}
}

// raise makes the word at off at least w, as unsigned: see wire.EncodeLowest.
func (b aggs) raise(a *wire.Agg, p *ir.Value, off int, w *ir.Value, s aggSample) {
	at := b.Add(p, int64(off))
	if a.Slots > 1 {
		b.raiseClaimed(a, at, w, s)
		return
	}
	b.exchange(s.c, at, func(old *ir.Value, done *join) *ir.Value {
		less := b.NewBlock()
		enough := b.NewBlock()
		b.Branch(ir.UGE, old, w, enough, less)
		b.Begin(enough)
		b.jump(done)
		b.Begin(less)
		return w
	})
}

// raiseClaimed does it without compare-and-exchange: one of several words is
// claimed by an atomic add to the word beside it, which fails if that shows
// another owner; an owner may load and store. Readers take the greatest.
func (b aggs) raiseClaimed(a *wire.Agg, at, w *ir.Value, s aggSample) {
	done := b.newJoin(types.Type{})
	for i := range a.Slots {
		off := int64(16 * i)
		b.OpImm(ir.OpAtomicAdd64, off+8, at, b.Const(1))
		own, next, less, free := b.NewBlock(), b.NewBlock(), b.NewBlock(), b.NewBlock()
		b.BranchImm(ir.EQ, b.Load(8, at, off+8), 1, own, next)
		b.Begin(own)
		b.Branch(ir.UGE, b.Load(8, at, off), w, free, less)
		b.Begin(less)
		b.Store(8, at, off, w)
		b.Jump(free)
		b.Begin(free)
		b.OpImm(ir.OpAtomicAdd64, off+8, at, b.Const(-1))
		b.jump(done)
		b.Begin(next)
		b.OpImm(ir.OpAtomicAdd64, off+8, at, b.Const(-1))
	}
	b.countSite(tree.Site{Kind: tree.SiteContention, Probe: b.prog.Probe, Container: s.c.ID, Pos: b.Pos})
	b.jump(done)
	b.enter(done)
}
