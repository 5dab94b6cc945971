package infer

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Dynamic arrays in the records of tracepoints (`__data_loc u64[] addrs`), their elements and length.

// A dynArray is an array of ints in a tracepoint's record that has another length in each event: `__data_loc u64[]
// addrs`. As a value it is a tuple of its first maxArray elements.
type dynArray struct {
	memPlace
	bytes *tree.Expr // how many it has
	elem  types.Type
}

func (*dynArray) what() string { return "an array" }

// size is how many bytes an element has.
func (a *dynArray) size() int { return int(a.elem.Bits) / 8 }

// dataLoc is a dynamic array: u32 length<<16 | offset from the start of the
// record (from behind the field itself for __rel_loc); see
// include/trace/stages/stage3_trace_output.h.
func (b memory) dataLoc(f kernel.TracepointField, at memPlace, pos plan.Pos) val {
	loc := load(at, types.U32, pos)
	bin := func(op tree.Op, x, y *tree.Expr, t types.Type) *tree.Expr { return operation(op, t, x, y, pos) }
	off := bin(tree.OpAnd, loc, intExpr(0xffff, pos), types.IntOf(16, false))
	if f.RelLoc {
		off = bin(tree.OpAdd, off, intExpr(int64(f.Off+4), pos), types.I64)
	}
	n := bin(tree.OpShr, loc, intExpr(16, pos), types.IntOf(16, false))
	addr := bin(tree.OpAdd, at.addr, off, types.U64)
	if f.IsString {
		return exprVal(&tree.Expr{Op: tree.OpStr, Type: types.StrOf(b.u.strMax + 1).OrFault(), Str: tree.Kernel,
			Args: []*tree.Expr{addr, n}, Pos: pos})
	}
	elem, ok := b.dynamicElement(f)
	if !ok {
		refuse(pos, "%s is a dynamic array of %s, which have no form as numbers", f.Name, f.CType)
	}
	return objVal(&dynArray{memPlace{addr, 0, tree.Kernel, b.body}, n, elem})
}

// dynamicElement is the type of the elements, which is false where they are no ints.
func (b memory) dynamicElement(f kernel.TracepointField) (types.Type, bool) {
	spelled, n := f.ElementType()
	if n != 0 {
		return types.IntOf(uint8(8*n), f.Signed), true
	}
	btf, err := b.u.facts.BTF()
	if err != nil {
		return types.Type{}, false
	}
	t, ok := btf.Number(spelled)
	return types.IntOf(uint8(8*t.Size), f.Signed), ok
}

// value is the array as bytes, of which readers make numbers.
func (a *dynArray) value(_ *body, pos plan.Pos) *tree.Expr {
	sign := "u"
	if a.elem.Signed {
		sign = "s"
	}
	t := types.Type{Kind: types.Bytes, Cap: maxArray * a.size(), Label: fmt.Sprint(wire.LabelInts, sign, a.size())}
	return &tree.Expr{Op: tree.OpStr, Type: t.OrFault(), Str: tree.Kernel,
		Args: []*tree.Expr{a.addr, a.bytes}, Pos: pos}
}

// element is a[i]; FAULT if the array of this event has no such element.
func (a *dynArray) element(i val, pos plan.Pos) val {
	n, ok := i.constInt()
	switch {
	case !ok:
		refuse(pos, constantIndex, "an array field")
	case n < 0 || n >= maxRecordBytes:
		wrong(pos, "index %d of an array whose length each event says: want one from 0 on", n)
	}
	at := a.memPlace
	at.off = n * int64(a.size())
	t := a.elem.OrFault()
	there := operation(tree.OpGe, types.Boolean, a.bytes, intExpr(at.off+int64(a.size()), pos), pos)
	return exprVal(&tree.Expr{Op: tree.OpCond, Type: t, Pos: pos,
		Args: []*tree.Expr{there, load(at, a.elem, pos), as(faultExpr(pos), t, pos)}})
}

// count is how many elements it has.
func (a *dynArray) count(pos plan.Pos) *tree.Expr {
	return operation(tree.OpFloorDiv, types.IntOf(16, false), a.bytes, intExpr(int64(a.size()), pos), pos)
}

// maxRecordBytes is more than a record of a tracepoint has, and so more than elements of an array in it.
const maxRecordBytes = 1 << 16
