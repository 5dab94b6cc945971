package opt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

func TestPassOrder(t *testing.T) {
	all := slices.Concat(passes, memoryPasses, lastPasses)
	first, last := map[string]int{}, map[string]int{}
	for i, p := range all {
		if _, ok := first[p.name]; !ok {
			first[p.name] = i
		}
		last[p.name] = i
	}
	for _, o := range passOrder {
		if o.reason == "" {
			t.Errorf("%s before %s: no reason", o.before, o.after)
		}
		b, ok1 := first[o.before]
		a, ok2 := last[o.after]
		if !ok1 || !ok2 || b >= a {
			t.Errorf("%s must run before %s: %s", o.before, o.after, o.reason)
		}
	}
}

// A pass that says that it has changed nothing has changed nothing: it is not run again, and neither are others. Blocks
// that nothing reaches count.
func TestUnchanged(t *testing.T) {
	n := uint64(600)
	if testing.Short() {
		n = 100
	}
	for seed := range n {
		f := irtest.Random(seed, irtest.Options{Values: 5 + int(seed%80), Depth: int(seed % 5), Live: 2 + int(seed%17),
			Atomics: true, Macros: seed%2 == 0})
		for range 3 {
			for _, p := range slices.Concat(passes, memoryPasses, lastPasses) {
				before := f.String()
				if !p.run(f) && f.String() != before {
					t.Fatalf("seed %d: %s has changed what it does not say\n%s\nbecame\n%s", seed, p.name, before, f)
				}
			}
		}
	}
}

// TestRandom executes random functions before and after each pass.
func TestRandom(t *testing.T) {
	n := uint64(1500)
	if testing.Short() {
		n = 150
	}
	for seed := range n {
		o := irtest.Options{Values: 5 + int(seed%80), Depth: int(seed % 5), Live: 2 + int(seed%17), Atomics: true,
			Macros: seed%2 == 0}
		if err := sameAfterPasses(seed, o); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzRandom(f *testing.F) {
	f.Add(uint64(1), uint8(40), uint8(2), uint8(12))
	f.Fuzz(func(t *testing.T, seed uint64, values, depth, live uint8) {
		o := irtest.Options{Values: int(values), Depth: int(depth % 5), Live: 1 + int(live%40), Atomics: true,
			Macros: true}
		if err := sameAfterPasses(seed, o); err != nil {
			t.Fatal(err)
		}
	})
}

// sameAfterPasses checks and executes a random function behind every pass.
func sameAfterPasses(seed uint64, o irtest.Options) error {
	return sameBehindPasses(irtest.Random(seed, o), seed)
}

func sameBehindPasses(f *ir.Func, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 3))
	in := make([]byte, irtest.Inputs)
	for i := range in {
		in[i] = byte(rng.IntN(256) * rng.IntN(2))
	}
	want, wantM, err := execute(f, in)
	if err != nil {
		return err
	}
	before := f.String()
	return RunWatched(f, func(name string) error {
		if err := f.Check(); err != nil {
			return fmt.Errorf("after %s: %w\n%s\nbecame\n%s", name, err, before, f)
		}
		got, gotM, err := execute(f, in)
		if err != nil || got != want || !bytes.Equal(gotM.Ctx, wantM.Ctx) ||
			!bytes.Equal(gotM.Maps["m"], wantM.Maps["m"]) {
			return fmt.Errorf("after %s: result %#x, want %#x, error %v\n%s\nbecame\n%s", name, got, want, err, before,
				f)
		}
		before = f.String()
		return nil
	})
}

func execute(f *ir.Func, in []byte) (int64, *irtest.Machine, error) {
	m := irtest.NewMachine(in)
	r, err := m.Run(f)
	return r, m, err
}
