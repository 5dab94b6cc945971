package regalloc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

func TestGolden(t *testing.T) {
	irtest.Golden(t, "alloc", func(t *testing.T, f *ir.Func) string {
		before := f.String()
		a, err := Allocate(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(f, a); err != nil {
			t.Error(err)
		}
		if f.String() != before {
			t.Error("the function was changed")
		}
		return a.String()
	})
}

// TestVerifyFindsFaults breaks allocations in every way that a step can be
// wrong; Verify must find most of them. It may miss those where two registers
// happen to hold the same.
func TestVerifyFindsFaults(t *testing.T) {
	broken, found := 0, 0
	for seed := range uint64(10) {
		f := irtest.Random(seed, irtest.Options{Values: 60, Depth: 2, Live: 15, Atomics: true})
		a, err := Allocate(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range a.Order {
			steps := a.Code[b.ID].Steps
			for i := range steps {
				for _, mutate := range mutations {
					old := steps[i]
					if !mutate(&steps[i]) {
						continue
					}
					broken++
					if Verify(f, a) != nil {
						found++
					}
					steps[i] = old
				}
			}
		}
	}
	if broken < 1000 || found < broken*85/100 {
		t.Errorf("found %d of %d faults", found, broken)
	}
}

// mutations break a step; they report whether it is one that they can break.
var mutations = []func(s *Step) bool{
	func(s *Step) bool { // another operand
		for k := range s.Args {
			if s.Kind == Exec && s.Args[k] != NoReg {
				s.Args[k] = (s.Args[k] + 1) % numRegs
				return true
			}
		}
		return false
	},
	func(s *Step) bool { // another source
		if s.Kind != Move && s.Kind != Store {
			return false
		}
		s.Src = (s.Src + 1) % numRegs
		return true
	},
	func(s *Step) bool { // another place in memory
		s.Off -= 8
		return s.Kind == Load || s.Kind == Store
	},
	func(s *Step) bool { // another target
		if s.Dst == NoReg || s.Kind == Exec && s.Value.Op == ir.OpCall {
			return false
		}
		s.Dst = (s.Dst + 1) % numRegs
		return true
	},
}

func TestStackError(t *testing.T) {
	var text strings.Builder
	text.WriteString("func \"big\" {\n  slot s0 440\n  slot s1 64\nb0:\n  v1 = ctx\n  v2 = slot s0 +0\n" +
		"  v3 = call 16 v2\n")
	for i := range 20 {
		fmt.Fprintf(&text, "  v%d = load64 v1 +%d\n", 10+i, 8*i)
	}
	text.WriteString("  v90 = call 5\n  v100 = const 0\n")
	for i := range 20 {
		fmt.Fprintf(&text, "  v%d = add v%d, v%d\n", 101+i, 100+i, 10+i)
	}
	text.WriteString("  ret v120\n}\n")
	f, err := ir.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Allocate(f)
	var full *StackError
	if !errors.As(err, &full) {
		t.Fatalf("error %v, want a StackError", err)
	}
	// s1 is not used; of 20 values and the context four survive in registers.
	if full.Total != 440+8*full.Spills || full.Slots[0] != 440 || full.Slots[1] != 0 || full.Spills < 15 {
		t.Errorf("%+v", full)
	}
}
