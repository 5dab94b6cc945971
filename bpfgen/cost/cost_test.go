package cost

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// sized gives each block the size that irtest.Machine counts for it: its values and its terminator.
func sized(f *ir.Func) Func {
	size := make([]int, f.NumBlocks())
	for _, b := range f.Blocks {
		size[b.ID] = len(b.Values) + 1
	}
	return Func{f, size}
}

func parsed(t *testing.T, texts ...string) (funcs []Func) {
	t.Helper()
	for _, text := range texts {
		f, err := ir.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		funcs = append(funcs, sized(f))
	}
	return funcs
}

func noLoops(string) (int64, bool) { return 0, false }

const loopOf10 = `func "f" {
b0:
  v1 = const 0
  jump b1(v1)
b1(v2):
  br ult v2, 10 -> b2, b3
b2:
  v3 = call 5
  v4 = add v2, 1
  jump b1(v4)
b3:
  ret
}
`

// The longest ways, counted by hand.
func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		text []string
		want Cost
	}{
		{"straight", []string{"func \"f\" {\nb0:\n v1 = call 5\n ret v1\n}\n"}, Cost{2, 1}},
		{"the longer way", []string{`func "f" {
b0:
  v1 = call 5
  br eq v1, 0 -> b1, b2
b1:
  v2 = call 6
  v3 = call 7
  ret
b2:
  v4 = const 1
  v5 = const 2
  v6 = const 3
  v7 = add v5, v6
  ret
}
`}, Cost{7, 3}}, // the instructions of b2, the calls of b1
		// b0 2, eleven times b1 1 and b2 3, b3 1
		{"loop", []string{loopOf10}, Cost{2 + 11*4 + 1, 11}},
		{"tested behind its body, step 3", []string{`func "f" {
b0:
  v1 = const 0
  jump b1(v1)
b1(v2):
  v3 = add v2, 3
  br uge v3, 9 -> b2, b1(v3)
b2:
  ret
}
`}, Cost{2 + 4*2 + 1, 0}},
		// inside: eleven times b2 1 and b3 2; around: five times b1 1, that, and b4 2
		{"loop in a loop", []string{`func "f" {
b0:
  v1 = const 0
  jump b1(v1)
b1(v2):
  br uge v2, 4 -> b5, b2(v1)
b2(v3):
  br uge v3, 10 -> b4, b3
b3:
  v4 = add v3, 1
  jump b2(v4)
b4:
  v5 = add v2, 1
  jump b1(v5)
b5:
  ret
}
`}, Cost{2 + 5*(1+11*3+2) + 1, 0}},
		// b0 2, twice b1 2 and b2 3, b3 1
		{"a second try", []string{`func "f" {
b0:
  v1 = const 0
  jump b1(v1)
b1(v2):
  v3 = call 5
  br set v2, 1 -> b3, b2
b2:
  v4 = call 6
  v5 = or v4, 1
  jump b1(v5)
b3:
  ret
}
`}, Cost{2 + 2*(2+3) + 1, 4}},
		// b0 2, eleven times b1 1, b3 1, b4 2 (the longer way), and once more for the number 5; b9 1
		{"something else at 5", []string{`func "f" {
b0:
  v1 = const 0
  jump b1(v1)
b1(v2):
  br eq v2, 5 -> b2, b3
b2:
  v3 = const 6
  jump b1(v3)
b3:
  br uge v2, 9 -> b9, b4
b4:
  v4 = add v2, 1
  jump b1(v4)
b9:
  ret
}
`}, Cost{2 + 11*(1+1+2) + 1, 0}},
		{"subprogram", []string{"func \"f\" {\nb0:\n v1 = ctx\n v2 = call \"sub\" v1\n v3 = call \"sub\" v1\n ret\n}\n",
			"func \"sub\" {\nb0:\n v1 = call 5\n ret\n}\n"}, Cost{4 + 2*2, 2}},
		{"body of bpf_loop", []string{`func "f" {
b0:
  v1 = const 0
  v2 = const 7
  v3 = func "body"
  v4 = call 181 v2, v3, v1, v1
  ret
}
`, "func \"body\" {\nb0:\n v1 = call 5\n ret\n}\n"}, Cost{5 + 7*2, 1 + 7}},
	} {
		rounds := func(name string) (int64, bool) { return 7, name == "body" }
		got, err := Of(parsed(t, tt.text...), rounds)
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

// A loop without a counter that is tested in each round has no bound, and says so.
func TestUnbounded(t *testing.T) {
	for name, text := range map[string]string{
		"no test": "func \"f\" {\nb0:\n jump b1\nb1:\n v1 = call 5\n br eq v1, 0 -> b1, b2\nb2:\n ret\n}\n",
		"the counter shrinks": `func "f" {
b0:
  v1 = const 9
  jump b1(v1)
b1(v2):
  v3 = add v2, -1
  br uge v3, 20 -> b2, b1(v3)
b2:
  ret
}
`,
		"tested on one way only": `func "f" {
b0:
  v1 = const 0
  jump b1(v1)
b1(v2):
  v3 = add v2, 1
  v4 = call 5
  br eq v4, 0 -> b1(v3), b2
b2:
  br uge v3, 20 -> b3, b1(v3)
b3:
  ret
}
`,
	} {
		_, err := Of(parsed(t, text), noLoops)
		if unbounded := (*UnboundedError)(nil); !errors.As(err, &unbounded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing wraps: a hundred million rounds around as many around …
func TestLarge(t *testing.T) {
	if got := (Cost{1 << 40, 3}).times(1 << 40).plus(Cost{5, 5}); got != (Cost{math.MaxInt64, 3<<40 + 5}) {
		t.Errorf("%+v", got)
	}
}

// No random function takes more steps than its cost.
func TestBoundsRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	near := 0
	for seed := range uint64(1000) {
		f := irtest.Random(seed, irtest.Options{Values: 60, Depth: 3, Live: 20})
		bound, err := Of([]Func{sized(f)}, noLoops)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for range 5 {
			input := make([]byte, irtest.Inputs)
			for i := range input {
				input[i] = byte(rng.Uint32())
			}
			m := irtest.NewMachine(input)
			m.MaxSteps = int(bound.Insns)
			if _, err := m.Run(f); err != nil {
				t.Fatalf("seed %d: more than %d steps: %v", seed, bound.Insns, err)
			}
			m = irtest.NewMachine(input)
			if m.MaxSteps = int(bound.Insns / 2); m.MaxSteps > 0 {
				if _, err := m.Run(f); errors.Is(err, irtest.ErrSteps) {
					near++
				}
			}
		}
	}
	if near < 100 {
		t.Errorf("only %d of 5000 runs took more than half of their bound: it says little", near)
	}
}
