package emit

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
	"github.com/startrace/startrace/bpfgen/opt"
	"github.com/startrace/startrace/bpfgen/regalloc"
)

// BenchmarkStages measures the stages on a function of a few hundred
// instructions, as a large handler has.
func BenchmarkStages(b *testing.B) {
	text := irtest.Random(7, irtest.Options{Values: 300, Depth: 3, Live: 10}).String()
	f, err := ir.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	opt.Run(f)
	a, err := regalloc.Allocate(f)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("opt", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			g, err := ir.Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			opt.Run(g)
		}
	})
	b.Run("regalloc", func(b *testing.B) {
		for b.Loop() {
			if _, err := regalloc.Allocate(f); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("emit", func(b *testing.B) {
		for b.Loop() {
			code, err := Emit(f, a)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(code.Insns)), "insns")
		}
	})
}
