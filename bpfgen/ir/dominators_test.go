package ir_test

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// Dominators of random functions are those of the definition: without a block, what it dominates cannot be reached.
func TestDominators(t *testing.T) {
	for seed := range uint64(60) {
		f := irtest.Random(seed, irtest.Options{Values: 10 + int(seed*3), Depth: int(seed%6) + 1, Live: 5,
			Macros: true})
		checkDominators(t, seed, f)
	}
}

func checkDominators(t *testing.T, seed uint64, f *ir.Func) {
	t.Helper()
	order := f.Order()
	dom := f.Dominators(order)
	for _, a := range order {
		without := reachedWithout(f, a)
		for _, b := range order {
			if got, want := dom.Dominates(a, b), a == b || !without[b.ID]; got != want {
				t.Fatalf("seed %d: b%d dominates b%d: %v, want %v\n%s", seed, a.ID, b.ID, got, want, f)
			}
		}
	}
	for _, a := range order {
		for _, b := range order {
			m := dom.Meet(a, b)
			if !dom.Dominates(m, a) || !dom.Dominates(m, b) {
				t.Fatalf("seed %d: b%d does not dominate b%d and b%d", seed, m.ID, a.ID, b.ID)
			}
			for _, c := range order {
				if dom.Dominates(c, a) && dom.Dominates(c, b) && !dom.Dominates(c, m) {
					t.Fatalf("seed %d: b%d is nearer to b%d and b%d than b%d", seed, c.ID, a.ID, b.ID, m.ID)
				}
			}
		}
	}
}

// reachedWithout tells which blocks can be reached without passing a.
func reachedWithout(f *ir.Func, a *ir.Block) []bool {
	seen := make([]bool, f.NumBlocks())
	work := []*ir.Block{f.Blocks[0]}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == a || seen[b.ID] {
			continue
		}
		seen[b.ID] = true
		for _, e := range b.Term.To {
			work = append(work, e.Block)
		}
	}
	return seen
}
