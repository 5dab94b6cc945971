package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// aggAdd is SAggAdd. Count adds the weight; total, mean and stats add value
// times weight to the sum; histograms add the weight to the value's bucket.
func (b *builder) aggAdd(c *tree.Container, s *tree.Stmt) {
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
		b.addSample(a, b.half(c, b.mapValue(mapOf(c), 0)), add)
		return
	}
	key := b.fixed(c.KeyLayout, c.Key, s.Exprs[2])
	b.upsert(c, key, c.Agg.ValueSize(), func(p *ir.Value) { b.addSample(a, b.half(c, p), add) })
	b.release(key)
}

// An aggSample is what is added.
type aggSample struct {
	c         *tree.Container
	t         types.Type
	v, weight *ir.Value
	bucket    *ir.Value // its number, for histograms
}

func (b *builder) addSample(a *wire.Agg, p *ir.Value, s aggSample) {
	atomicAdd := func(off int, x *ir.Value) { b.cur.AddImm(ir.OpAtomicAdd64, b.pos, int64(off), p, x) }
	if a.Count >= 0 {
		atomicAdd(a.Count, s.weight)
	}
	if a.Sum >= 0 {
		x := s.v
		if s.weight.Op != ir.OpConst || s.weight.Imm != 1 {
			x = b.op(ir.OpMul, s.v, s.weight)
		}
		atomicAdd(a.Sum, x)
	}
	if a.Buckets != nil {
		b.addBucket(a.Buckets, p, s)
	}
	if a.Lowest >= 0 || a.Highest >= 0 || a.Set >= 0 {
		b.ifWeighs(s, func() { b.extremes(a, p, s) })
	}
}

// ifWeighs runs f unless the sample's weight is 0: that is no value.
func (b *builder) ifWeighs(s aggSample, f func()) {
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

func (b *builder) extremes(a *wire.Agg, p *ir.Value, s aggSample) {
	if a.Lowest >= 0 {
		b.raise(a, p, a.Lowest, b.op(ir.OpXor, s.v, b.konst(1<<63-1)), s)
	}
	if a.Highest >= 0 {
		b.raise(a, p, a.Highest, b.op(ir.OpXor, s.v, b.konst(-1<<63)), s)
	}
	if a.Set >= 0 {
		b.store(8, p, int64(a.Set), b.konst(1))
	}
}

// raise makes the word at off at least w, as unsigned: see wire.EncodeLowest.
func (b *builder) raise(a *wire.Agg, p *ir.Value, off int, w *ir.Value, s aggSample) {
	at := b.add(p, int64(off))
	if a.Slots > 1 {
		b.raiseClaimed(a, at, w, s)
		return
	}
	b.exchange(s.c, at, func(old *ir.Value, done *join) *ir.Value {
		less := b.f.NewBlock()
		enough := b.f.NewBlock()
		b.branch(ir.UGE, old, w, enough, less)
		b.begin(enough)
		b.jump(done)
		b.begin(less)
		return w
	})
}

// raiseClaimed does it without compare-and-exchange: one of several words is
// claimed by an atomic add to the word beside it, which fails if that shows
// another owner; an owner may load and store. Readers take the greatest.
func (b *builder) raiseClaimed(a *wire.Agg, at, w *ir.Value, s aggSample) {
	done := b.newJoin(types.Type{})
	for i := range a.Slots {
		off := int64(16 * i)
		b.cur.AddImm(ir.OpAtomicAdd64, b.pos, off+8, at, b.konst(1))
		own, next, less, free := b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock()
		b.branchImm(ir.EQ, b.load(8, at, off+8), 1, own, next)
		b.begin(own)
		b.branch(ir.UGE, b.load(8, at, off), w, free, less)
		b.begin(less)
		b.store(8, at, off, w)
		b.cur.Jump(b.pos, free)
		b.begin(free)
		b.cur.AddImm(ir.OpAtomicAdd64, b.pos, off+8, at, b.konst(-1))
		b.jump(done)
		b.begin(next)
		b.cur.AddImm(ir.OpAtomicAdd64, b.pos, off+8, at, b.konst(-1))
	}
	b.countSite(tree.Site{Kind: tree.SiteContention, Probe: b.prog.Probe, Container: s.c.ID, Pos: b.pos})
	b.jump(done)
	b.enter(done)
}
