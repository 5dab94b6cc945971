package bpfgen

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

func local(n int64, t types.Type) *tree.Expr {
	return &tree.Expr{Op: tree.OpLocal, Type: t, Int: n}
}

// tableOp is a use of container 0.
func tableOp(o tree.Op, t types.Type, key *tree.Expr) *tree.Expr {
	return &tree.Expr{Op: o, Type: t, Args: []*tree.Expr{key}}
}

// ifPresent runs then where e is not None.
func ifPresent(e *tree.Expr, then ...*tree.Stmt) *tree.Stmt {
	s := stmt(tree.SIf, 0, op(tree.OpLNot, types.Boolean, op(tree.OpIsNone, types.Boolean, e)))
	s.Then = &tree.Block{Stmts: then}
	return s
}

// TestTable: t[k] = v; get, has, pop, remove and index of what is there and
// what is not.
func TestTable(t *testing.T) {
	key := arg(0, types.IntOf(16, true))
	got := types.I64.OrNone()
	table := container(plan.Table, types.IntOf(16, true), types.IntOf(32, true))
	result := container(plan.Cell, types.NoneT, types.I64)
	result.ID = 1
	set := func(v *tree.Expr) *tree.Stmt { return stmt(tree.SCellSet, 1, op(tree.OpConvert, types.I64, v)) }
	store := func(v *tree.Expr) *tree.Stmt {
		return ifPresent(v, set(op(tree.OpAssume, types.I64, v)))
	}
	// What to do is argument 1, so that one program does it all.
	cases := []*tree.Stmt{
		stmt(tree.STableSet, 0, key, arg(2, types.IntOf(32, true))),
		stmt(tree.SAssign, 0, op(tree.OpConvert, got, tableOp(tree.OpTableGet, types.IntOf(32, true).OrNone(), key))),
		set(tableOp(tree.OpTableHas, types.Boolean, key)),
		stmt(tree.SAssign, 0, op(tree.OpConvert, got, tableOp(tree.OpTablePop, types.IntOf(32, true).OrNone(), key))),
		stmt(tree.STableRemove, 0, key),
		set(tableOp(tree.OpTableIndex, types.IntOf(32, true), key)),
		{Op: tree.STableUpdate, Str: "+", Exprs: []*tree.Expr{key, arg(2, types.I64)}},
	}
	p := program([]types.Type{got}, stmt(tree.SCellSet, 1, konst(-99)),
		stmt(tree.SAssign, 0, op(tree.OpConvert, got, &tree.Expr{Op: tree.OpConst, Type: types.NoneT})))
	for i, s := range cases {
		c := stmt(tree.SIf, 0, op(tree.OpEq, types.Boolean, arg(1, types.I64), konst(int64(i))))
		c.Then = &tree.Block{Stmts: []*tree.Stmt{s}}
		p.Body.Stmts = append(p.Body.Stmts, c)
	}
	p.Body.Stmts = append(p.Body.Stmts, store(local(0, got)))
	u := &tree.Unit{Containers: []*tree.Container{table, result}, Programs: []*tree.Program{p}}
	c, unit := load(t, u, Options{})
	const doSet, get, has, pop, remove, index, update, none = 0, 1, 2, 3, 4, 5, 6, -99
	for i, s := range []struct {
		key, do, v uint64
		want       int64
	}{
		{5, get, 0, none}, {5, has, 0, 0}, {5, pop, 0, none}, {5, remove, 0, none}, {5, index, 0, none},
		{5, doSet, math.MaxUint64 - 6, none}, {5, get, 0, -7}, {5, has, 0, 1}, {5, index, 0, -7}, {6, get, 0, none},
		{5, doSet, 12, none}, {5, get, 0, 12}, {5, update, 30, none}, {5, get, 0, 42}, {5, pop, 0, 42},
		{5, pop, 0, none},
		{5, update, 3, none}, {5, get, 0, 3}, {5, remove, 0, none}, {5, has, 0, 0},
		{0xffff, doSet, 9, none}, {0xfffff, get, 0, 9}, // only 16 bits are the key
	} {
		run(t, c, s.key, s.do, s.v)
		if got := word(single(t, c.Maps["c1"]), 0); got != s.want {
			t.Errorf("step %d %+v: %d", i, s, got)
		}
	}
	if got := sites(t, c, unit); len(got) != 1 || got["key not in table"] != 1 {
		t.Errorf("sites %v", got)
	}
}

// TestFullTable: what finds no room is counted, all else is kept.
func TestFullTable(t *testing.T) {
	table := container(plan.Count, types.U64, types.Type{})
	table.Size = 4
	u := &tree.Unit{
		Containers: []*tree.Container{table},
		Programs:   []*tree.Program{program(nil, stmt(tree.SAggAdd, 0, konst(1), konst(1), arg(0, types.U64)))},
	}
	c, unit := load(t, u, Options{})
	for i := range uint64(200) {
		run(t, c, i)
	}
	var key, v uint64
	kept := uint64(0)
	for it := c.Maps["c0"].Iterate(); it.Next(&key, &v); {
		kept += v
	}
	if got := sites(t, c, unit); kept+uint64(got["full"]) != 200 || got["full"] == 0 || len(got) != 1 {
		t.Errorf("kept %d, sites %v of 200", kept, got)
	}
}

// TestKeys stores keys of every shape and compares the bytes.
func TestKeys(t *testing.T) {
	kt := types.TupleOf(types.U32, types.StrOf(16).OrFault(), types.IntOf(16, true).OrNone(), types.Boolean,
		types.StrOf(5).OrNone())
	none := &tree.Expr{Op: tree.OpConst, Type: types.NoneT}
	u32 := op(tree.OpConvert, types.U32, arg(1, types.U64))
	key := &tree.Expr{Op: tree.OpTuple, Type: kt, Args: []*tree.Expr{
		u32, userString(0, 16), none, op(tree.OpGt, types.Boolean, u32, konst(5)), text("abcd"),
	}}
	u := &tree.Unit{
		Containers: []*tree.Container{container(plan.Count, kt, types.Type{})},
		Programs:   []*tree.Program{program(nil, stmt(tree.SAggAdd, 0, konst(1), konst(1), key))},
	}
	c, _ := load(t, u, Options{})
	f := layout.Fixed(kt)
	for _, s := range []string{"", "short", "fifteen chars..", "sixteen chars...", "longer than all of it"} {
		runStrings(t, c, s)
		b := make([]byte, f.Size)
		at := f.Type.Elems
		name := b[at[1].Off : at[1].Off+at[1].Size]
		copy(name[:15], s)
		if len(s) > 15 {
			name[15] = wire.StrCut
		}
		b[at[2].TagOff] = wire.TagNone
		copy(b[at[4].Off:], "abcd")
		v, err := c.Maps["c0"].LookupBytes(b)
		if err != nil || v == nil {
			t.Errorf("key of %q: %v, no entry %x; there are %s", s, err, b, keysOf(c.Maps["c0"]))
		}
	}
	run(t, c, 8, 1<<32+9)
	b := make([]byte, f.Size)
	binary.NativeEndian.PutUint32(b, 9)
	at := f.Type.Elems
	b[at[1].Off+15], b[at[2].TagOff], b[at[3].Off] = wire.StrFault, wire.TagNone, 1
	copy(b[at[4].Off:], "abcd")
	if v, err := c.Maps["c0"].LookupBytes(b); err != nil || v == nil {
		t.Errorf("key with a fault: no entry %x; there are %s", b, keysOf(c.Maps["c0"]))
	}
}

func keysOf(m *ebpf.Map) string {
	var out string
	var k, v []byte
	for it := m.Iterate(); it.Next(&k, &v); {
		out += fmt.Sprintf("%x ", k)
	}
	return out
}

// TestStringValue passes a string through a table, all of its states.
func TestStringValue(t *testing.T) {
	vt := types.TupleOf(types.StrOf(16).OrFault(), types.U32)
	value := &tree.Expr{Op: tree.OpTuple, Type: vt, Args: []*tree.Expr{userString(0, 16),
		op(tree.OpConvert, types.U32, konst(7))}}
	table := container(plan.Table, types.I64, vt)
	rec := layout.Record(0, 0, []string{"s", "n"}, []types.Type{vt.Elems[0].OrNone(), types.U32.OrNone()})
	got := local(0, vt.OrNone())
	elem := func(n int64, t types.Type) *tree.Expr {
		return &tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{{
			Op: tree.OpElem, Type: vt.Elems[n], Int: n, Args: []*tree.Expr{op(tree.OpAssume, vt, got)},
		}}}
	}
	u := &tree.Unit{
		Containers: []*tree.Container{table},
		Programs: []*tree.Program{program([]types.Type{vt.OrNone()},
			stmt(tree.STableSet, 0, konst(1), value),
			stmt(tree.SAssign, 0, tableOp(tree.OpTableGet, vt.OrNone(), konst(1))),
			ifPresent(got, stmt(tree.SSend, 0, elem(0, vt.Elems[0].OrNone()), elem(1, types.U32.OrNone()))),
		)},
		Records: []*wire.Record{rec},
	}
	c, _ := load(t, u, Options{})
	r := newRing(t, c.Maps[MapRing])
	for s, want := range map[string]string{"": "", "abc": "abc", "sixteen chars...": "sixteen chars..…"} {
		runStrings(t, c, s)
		if got := recordString(16, r.next(t)); got != want {
			t.Errorf("%q came back as %q", s, got)
		}
	}
	run(t, c, 8)
	if got := recordString(16, r.next(t)); got != "<fault>" {
		t.Errorf("a fault came back as %q", got)
	}
}
