package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// A heldList is a list of numbers in memory that an Option of Rust may hold, or a variant of an enum: as a value it is
// the list or None. Its length and its elements are FAULT where it is None.
type heldList struct {
	*structObj
	there *tree.Expr
}

func (*heldList) what() string { return "a list that may be None" }

// asHeldList is a value that is there where a condition holds as such a list; false where it is none.
func (b library) asHeldList(there *tree.Expr, v val, pos plan.Pos) (val, bool) {
	s, ok := v.obj.(*structObj)
	if !ok {
		return v, false
	}
	t, ok := b.attributes().listTypeOf(v, pos)
	if !ok {
		return v, false
	}
	_, ok = t.numbers(b.u.btf(pos))
	return objVal(&heldList{s, there}), ok
}

// counted is the number of elements, where the list has n if it is there.
func (h *heldList) counted(n *tree.Expr, pos plan.Pos) *tree.Expr {
	return orFault(h.there, pos, func(is *tree.Expr) *tree.Expr {
		return chooseFault(not(as(is, types.Boolean, pos), pos), n, pos)
	})
}
