package bpfgen

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// The maps for calls of user functions take memory as they fill where there are many of them, on kernels that let all
// programs use such maps.
func TestMapsOfManyCalls(t *testing.T) {
	for _, tt := range []struct {
		spans    int
		user     bool
		version  kernel.Version
		onDemand bool
	}{
		{manyCalls, true, kernel.Version{Major: 6, Minor: 18}, false},
		{manyCalls + 1, true, kernel.Version{Major: 6, Minor: 18}, true},
		{manyCalls + 1, true, kernel.Version{Major: 6, Minor: 1}, true},
		{manyCalls + 1, true, kernel.Version{Major: 6, Minor: 0}, false},
		{manyCalls + 1, false, kernel.Version{Major: 6, Minor: 18}, false},
	} {
		u := &tree.Unit{}
		for i := range tt.spans {
			u.Spans = append(u.Spans, &tree.Span{Probe: i, Nested: true, User: tt.user})
		}
		o := For(tt.version)
		o.Arch = "amd64"
		unit, err := Generate(u, o)
		if err != nil {
			t.Fatalf("%+v: %v", tt, err)
		}
		for name, m := range unit.Spec.Maps {
			if got := OnDemand(m); name[:4] == "span" && got != tt.onDemand {
				t.Errorf("%+v: %s has flags %#x", tt, name, m.Flags)
			}
		}
		if unit.Spec.Maps[tree.SpanMap(tt.spans-1)] == nil {
			t.Errorf("%+v: no map of the last span", tt)
		}
	}
}
