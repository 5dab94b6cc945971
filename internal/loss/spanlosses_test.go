package loss

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/plan"
)

// What a span of several probes loses is one loss, of every kind that spans have; what each probe loses for itself is
// not.
func TestSharedSpans(t *testing.T) {
	file := "x.star"
	pos := func(line int32) plan.Pos { return syntax.MakePosition(&file, line, 1) }
	filter := &plan.Func{}
	p := &plan.Plan{Probes: []*plan.Probe{{ID: 0, Name: "p0", Pos: pos(10)}, {ID: 1, Name: "p1", Pos: pos(11)},
		{ID: 2, Name: "p2", Pos: pos(12), Start: filter, Where: filter}, {ID: 3, Name: "p3", Pos: pos(13)}}}
	shared, other := &plan.Span{Pos: pos(1)}, &plan.Span{Pos: pos(1)}
	loss := func(probe int, kind bpfgen.SiteKind, of *plan.Span, line int32, n uint64) Loss {
		site := &bpfgen.Site{Kind: kind, Probe: probe, Pos: pos(line), Container: -1}
		if of != nil {
			site.Span = &tree.Span{Probe: probe, Plan: of}
		}
		return Loss{Loss: attach.Loss{Probe: probe, Kind: kind, Count: n, Site: site}, plan: p}
	}
	tests := []struct {
		losses  func(kind bpfgen.SiteKind) []Loss
		toggled bool
		want    []string // number, probe, and whether the probe's place is said
	}{
		{func(k bpfgen.SiteKind) []Loss { return []Loss{loss(0, k, shared, 1, 3), loss(1, k, shared, 1, 3)} }, false,
			[]string{"3 p0 false"}},
		{func(k bpfgen.SiteKind) []Loss { return []Loss{loss(0, k, shared, 1, 3), loss(1, k, shared, 1, 4)} }, false,
			[]string{"4 p1 false"}},
		{func(k bpfgen.SiteKind) []Loss { return []Loss{loss(0, k, shared, 1, 3), loss(1, k, shared, 1, 3)} }, true,
			[]string{"3 p0 true", "3 p1 true"}},
		{func(k bpfgen.SiteKind) []Loss {
			return []Loss{loss(0, k, shared, 1, 3), loss(1, k, shared, 1, 3), loss(2, k, shared, 1, 9)}
		}, false, []string{"3 p0 false", "9 p2 true"}},
		{func(k bpfgen.SiteKind) []Loss { // two sites of each
			return []Loss{loss(0, k, shared, 1, 3), loss(0, k, shared, 2, 5), loss(1, k, shared, 1, 3),
				loss(1, k, shared, 2, 5)}
		}, false, []string{"3 p0 false", "5 p0 false"}},
		{func(k bpfgen.SiteKind) []Loss { return []Loss{loss(0, k, shared, 1, 3), loss(3, k, other, 1, 3)} }, false,
			[]string{"3 p0 false", "3 p3 false"}},
		{func(k bpfgen.SiteKind) []Loss { return []Loss{loss(0, k, nil, 1, 3), loss(1, k, nil, 1, 3)} }, false,
			[]string{"3 p0 false", "3 p1 false"}},
	}
	kinds := []bpfgen.SiteKind{bpfgen.SiteOrphanEnd, bpfgen.SiteOpenStart, left, bpfgen.SiteSpanFull,
		bpfgen.SiteSpanDeep, bpfgen.SiteTimeout, bpfgen.SiteSpanRace}
	for _, kind := range kinds {
		for i, tt := range tests {
			var got []string
			for _, line := range Lines(tt.losses(kind), tt.toggled) {
				got = append(got, inShort(line))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("kind %d, test %d: got %q, want %q", kind, i, got, tt.want)
			}
		}
	}
}

// inShort is what a line says: the number, the probe, and whether the probe's place is there.
func inShort(line string) string {
	words := strings.Fields(line)
	name := words[slices.Index(words, "of")+1]
	return fmt.Sprint(words[0], " ", name, " ", strings.Contains(line, "in the probe at x.star:1"))
}
