package infer

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// A list of numbers of a program (slice, vector) as a value, and its length. A list of other elements is no value as a
// whole.

// numbers is the label of the elements as an array of them; false where they are no numbers.
func (l listType) numbers(btf *kernel.BTF) (label string, ok bool) {
	t, err := btf.Type(l.elem)
	form := "u"
	switch {
	case err != nil || l.bits || t.Size > 8:
		return "", false
	case t.Kind == kernel.KindFloat:
		form = "f"
	case t.Kind != kernel.KindInt && t.Kind != kernel.KindEnum:
		return "", false
	case t.Bool:
		form = "b"
	case t.Signed:
		form = "s"
	}
	return fmt.Sprint(wire.LabelInts, form, t.Size), true
}

// listPlace is where the parts of what may be a list of a program are read; false for what is none.
func listPlace(v val) (where memPlace, ok bool) {
	switch o := v.obj.(type) {
	case *structObj:
		return o.memPlace, true
	case *heldList:
		return o.memPlace, true
	case *countedArray:
		return o.memPlace, true
	case *regStruct:
		return memPlace{from: o.in}, true
	}
	return where, false
}

// listValue is a list of numbers of a program as a value; false where v is something else. A list of other elements is
// refused.
func (b attributes) listValue(v val, pos plan.Pos) (val, bool) {
	t, ok := b.listTypeOf(v, pos)
	if !ok {
		return v, false
	}
	label, ok := t.numbers(b.u.btf(pos))
	h, held := v.obj.(*heldList)
	if !ok && !held {
		wrong(pos, "%s", t.noValue())
	}
	where, _ := listPlace(v)
	return b.inPlace(where, func(at *body) val {
		if held && !ok {
			return library{at}.ifThere(h.there, objVal(h.structObj), pos)
		}
		if held {
			l, _ := at.attributes().listOf(objVal(h.structObj), pos)
			return (library{at}).ifThere(h.there, exprVal(l.asBytes(label, pos)), pos)
		}
		l, _ := at.attributes().listOf(v, pos)
		return exprVal(l.asBytes(label, pos))
	}), true
}

// asBytes are the elements as bytes, of which readers make numbers.
func (l programList) asBytes(label string, pos plan.Pos) *tree.Expr {
	for _, word := range []*tree.Expr{l.n, l.first} {
		if word.Op == tree.OpUnreadable {
			return lost(pos)
		}
	}
	t := types.Type{Kind: types.Bytes, Cap: maxArray * l.size, Label: label}.OrFault()
	return orFault(l.n, pos, func(n *tree.Expr) *tree.Expr {
		return orFault(l.first, pos, func(first *tree.Expr) *tree.Expr {
			bytes := operation(tree.OpMul, types.I64, n, intExpr(int64(l.size), pos), pos)
			return &tree.Expr{Op: tree.OpStr, Type: t, Str: tree.User, Args: []*tree.Expr{first, bytes}, Pos: pos}
		})
	})
}

// noValue says that a list is no value as a whole, and what to do.
func (l listType) noValue() string {
	what := "the elements of this list are no numbers"
	if l.bits {
		what = "this list keeps its elements as single bits"
	}
	return what + ", so it is no value as a whole: " + partsOfList
}

// onlyParts reports whether v is a list of a program that is no value as a whole: its elements are no numbers.
func (b attributes) onlyParts(v val, pos plan.Pos) bool {
	t, ok := b.listTypeOf(v, pos)
	if _, held := v.obj.(*heldList); held || !ok {
		return false
	}
	_, whole := t.numbers(b.u.btf(pos))
	return !whole
}

// counted is how many elements a list of a program has, for the truth of one that is no value as a whole; v where v is
// something else.
func (b attributes) counted(v val, pos plan.Pos) val {
	if !b.onlyParts(v, pos) {
		return v
	}
	return b.listLength(v, pos)
}

// listLength is how many elements a list of a program has.
func (b attributes) listLength(v val, pos plan.Pos) val {
	where, _ := listPlace(v)
	return b.inPlace(where, func(at *body) val {
		l, _ := at.attributes().listOf(v, pos)
		return exprVal(l.n)
	})
}

// A heldList is a list in memory that an Option of Rust may hold, or a variant of an enum: as a value it is the list or
// None, and where its elements are no numbers its address or None. Its length and its elements are FAULT where it is
// None.
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
	_, ok = b.attributes().listTypeOf(v, pos)
	return objVal(&heldList{s, there}), ok
}

// counted is the number of elements, where the list has n if it is there.
func (h *heldList) counted(n *tree.Expr, pos plan.Pos) *tree.Expr {
	return orFault(h.there, pos, func(is *tree.Expr) *tree.Expr {
		return chooseFault(not(as(is, types.Boolean, pos), pos), n, pos)
	})
}
