package attrs

import (
	"slices"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// TestNames compares what the compiler takes for fields and methods of values of user space with what they have.
func TestNames(t *testing.T) {
	same := func(what string, got []string, v starlark.HasAttrs) {
		t.Helper()
		want := slices.Sorted(slices.Values(v.AttrNames()))
		if got = slices.Sorted(slices.Values(got)); !slices.Equal(got, want) {
			t.Errorf("%s: the compiler has %q, the interpreter %q", what, got, want)
		}
	}
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.Bytes(""), &starlark.List{}, &starlark.Dict{},
		value.Stack{}, value.Frame{}} {
		names, ok := Of(v.Type())
		if !ok {
			t.Errorf("the compiler does not know the type %s", v.Type())
		}
		same(v.Type(), names, v)
	}
	for _, v := range []starlark.Value{starlark.MakeInt(0), starlark.Bool(true), starlark.Float(0), starlark.Tuple{}} {
		names, ok := Of(v.Type())
		if _, has := v.(starlark.HasAttrs); has || !ok || len(names) > 0 {
			t.Errorf("%s: %q, %v", v.Type(), names, ok)
		}
	}
	table, cell := &plan.Container{Kind: plan.Table}, &plan.Container{Kind: plan.Cell}
	same("table", OfContainer(table, false), value.NewTable(table))
	same("cell", OfContainer(cell, false), value.NewCell(cell, starlark.None))
	sum := &plan.Container{Kind: plan.Total}
	group := &plan.Container{Kind: plan.Group, Members: []plan.GroupMember{{Name: "bytes", Agg: sum}}}
	all := []*plan.Container{group}
	for kind := plan.Count; kind.IsAggregation(); kind++ {
		all = append(all, &plan.Container{Kind: kind})
	}
	for _, c := range all {
		agg := value.NewAgg(c)
		same(c.Kind.String(), OfContainer(c, false), agg)
		entry, found, err := agg.Get(starlark.MakeInt(1))
		if err != nil || !found {
			t.Fatalf("an entry of a %s: %v %v", c.Kind, found, err)
		}
		same("an entry of "+c.Kind.String(), OfContainer(c, true), entry.(starlark.HasAttrs))
	}
}
