package bpfgen

import (
	"slices"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// However many spans by thread there are, of system calls or with two maps each, the programs that follow threads have
// maps for all: each span is in one of those at exec and in one of those at exit.
func TestManySpans(t *testing.T) {
	file := "t.star"
	for _, n := range []int{1, spansPerProgram, spansPerProgram + 1, 10 * spansPerProgram} {
		for _, own := range []*plan.Span{nil, {}} {
			u := &tree.Unit{}
			for i := range n {
				u.Spans = append(u.Spans, &tree.Span{Probe: i, Size: 1, Ends: true, Plan: own,
					Pos: syntax.MakePosition(&file, int32(i+1), 1)})
			}
			unit, err := Generate(u, Options{Arch: "amd64"})
			if err != nil {
				t.Fatalf("%d spans: %v", n, err)
			}
			served := map[bool][]string{}
			for _, p := range u.Programs {
				for _, ins := range unit.Spec.Programs[p.Name].Instructions {
					served[IsSpanExec(p.Name)] = append(served[IsSpanExec(p.Name)], ins.Reference())
				}
			}
			for i := range n {
				for _, exec := range []bool{true, false} {
					if !slices.Contains(served[exec], tree.SpanMap(i)) {
						t.Errorf("of %d spans number %d is not followed (at exec: %v)", n, i, exec)
					}
				}
			}
		}
	}
}
