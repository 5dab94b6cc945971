package code

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
)

// measured are the scripts in testdata, with the instructions that the hot
// path should have at most, and those that clang 22 -O2 makes of testdata/same.c.
var measured = []struct {
	name          string
	want, clang22 int
}{
	{"count", 21, 21},
	{"pid", 29, 29},
	{"comm", 31, 30},
	{"hist", 81, 81},
	{"record", 28, 25},
	{"latency", 120, 124},
	{"filter", 27, 42},
}

// BenchmarkInsns prints the instructions of scripts as the kernel counts them:
// of the hot path, of what only counts losses and errors, of the programs that
// keep the state of spans when threads end; and beside them those of clang's code
// for the same in C, if clang is here.
func BenchmarkInsns(b *testing.B) {
	need.Loading(b)
	facts := kernel.Open(kernel.Options{})
	clang := clangInsns(b)
	for _, m := range measured {
		b.Run(m.name, func(b *testing.B) {
			text, err := os.ReadFile(filepath.Join("testdata", m.name+".star"))
			if err != nil {
				b.Fatal(err)
			}
			var u *bpfgen.Unit
			for b.Loop() {
				u = compile(b, m.name+".star", string(text), facts, bpfgen.Options{RingSize: 1 << 16})
			}
			hot, counting, threads := split(b, u)
			b.ReportMetric(float64(hot), "hot")
			b.ReportMetric(float64(counting), "counting")
			b.ReportMetric(float64(m.want), "wanted")
			b.ReportMetric(float64(m.clang22), "clang22")
			if threads > 0 {
				b.ReportMetric(float64(threads), "threads")
			}
			if c := clang[m.name]; c > 0 {
				b.ReportMetric(float64(c), "clang")
				b.ReportMetric(float64(hot)/float64(c), "ratio")
			}
		})
	}
}

// split sums the programs of u. Those that startrace adds to any script with
// spans run when a thread ends or calls exec.
func split(t testing.TB, u *bpfgen.Unit) (hot, counting, threads int) {
	t.Helper()
	all := translated(t, u.Spec)
	for _, p := range u.Tree.Programs {
		n := all[p.Name]
		if p.Probe < 0 {
			threads += n
			continue
		}
		c := countingInsns(u.Spec.Programs[p.Name].Instructions)
		hot += n - c
		counting += c
	}
	return hot, counting, threads
}

// clangInsns compiles testdata/same.c and gives its instructions as the kernel
// counts them, by script; nil without clang.
func clangInsns(b *testing.B) map[string]int {
	clang, err := exec.LookPath("clang")
	if err != nil {
		b.Logf("no comparison with C: %v", err)
		return nil
	}
	object := filepath.Join(b.TempDir(), "same.o")
	args := []string{"-g", "-O2", "-mcpu=v3", "-target", "bpf", "-c", "testdata/same.c", "-o", object}
	if dirs, _ := filepath.Glob("/usr/include/*-linux-gnu/asm"); len(dirs) > 0 {
		args = append(args, "-I", filepath.Dir(dirs[0]))
	}
	if out, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
		b.Logf("no comparison with C: %v\n%s", err, out)
		return nil
	}
	spec, err := ebpf.LoadCollectionSpec(object)
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]int{}
	for name, n := range translated(b, spec) {
		script, _, _ := strings.Cut(name, "_")
		out[script] += n
	}
	return out
}
