package tree

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// TestShape: variants that differ in names, structs behind pointers and record
// numbers have one shape; what changes an instruction changes it.
func TestShape(t *testing.T) {
	body := func(record int64, name string, btf kernel.TypeID, slot int64) *Block {
		ptr := types.Type{Kind: types.Ptr, BTF: btf}
		arg := &Expr{Op: OpConvert, Type: ptr, Args: []*Expr{{Op: OpSpanSlot, Type: types.U64, Int: slot}}}
		rec := types.Type{Kind: types.Record, Names: []string{name}, Elems: []types.Type{ptr}}
		return &Block{Stmts: []*Stmt{{Op: SSend, Int: record,
			Exprs: []*Expr{{Op: OpRecord, Type: rec, Args: []*Expr{arg}}}}}}
	}
	layout := func(name string, off int) *wire.Record {
		leaf := wire.Type{Kind: wire.Pointer, Off: off, Size: 8, TagOff: -1}
		fields := wire.Type{Kind: wire.Record_, Names: []string{name}, Elems: []wire.Type{leaf}, TagOff: -1}
		return &wire.Record{FixedSize: off + 8, MaxSize: off + 8, Fields: []wire.Field{{Name: "e", Type: fields}}}
	}
	records := []*wire.Record{layout("buf", 16), layout("path", 16), layout("buf", 24)}
	want, sends := body(0, "buf", 7, 1).Shape(records)
	if len(sends) != 1 || sends[0].Int != 0 {
		t.Errorf("sends %v", sends)
	}
	if got, _ := body(1, "path", 9, 1).Shape(records); got != want {
		t.Errorf("other names have another shape:\n%s\n%s", got, want)
	}
	if got, _ := body(1, "path", 9, 2).Shape(records); got == want {
		t.Errorf("another slot has the same shape:\n%s", got)
	}
	if got, _ := body(2, "buf", 7, 1).Shape(records); got == want {
		t.Errorf("another layout has the same shape:\n%s", got)
	}
}

// TestShapeOfPlaces: where in the script a value stands changes the shape only where something may be counted there.
func TestShapeOfPlaces(t *testing.T) {
	shape := func(op Op, line int32) string {
		pos := plan.Pos{Line: line, Col: 1}
		slot := &Expr{Op: OpSpanSlot, Type: types.U64, Pos: pos}
		e := &Expr{Op: op, Type: types.U64, Args: []*Expr{slot, {Op: OpConst, Type: types.U64, Int: 3}}, Pos: pos}
		set := &Stmt{Op: SAssign, Exprs: []*Expr{e}, Pos: pos}
		text, _ := (&Block{Stmts: []*Stmt{set}}).Shape(nil)
		return text
	}
	for op, want := range map[Op]bool{
		OpMax: true, OpLoad: true, OpPresent: false, OpFloorDiv: false, OpTableIndex: false,
	} {
		if got := shape(op, 1) == shape(op, 2); got != want {
			t.Errorf("%s at two places has one shape: %v, want %v", op, got, want)
		}
	}
}
