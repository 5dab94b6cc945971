package ir_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// What a function keeps about its edges is what a new function with the same edges finds, however the edges were
// changed in between.
func TestEdgesChange(t *testing.T) {
	for seed := range uint64(60) {
		f := irtest.Random(seed, irtest.Options{Values: 20 + int(seed*2), Depth: int(seed%5) + 1, Live: 5})
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 8 {
			again, err := ir.Parse(f.String())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := aboutEdges(f), aboutEdges(again); got != want {
				t.Fatalf("seed %d: %s\nwant %s\n%s", seed, got, want, f)
			}
			checkDominators(t, seed, f)
			changeEdge(f, rng)
		}
	}
}

// aboutEdges is what f says about its edges, by the numbers of blocks.
func aboutEdges(f *ir.Func) string {
	order := f.Order()
	out := fmt.Sprint("order ", order)
	for i, list := range f.Preds(order) {
		for _, p := range list {
			out += fmt.Sprintf(" b%d.%d-b%d", p.Block.ID, p.Index, i)
		}
	}
	for _, l := range f.Loops(order) {
		out += fmt.Sprint(" loop ", l.Head, l.Blocks)
	}
	return out + fmt.Sprint(" depth first ", f.Dominators(order).DepthFirst())
}

// changeEdge changes the end of one block: which way is likely, where it leads, or whether it leads on at all.
func changeEdge(f *ir.Func, rng *rand.Rand) {
	b := f.Blocks[rng.IntN(len(f.Blocks))]
	t := &b.Term
	switch {
	case t.Kind != ir.Branch:
		end := f.NewBlock()
		end.Ret(t.Pos, nil)
		b.Jump(t.Pos, end)
	case rng.IntN(3) == 0:
		t.Likely = uint8(1 + rng.IntN(2))
	case rng.IntN(2) == 0:
		t.To[0], t.To[1] = t.To[1], t.To[0]
	default:
		b.Jump(t.Pos, t.To[rng.IntN(2)].Block, t.To[0].Args...)
	}
}
