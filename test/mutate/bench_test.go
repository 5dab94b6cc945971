package mutate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// BenchmarkTools compiles tools of the standard library, from the text to the eBPF of each program, as
// a run does: nothing verifies what the passes make.
func BenchmarkTools(b *testing.B) {
	for _, name := range []string{"biolatency", "slowprocs", "opensnoop", "execsnoop"} {
		text, err := os.ReadFile(filepath.Join("../../stdlib", name+".star"))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			facts := kernel.Open(kernel.Options{})
			if _, err := facts.BTF(); err != nil {
				b.Skipf(needBTF, err)
			}
			insns := 0
			for b.Loop() {
				res := compileText(name+".star", string(text), facts, false)
				if res.Err != nil || res.Unit == nil {
					b.Fatalf("%v: %v", res.Stage, res.Err)
				}
				insns = 0
				for _, p := range res.Unit.Spec.Programs {
					insns += len(p.Instructions)
				}
			}
			b.ReportMetric(float64(insns), "insns")
		})
	}
}
