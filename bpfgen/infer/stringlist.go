package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// What a `char **` points to as a list of strings, as the argv of execve, and its limit (`maxStringList`).

// maxStringList bounds the bytes of a list of strings.
const maxStringList = 1024

// stringLists reads what a char ** points to as a list of strings.
type stringLists struct{ memory }

// at is the list whose first pointer lies at a place.
func (b stringLists) at(first memPlace, pos plan.Pos) *tree.Expr {
	t := types.Type{Kind: types.Bytes, Cap: maxStringList, Label: "strlist", MayFault: true}
	return &tree.Expr{Op: tree.OpStrList, Type: t, Int: first.off, Str: first.space,
		Args: []*tree.Expr{asAddress(first.addr, pos)}, Pos: pos}
}

// of is the list that a value is, or that a pointer to a char * points to; false for other values.
func (b stringLists) of(v val, pos plan.Pos) (*tree.Expr, bool) {
	switch e := v.expr; {
	case e == nil:
		return nil, false
	case e.Op == tree.OpStrList:
		return e, true
	case e.Type.Elem != 0 && b.isCharPtr(e.Type.Elem, pos):
		return b.at(memPlace{e, 0, b.spaceOf(e.Type, pos), b.body}, pos), true
	}
	return nil, false
}
