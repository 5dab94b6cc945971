package value

import (
	"fmt"
	"math"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

var huge = starlark.MakeUint64(math.MaxUint64 - 22) // the bits of -23

func pair(x, y starlark.Value) starlark.Tuple { return starlark.Tuple{x, y} }

// Keys of the same bits are one entry, and each of their ints is shown with a sign if it was written below 0: another
// part that is below 0 changes nothing, however often the entry is written.
func TestShownKey(t *testing.T) {
	low, seven := starlark.MakeInt(-23), starlark.MakeInt(7)
	named := func(x, y starlark.Value) starlark.Value {
		return NewRecord([]string{"x", "y"}, []starlark.Value{x, y})
	}
	for _, c := range []struct {
		written []starlark.Value
		want    string
	}{
		{[]starlark.Value{huge, huge}, huge.String()},
		{[]starlark.Value{huge, low, huge}, "-23"},
		{[]starlark.Value{pair(huge, low), pair(huge, low), pair(huge, low)}, fmt.Sprint(pair(huge, low))},
		{[]starlark.Value{pair(huge, low), pair(low, huge)}, fmt.Sprint(pair(low, low))},
		{[]starlark.Value{pair(huge, huge), pair(huge, low)}, fmt.Sprint(pair(huge, low))},
		{[]starlark.Value{pair(low, huge), pair(huge, low), pair(low, huge)}, fmt.Sprint(pair(low, low))},
		{[]starlark.Value{pair(pair(huge, seven), low), pair(pair(huge, seven), low)},
			fmt.Sprint(pair(pair(huge, seven), low))},
		{[]starlark.Value{named(huge, low), named(huge, low)}, fmt.Sprint(named(huge, low))},
		{[]starlark.Value{named(huge, seven), named(low, seven)}, fmt.Sprint(named(low, seven))},
	} {
		table, agg := NewTable(&plan.Container{Kind: plan.Table}), NewAgg(&plan.Container{Kind: plan.Count})
		for _, k := range c.written {
			if err := table.SetKey(k, seven); err != nil {
				t.Fatal(err)
			}
			if err := agg.add(k, 0, Number{}, 1); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(table.Items()); got != "[("+c.want+", 7)]" {
			t.Errorf("a table with %v: %s, want %s", c.written, got, c.want)
		}
		s, err := agg.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.items()); got != fmt.Sprintf("[(%s, 0)]", c.want) {
			t.Errorf("a count with %v: %s, want %s", c.written, got, c.want)
		}
	}
}

// A key finds the entry of its bits in a map whose parts have signs of their own.
func TestKeyLikeKept(t *testing.T) {
	low := starlark.MakeInt(-23)
	u64 := wire.Type{Kind: wire.Int, Size: 8, TagOff: -1}
	s64 := u64
	s64.Signed, s64.Off = true, 8
	typ := wire.Type{Kind: wire.Tuple, Size: 16, TagOff: -1, Elems: []wire.Type{u64, s64}}
	named := typ
	named.Kind, named.Names = wire.Record_, []string{"x", "y"}
	for _, k := range []starlark.Tuple{pair(huge, low), pair(low, low), pair(low, huge), pair(huge, huge)} {
		if got, want := likeKept(&typ, k), pair(huge, low); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v becomes %v", k, got)
		}
		r := NewRecord([]string{"y", "x"}, []starlark.Value{k[1], k[0]})
		got := likeKept(&named, r).(*Record)
		if fmt.Sprint(got.Get("x")) != huge.String() || fmt.Sprint(got.Get("y")) != "-23" {
			t.Errorf("%v becomes %v", r, got)
		}
	}
}
