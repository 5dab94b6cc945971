package opt

import (
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// TestRandomReads executes functions that are made of reads before and behind
// a filter, before and after each pass.
func TestRandomReads(t *testing.T) {
	merged, sunk := 0, 0
	n := uint64(500)
	if testing.Short() {
		n = 100
	}
	for seed := range n {
		f := randomReads(seed)
		if sinkReads(f) {
			sunk++
		}
		if mergeReads(f) {
			merged++
		}
		if err := sameBehindPasses(randomReads(seed), seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if least := int(n / 5); merged < least || sunk < least {
		t.Errorf("of %d functions reads were merged in %d and sunk in %d: the test tries too little", n, merged, sunk)
	}
}

// randomReads reads the context by the helper that reads the kernel's memory.
func randomReads(seed uint64) *ir.Func {
	rng := rand.New(rand.NewPCG(seed, 11))
	f := ir.NewFunc("reads")
	slots := []*ir.Slot{f.NewSlot(8), f.NewSlot(8)}
	b, pos := f.Blocks[0], ir.Pos{}
	ctx := b.Add(ir.OpCtx, pos)
	var vals []*ir.Value
	read := func() {
		size := int64(1) << rng.IntN(4)
		off := rng.Int64N(48/size) * size
		s := slots[rng.IntN(2)]
		at := func() *ir.Value {
			v := b.AddImm(ir.OpSlot, pos, 0)
			v.Slot = s
			return v
		}
		status := b.AddImm(ir.OpCall, pos, irtest.HelperProbeReadKernel, at(), b.Const(pos, size),
			b.AddImm(ir.OpAdd, pos, off, ctx))
		load := map[int64]ir.Op{1: ir.OpLoad8, 2: ir.OpLoad16, 4: ir.OpLoad32, 8: ir.OpLoad64}[size]
		vals = append(vals, b.AddImm(load, pos, 0, at()))
		if rng.IntN(3) == 0 {
			vals = append(vals, status)
		}
	}
	sum := func() {
		x := b.Const(pos, 1)
		for range 1 + rng.IntN(4) {
			x = b.Add(ir.OpAdd, pos, b.AddImm(ir.OpMul, pos, 31, x), vals[rng.IntN(len(vals))])
		}
		vals = append(vals, x)
	}
	for range 1 + rng.IntN(4) {
		read()
	}
	then, els := f.NewBlock(), f.NewBlock()
	filter := b.AddImm(ir.OpLoad8, pos, int64(rng.IntN(48)), ctx)
	if rng.IntN(3) == 0 {
		filter = vals[rng.IntN(len(vals))]
	}
	b.BranchImm(pos, ir.UGT, filter, 20, ir.Edge{Block: then}, ir.Edge{Block: els})
	before := len(vals)
	for _, b = range []*ir.Block{then, els} {
		vals = vals[:before:before]
		for range rng.IntN(3) {
			read()
		}
		sum()
		b.Ret(pos, vals[len(vals)-1])
	}
	return f
}
