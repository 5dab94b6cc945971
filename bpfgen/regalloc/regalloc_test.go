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

// Before a call no register is filled twice: what was to be saved in one and gave way to something else has gone. A
// circle of moves with such a second one in it can leave no register to break it.
func TestNothingIsSavedTwice(t *testing.T) {
	for seed := range uint64(300) {
		f := irtest.Random(seed, irtest.Options{Values: 5 + int(seed%90), Depth: int(seed % 4), Live: 2 + int(seed%23),
			Atomics: true})
		a, err := Allocate(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range a.Code {
			var filled regs // since the last instruction, and not read
			for _, st := range c.Steps {
				switch {
				case st.Kind == Exec:
					filled = 0
					continue
				case st.Src != NoReg:
					filled &^= bit(st.Src)
				}
				if st.Dst == NoReg {
					continue
				}
				if filled.has(st.Dst) {
					t.Fatalf("seed %d: R%d is filled twice\n%s", seed, st.Dst, a)
				}
				filled |= bit(st.Dst)
			}
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
