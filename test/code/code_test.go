// Package code measures and checks the code that the compiler makes of whole
// scripts: how many instructions the kernel runs, and the idioms in them.
package code

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/script"
)

// compile is the way of a script in the product, up to what is loaded.
func compile(t testing.TB, name, text string, facts *kernel.Facts, o bpfgen.Options) *bpfgen.Unit {
	t.Helper()
	return input(t, name, text, facts, o).Unit
}

// input is what explain gets of a script.
func input(t testing.TB, name, text string, facts *kernel.Facts, o bpfgen.Options) *explain.Input {
	t.Helper()
	h := script.New(script.Options{Constant: kernel.Constant})
	if err := h.ParseText(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(nil); err != nil {
		t.Fatal(err)
	}
	res, err := infer.Plan(h.Plan(), facts, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u, err := bpfgen.Generate(res.Tree, o)
	if err != nil {
		t.Fatal(err)
	}
	return &explain.Input{Script: name, Plan: h.Plan(), Result: res, Unit: u}
}

// translated gives the instructions of each program as the kernel runs them:
// look-ups in maps and some helpers are inlined by then.
func translated(t testing.TB, spec *ebpf.CollectionSpec) map[string]int {
	t.Helper()
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	out := map[string]int{}
	for name, p := range c.Programs {
		info, err := p.Info()
		if err != nil {
			t.Fatal(err)
		}
		size, err := info.TranslatedSize()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = size / 8
	}
	return out
}
