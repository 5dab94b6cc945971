package diff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/stdlib"
)

// FuzzInfer compiles any text: there is a unit or messages for the author, never a panic or a mistake of the
// compiler's own. The types are those of the running kernel where it has some.
func FuzzInfer(f *testing.F) {
	for _, pattern := range []string{"../../examples/*.star", "../../stdlib/*.star",
		"../../bpfgen/infer/testdata/*.star", "testdata/*.star"} {
		addSeeds(f, pattern)
	}
	for seed := range uint64(20) {
		f.Add(scriptOf([]*Program{Generate(seed, "f")}))
	}
	types := kernel.Open(kernel.Options{})
	if _, err := types.BTF(); err != nil {
		types = facts(f)
	}
	f.Fuzz(func(t *testing.T, src string) {
		h := script.New(script.Options{Constant: kernel.Constant, Runtime: builtins.Idle{}, Std: stdlib.Files()})
		h.Thread().SetMaxExecutionSteps(100_000)
		if h.ParseText("fuzz.star", []byte(src)) != nil || h.Run(nil) != nil {
			return
		}
		res, err := infer.Plan(h.Plan(), types, infer.Options{})
		if err != nil || points(res) > 50 { // all system calls take seconds
			return
		}
		if _, err := bpfgen.Generate(res.Tree, bpfgen.Options{}); err != nil {
			t.Error(err)
		}
	})
}

func points(res *infer.Result) (n int) {
	for _, p := range res.Points {
		n += p
	}
	return n
}

func addSeeds(f *testing.F, pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("no scripts for %s: %v", pattern, err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, chunk := range strings.Split(string(src), "\n---\n") {
			f.Add(chunk)
		}
	}
}
