package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// leaves lists the leaves of a layout: offset+size, ?tag.
func leaves(t wire.Type) string {
	if len(t.Elems) > 0 {
		var parts []string
		for _, e := range t.Elems {
			parts = append(parts, leaves(e))
		}
		s := strings.Join(parts, " ")
		if t.TagOff >= 0 {
			s += fmt.Sprintf(" (?%d)", t.TagOff)
		}
		return s
	}
	s := fmt.Sprintf("%d+%d", t.Off, t.Size)
	if t.TagOff >= 0 {
		s += fmt.Sprintf("?%d", t.TagOff)
	}
	return s
}

func TestFixed(t *testing.T) {
	tests := []struct {
		t    types.Type
		want string
	}{
		{types.U32, "0+4 size 8"},
		{types.Comm, "0+16 size 16"},
		{types.StrOf(13), "0+16 size 16"},
		{types.TupleOf(types.U32, types.Comm), "0+4 8+16 size 24"},
		{types.TupleOf(types.U32, types.U32, types.IntOf(16, true)), "0+4 4+4 8+2 size 16"},
		{types.TupleOf(types.U32.OrNone(), types.I64.OrFault()), "0+4?16 8+8?17 size 24"},
		{types.Comm.OrNone(), "0+16 size 16"},
		{types.Type{Kind: types.Ptr, BTF: 3, MayNone: true}, "0+8 size 8"},
		{types.TupleOf(types.U32, types.Boolean).OrNone(), "0+4 4+1 (?5) size 8"},
	}
	for _, tt := range tests {
		f := Fixed(tt.t)
		if got := fmt.Sprintf("%s size %d", leaves(f.Type), f.Size); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.t, got, tt.want)
		}
	}
}

func TestValue(t *testing.T) {
	f := Value(types.IntOf(16, true).OrNone())
	if got := leaves(f.Type); got != "0+8?8" || f.Size != 16 {
		t.Errorf("%s size %d", got, f.Size)
	}
}

func TestRecord(t *testing.T) {
	r := Record(3, 1, []string{"pid", "comm", "name", "ret"},
		[]types.Type{types.U32, types.Comm, types.StrOf(256).OrFault(), types.I64.OrNone()})
	var got []string
	for _, f := range r.Fields {
		got = append(got, f.Name+" "+leaves(f.Type))
	}
	want := "pid 16+4, comm 20+4, name 24+4, ret 32+8?40"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	if r.FixedSize != 48 || r.MaxSize != 48+16+256 {
		t.Errorf("fixed %d max %d", r.FixedSize, r.MaxSize)
	}
}

func TestAgg(t *testing.T) {
	c := func(k plan.ContainerKind) *plan.Container { return &plan.Container{Kind: k, Unit: 1} }
	g := c(plan.Group)
	g.Members = []plan.GroupMember{{Name: "n", Agg: c(plan.Count)}, {Name: "s", Agg: c(plan.Stats)},
		{Name: "h", Agg: c(plan.Hist)}}
	a := Agg(g)
	s, h := a.Member("s"), a.Member("h")
	if a.Member("n").Count != 0 || s.Count != 8 || s.Sum != 16 || s.Lowest != 24 || s.Highest != 32 ||
		h.Buckets.Off != 40 || a.Size != 40+66*8 {
		t.Errorf("group: %+v %+v %+v size %d", a.Member("n"), s, h.Buckets, a.Size)
	}
	if a := AggSlots(c(plan.Lowest), ClaimSlots, nil); a.Size != 8+16*ClaimSlots {
		t.Errorf("claimed lowest: size %d", a.Size)
	}
	signs := map[string]Signs{"s": {Signed: true, Unsigned: true}}
	a = AggSlots(g, 1, signs)
	if s := a.Member("s"); s.Set != 24 || s.Highest != 40 || s.Unsigned.Set != 48 || s.Unsigned.Highest != 64 ||
		a.Member("h").Buckets.Off != 72 {
		t.Errorf("of both signs: %+v %+v", s, s.Unsigned)
	}
	a = AggSlots(c(plan.Stats), 1, map[string]Signs{"": {Unsigned: true}})
	if a.Extremes != wire.NoExtremes || a.Unsigned.Set != -1 || a.Size != 32 || a.Banks != 2 {
		t.Errorf("without sign: %+v %+v", a, a.Unsigned)
	}
	l := c(plan.LHist)
	l.Lo, l.Hi, l.Step = 0, 95, 10
	if n := Agg(l).Buckets.N; n != 12 {
		t.Errorf("lhist: %d buckets, want 12", n)
	}
}
