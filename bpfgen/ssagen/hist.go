package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// The bucket of a value in hist(), lhist() and quantiles(), and its count.

// bucket is the number of the bucket of v: wire.Buckets.Index in the kernel.
func (b aggs) bucket(h *wire.Buckets, v *ir.Value, t types.Type) *ir.Value {
	unsigned := t.Kind == types.Int && !t.Signed || t.Kind == types.Bool || t.Kind == types.Ptr
	if h.Unit > 1 {
		op := ir.OpFloorDiv
		if unsigned {
			op = ir.OpUDiv
		}
		v = b.Op(op, v, b.Const(h.Unit))
	}
	if h.Linear {
		return b.linear(h, v, t.Unsigned64())
	}
	if unsigned {
		return b.Add(b.logBucket(h, v), 1)
	}
	j := b.newJoin(types.U64)
	b.unless(ir.SLT, v, 0, func() { b.jumpWith(j, intVal(types.U64, b.Const(0))) })
	b.jumpWith(j, intVal(types.U64, b.Add(b.logBucket(h, v), 1)))
	return b.enter(j).x
}

// logBucket is shift<<Sub + v>>shift, where shift is the bit length of v less
// Sub+1, or 0. For Sub 0 that is just the bit length.
func (b aggs) logBucket(h *wire.Buckets, v *ir.Value) *ir.Value {
	if h.Sub == 0 {
		return b.Op(ir.OpLog2, v)
	}
	// With one of the low bits set the bit length is at least Sub+1, so that
	// the subtraction does not fall below 0.
	n := b.Op(ir.OpLog2, b.Imm(ir.OpOr, v, 1<<h.Sub))
	shift := b.Add(n, -int64(h.Sub)-1)
	return b.Op(ir.OpAdd, b.Imm(ir.OpShl, shift, int64(h.Sub)), b.Op(ir.OpLShr, v, shift))
}

func (b aggs) linear(h *wire.Buckets, v *ir.Value, unsigned bool) *ir.Value {
	lt, ge := ir.SLT, ir.SGE
	if unsigned { // Lo and Hi are compared as unsigned: below 0 there is nothing
		lt, ge = ir.ULT, ir.UGE
	}
	j := b.newJoin(types.U64)
	if !unsigned || h.Lo > 0 {
		b.edge(lt, v, h.Lo, j, 0)
	}
	if !unsigned || h.Hi > 0 {
		b.edge(ge, v, h.Hi, j, int64(h.N-1))
	} else {
		b.jumpWith(j, intVal(types.U64, b.Const(int64(h.N-1))))
	}
	d := b.Op(ir.OpSub, v, b.Const(h.Lo))
	if h.Step > 1 {
		d = b.Op(ir.OpUDiv, d, b.Const(h.Step))
	}
	b.jumpWith(j, intVal(types.U64, b.Add(d, 1)))
	return b.enter(j).x
}

// edge goes to j with bucket n where c holds.
func (b aggs) edge(c ir.Cond, v *ir.Value, limit int64, j *join, n int64) {
	out, on := b.NewBlock(), b.NewBlock()
	b.BranchImm(c, v, limit, out, on)
	b.Begin(out)
	b.jumpWith(j, intVal(types.U64, b.Const(n)))
	b.Begin(on)
}

// addBucket adds the weight to the sample's bucket. The verifier does not see
// that the number is within bounds; the test shows it.
func (b aggs) addBucket(h *wire.Buckets, p *ir.Value, s aggSample) {
	done := b.newJoin(types.Type{})
	b.unless(ir.UGE, s.bucket, int64(h.N), func() { b.jump(done) })
	at := b.Op(ir.OpAdd, p, b.Imm(ir.OpShl, s.bucket, 3))
	b.OpImm(ir.OpAtomicAdd64, int64(h.Off), at, s.weight)
	b.jump(done)
	b.enter(done)
}
