package types_test

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/types"
)

// some are types of each kind.
func some() []types.Type {
	str, ip := types.StrOf(16), types.IntOf(32, false)
	ip.Label = "ip4"
	return []types.Type{
		types.LiteralOf(8), types.LiteralOf(32), types.LiteralOf(64), types.TupleOf(types.LiteralOf(8), str),
		{}, {Kind: types.None}, types.Boolean, types.I64, types.U64, types.IntOf(32, true), types.IntOf(8, false), ip,
		str, types.StrOf(64), {Kind: types.Bytes, Cap: 8}, {Kind: types.Ptr}, types.I64.OrNone(), types.I64.OrFault(),
		str.OrNone().OrFault(), types.TupleOf(types.I64, str), types.TupleOf(types.U64, types.StrOf(64)),
		types.TupleOf(types.I64),
	}
}

// The walk of a script ends only if joining comes to an end: what has been joined does not change when either part is
// joined again, and the order does not matter. Nothing that a part can be is lost.
func TestJoinSettles(t *testing.T) {
	for _, a := range some() {
		for _, b := range some() {
			ab, ok := types.Join(a, b)
			ba, okBack := types.Join(b, a)
			if ok != okBack || ok && !ab.Equal(ba) {
				t.Errorf("%v and %v join to %v %t, in the other order to %v %t", a, b, ab, ok, ba, okBack)
				continue
			}
			if !ok {
				continue
			}
			for _, part := range []types.Type{a, b} {
				again, ok := types.Join(ab, part)
				if !ok || !again.Equal(ab) {
					t.Errorf("%v and %v join to %v, which becomes %v with %v again", a, b, ab, again, part)
				}
				if part.MayNone && !ab.MayNone || part.MayFault && !ab.MayFault {
					t.Errorf("%v and %v join to %v, which forgets what %v may be", a, b, ab, part)
				}
			}
		}
	}
}

// Join holds both parts, or says that nothing does.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		a, b, want types.Type
		fails      bool
	}{
		{a: types.Type{}, b: types.U64, want: types.U64},
		{a: types.Type{Kind: types.None}, b: types.U64, want: types.U64.OrNone()},
		{a: types.StrOf(16), b: types.StrOf(64), want: types.StrOf(64)},
		{a: types.I64, b: types.StrOf(16), fails: true},
		{a: types.LiteralOf(8), b: types.U64, want: types.U64},
		{a: types.LiteralOf(8), b: types.IntOf(16, false), want: types.IntOf(16, false)},
		{a: types.LiteralOf(32), b: types.IntOf(16, false), want: types.U32},
		{a: types.LiteralOf(8), b: types.LiteralOf(16), want: types.LiteralOf(16)},
		{a: types.LiteralOf(64), b: types.IntOf(32, true), want: types.I64},
		{a: types.LiteralOf(8), b: types.Type{Kind: types.Ptr}, want: types.I64},
		{a: types.LiteralOf(8), b: types.Name, fails: true},
		{a: types.TupleOf(types.I64), b: types.TupleOf(types.I64, types.I64), fails: true},
	} {
		got, ok := types.Join(c.a, c.b)
		if ok == c.fails || ok && !got.Equal(c.want) {
			t.Errorf("%v and %v join to %v %t, want %v", c.a, c.b, got, ok, c.want)
		}
	}
}
