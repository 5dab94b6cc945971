package opt

import (
	"slices"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

// TestGolden runs each pass alone on the functions in testdata.
func TestGolden(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range slices.Concat(passes, memoryPasses, lastPasses) {
		if seen[p.name] {
			continue
		}
		seen[p.name] = true
		t.Run(p.name, func(t *testing.T) {
			irtest.Golden(t, p.name, func(t *testing.T, f *ir.Func) string {
				before := f.String()
				changed := p.run(f)
				if err := f.Check(); err != nil {
					t.Errorf("%v\n%s", err, f)
				}
				if after := f.String(); changed != (after != before) {
					t.Errorf("reports %v, but became:\n%s", changed, after)
				}
				return f.String()
			})
		})
	}
}

// TestRun runs all passes.
func TestRun(t *testing.T) {
	irtest.Golden(t, "run", func(t *testing.T, f *ir.Func) string {
		Run(f)
		if err := f.Check(); err != nil {
			t.Errorf("%v\n%s", err, f)
		}
		again := f.String()
		Run(f)
		if f.String() != again {
			t.Errorf("not done after the first run:\n%s\nthen:\n%s", again, f)
		}
		return again
	})
}
