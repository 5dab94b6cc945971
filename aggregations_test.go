package startrace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	interpreter "go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

// Each kind of aggregation that internal/plan has is known in every room that must know it: scripts make it, kernel
// halves add to it, explain shows its words, the interpreter reads it, and it is printed.
func TestAggregations(t *testing.T) {
	k := newPointKernel(t)
	for kind := plan.ContainerKind(0); kind <= plan.Group; kind++ {
		if !kind.IsAggregation() {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			if _, is := builtins.Lookup(kind.String()); !is {
				t.Fatal("builtins has no entry of its name")
			}
			inRoom(t, "the compiler", func() { k.adds(t, kind) })
			inRoom(t, "the interpreter", func() { holds(t, kind) })
		})
	}
}

// aggregation is the text of a call that makes one.
func aggregation(kind plan.ContainerKind) string {
	if kind == plan.LHist {
		return "lhist(0, 10, 1)"
	}
	return kind.String() + "()"
}

// adds: a kernel half adds to it, alone and in a group, and explain shows what it consists of.
func (k *pointKernel) adds(t *testing.T, kind plan.ContainerKind) {
	h := script.New(script.Options{Constant: kernel.Constant})
	src := fmt.Sprintf("x = %s\ng = group(m = %[1]s)\n"+
		"def both(e):\n    x.add(e.pid)\n    g[e.comm].m.add(e.pid)\n"+
		"probe(\"rawtracepoint:sched_switch\", kernel = both)\n", aggregation(kind))
	if err := h.ParseText("t.star", []byte(src)); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(nil); err != nil {
		t.Fatal(err)
	}
	res, err := infer.Plan(h.Plan(), k.facts, infer.Options{Programs: pointProgram{}})
	if err != nil {
		t.Fatalf("infer: %v", err)
	}
	unit, err := bpfgen.Generate(res.Tree, bpfgen.Options{HasLoop: true})
	if err != nil {
		t.Fatalf("bpfgen: %v", err)
	}
	for _, p := range unit.Tree.Programs {
		if text := unit.Spec.Programs[p.Name].Instructions; len(text) < 10 {
			t.Errorf("bpfgen: a program of %d instructions adds nothing", len(text))
		}
	}
	r := explain.New(&explain.Input{Plan: h.Plan(), Result: res, Unit: unit, CPUs: 2, PossibleCPUs: 2,
		Source: func(string, int) string { return "" }})
	for _, name := range []string{"x", "g"} {
		i := slices.IndexFunc(r.Maps, func(m explain.Map) bool { return m.Name == name })
		if i < 0 || len(r.Maps[i].Value) == 0 {
			t.Errorf("explain: of the map of %s nothing is said about its value: %+v", name, r.Maps)
		}
	}
}

// holds: what was added in user space can be read, and is printed in each format; its names are those that the compiler
// knows, and it can be taken where it can be had as a difference.
func holds(t *testing.T, kind plan.ContainerKind) {
	h := script.New(script.Options{Constant: kernel.Constant})
	src := "n = " + aggregation(kind) + "\nn.add(3)\nn.add(5)\nn.take()\nn.add(7)\nn.add(9)\n"
	if err := h.ParseText("t.star", []byte(src)); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(nil); err != nil {
		t.Fatal(err)
	}
	n := h.Globals()["n"].(*value.Agg)
	if (layout.Agg(n.Decl()).Buckets != nil) != kind.HasBuckets() {
		t.Errorf("layout: buckets are there: %t", !kind.HasBuckets())
	}
	names := slices.Sorted(slices.Values(attrs.OfContainer(n.Decl(), false)))
	if has := slices.Sorted(slices.Values(n.AttrNames())); !slices.Equal(names, has) {
		t.Errorf("attrs: %q, the interpreter has %q", names, has)
	}
	v, err := n.Attr("value")
	if err != nil || v == nil || v == interpreter.None {
		t.Errorf("its value is %v, %v", v, err)
	}
	if _, histogram := v.(*value.Histogram); histogram != kind.HasBuckets() {
		t.Errorf("its value is a %s", v.Type())
	}
	known := &results.Known{Containers: func() []value.Container { return []value.Container{n} },
		Keyed: func(*plan.Container) (keyed, used bool) { return false, false }}
	table, err := known.Table(n)
	if err != nil || len(table.Rows) != 1 || table.Rows[0].Values[0] == nil {
		t.Fatalf("results: %+v, %v", table, err)
	}
	for _, format := range []render.Format{render.Text, render.JSON, render.CSV} {
		p := &render.Printer{Format: format}
		text, err := p.AppendTable(nil, table, render.Options{})
		if err != nil || !strings.ContainsAny(string(text), "123456789") {
			t.Errorf("render: %q, %v", text, err)
		}
	}
}
