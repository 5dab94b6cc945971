package infer

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What takes the place of an unused part is one that needs no more of it, of whatever type it is, as deep as it may be:
// prune goes on as long as it finds something.
func TestZeroIsZero(t *testing.T) {
	plain := []types.Type{types.I64, types.U32, types.Boolean, types.NoneT, types.Comm, types.Name, types.StrOf(9),
		faultT,
		{Kind: types.Bytes, Cap: 4}, {Kind: types.Ptr}, {Kind: types.Mem}, {Kind: types.Stack}}
	list := plain
	for depth := 0; depth < 3; depth++ {
		var next []types.Type
		for _, x := range list {
			rec := types.Type{Kind: types.Record, Elems: []types.Type{x, types.I64}, Names: []string{"a", "b"}}
			next = append(next, x, x.OrNone(), x.OrFault(), types.TupleOf(types.I64, x), types.TupleOf(x, x).OrNone(),
				rec)
		}
		list = next
	}
	for _, x := range list {
		if e := zeroOf(x, plan.Pos{}); !isZero(e) {
			t.Errorf("the zero of %s is not known as one", x)
		}
	}
}
