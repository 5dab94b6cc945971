package regalloc

import (
	"fmt"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// TestRandom proves allocations of random functions, of little and of great
// register pressure.
func TestRandom(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	for seed := range uint64(n) {
		o := irtest.Options{Values: 5 + int(seed%90), Depth: int(seed % 4), Live: 2 + int(seed%23), Atomics: true}
		if err := verifyRandom(seed, o); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzRandom(f *testing.F) {
	f.Add(uint64(1), uint8(40), uint8(2), uint8(12))
	f.Fuzz(func(t *testing.T, seed uint64, values, depth, live uint8) {
		o := irtest.Options{Values: int(values), Depth: int(depth % 5), Live: 1 + int(live%40), Atomics: true}
		if err := verifyRandom(seed, o); err != nil {
			t.Fatal(err)
		}
	})
}

func verifyRandom(seed uint64, o irtest.Options) error {
	f := irtest.Random(seed, o)
	if err := f.CheckMachine(); err != nil {
		return fmt.Errorf("%w\n%s", err, f)
	}
	a, err := Allocate(f)
	if err != nil {
		return err
	}
	if err := Verify(f, a); err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, f, a)
	}
	return nil
}
