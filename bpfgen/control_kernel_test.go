package bpfgen

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

func assign(n int64, e *tree.Expr) *tree.Stmt { return stmt(tree.SAssign, n, e) }

func block(stmts ...*tree.Stmt) *tree.Block { return &tree.Block{Stmts: stmts} }

// result is container n as a cell.
func result(n int) *tree.Container {
	c := container(plan.Cell, types.NoneT, types.I64)
	c.ID = n
	return c
}

// TestLoop sums range(a, b, step), leaving out and ending at some numbers.
func TestLoop(t *testing.T) {
	i, sum := local(0, types.I64), local(1, types.I64)
	when := func(c *tree.Expr, s tree.StmtOp) *tree.Stmt {
		out := stmt(tree.SIf, 0, c)
		out.Then = block(stmt(s, 0))
		return out
	}
	for _, step := range []int64{1, 3, -2} {
		loop := stmt(tree.SFor, 0, arg(0, types.I64), arg(1, types.I64), konst(step))
		loop.Str = "50"
		loop.Then = block(
			when(op(tree.OpEq, types.Boolean, i, konst(7)), tree.SContinue),
			when(op(tree.OpEq, types.Boolean, i, konst(40)), tree.SBreak),
			assign(1, op(tree.OpAdd, types.I64, sum, i)),
		)
		u := &tree.Unit{
			Containers: []*tree.Container{result(0), result(1)},
			Programs: []*tree.Program{program([]types.Type{types.I64, types.I64},
				stmt(tree.SCellSet, 1, konst(0)), assign(1, konst(1000)), loop,
				stmt(tree.SCellSet, 0, sum), stmt(tree.SCellSet, 1, konst(1)))},
		}
		c, unit := load(t, u, Options{})
		tooMany := int64(0)
		for _, r := range [][2]int64{{0, 0}, {0, 10}, {5, 9}, {0, 50}, {10, 0}, {-5, 5}, {60, 100}, {100, 20},
			{60, 200}} {
			run(t, c, uint64(r[0]), uint64(r[1]))
			want, n, broke := int64(1000), 0, false
			for x := r[0]; step > 0 && x < r[1] || step < 0 && x > r[1]; x += step {
				if n++; n > 50 {
					break
				}
				if x == 40 {
					broke = true
					break
				}
				if x != 7 {
					want += x
				}
			}
			got := cells(t, c, 2)
			if n > 50 && !broke {
				tooMany++
				if got[1] != 0 {
					t.Errorf("range(%d, %d, %d) did not end the handler", r[0], r[1], step)
				}
				continue
			}
			if got[0] != want || got[1] != 1 {
				t.Errorf("range(%d, %d, %d) gives %d %d, want %d", r[0], r[1], step, got[0], got[1], want)
			}
		}
		if got := sites(t, c, unit)["loop of more than 50 iterations"]; got != tooMany {
			t.Errorf("step %d: counted %d ends, want %d", step, got, tooMany)
		}
	}
}

// TestLoopString keeps a string of one iteration while the next reads another
// to the same place.
func TestLoopString(t *testing.T) {
	i, kept := local(0, types.I64), local(1, types.StrOf(16))
	read := &tree.Expr{Op: tree.OpStr, Type: types.StrOf(16).OrFault(), Str: tree.User,
		Args: []*tree.Expr{op(tree.OpAdd, types.U64, arg(0, types.U64), op(tree.OpMul, types.U64, i, konst(8)))}}
	cur := local(2, types.StrOf(16))
	choose := stmt(tree.SIf, 0, op(tree.OpStartsWith, types.Boolean, cur, text("keep")))
	choose.Then = block(assign(1, cur))
	loop := stmt(tree.SFor, 0, konst(0), konst(4), konst(1))
	loop.Str = "4"
	loop.Then = block(assign(2, present(read)), choose)
	rec := layout.Record(0, 0, []string{"s"}, []types.Type{kept.Type})
	u := &tree.Unit{
		Records: []*wire.Record{rec},
		Programs: []*tree.Program{program([]types.Type{types.I64, kept.Type, cur.Type},
			assign(1, op(tree.OpConvert, kept.Type, text("none"))), loop, stmt(tree.SSend, 0, kept))},
	}
	c, _ := load(t, u, Options{})
	r := newRing(t, c.Maps[MapRing])
	for _, tt := range []struct{ want, mem string }{
		{"keep1", "a\x00......keep1\x00..b\x00......c\x00......"},
		{"none", "a\x00......b\x00......c\x00......d\x00......"},
		{"keep4", "keep1\x00..b\x00......c\x00......keep4\x00.."},
	} {
		b := []byte(tt.mem)
		run(t, c, uint64(uintptr(unsafe.Pointer(&b[0]))))
		runtime.KeepAlive(b)
		if got := recordString(16, r.next(t)); got != tt.want {
			t.Errorf("%q kept of %q, want %q", got, tt.mem, tt.want)
		}
	}
}

// TestInline: a function with several returns, one of them None.
func TestInline(t *testing.T) {
	rt := types.I64.OrNone()
	ret := func(e *tree.Expr) *tree.Stmt { return stmt(tree.SReturn, 0, op(tree.OpConvert, rt, e)) }
	when := func(limit int64, s *tree.Stmt) *tree.Stmt {
		out := stmt(tree.SIf, 0, op(tree.OpLt, types.Boolean, arg(0, types.I64), konst(limit)))
		out.Then = block(s)
		return out
	}
	f := &tree.Expr{Op: tree.OpInline, Type: rt, Body: block(
		when(0, ret(konst(-1))), when(10, ret(&tree.Expr{Op: tree.OpConst, Type: types.NoneT})), ret(arg(0, types.I64)),
	)}
	v := local(0, rt)
	test := stmt(tree.SIf, 0, op(tree.OpIsNone, types.Boolean, v))
	test.Then = block(stmt(tree.SCellSet, 0, konst(77)))
	test.Else = block(stmt(tree.SCellSet, 0, op(tree.OpAssume, types.I64, v)))
	wanted := &tree.Expr{Op: tree.OpPresent, Type: types.I64, Str: "an int", Args: []*tree.Expr{v}}
	u := &tree.Unit{
		Containers: []*tree.Container{result(0), result(1)},
		Programs:   []*tree.Program{program([]types.Type{rt}, assign(0, f), test, stmt(tree.SCellSet, 1, wanted))},
	}
	u.Programs[0].Inlines = 1
	c, unit := load(t, u, Options{})
	for x, want := range map[int64]int64{-5: -1, 5: 77, 50: 50} {
		run(t, c, uint64(x))
		if got := cells(t, c, 1)[0]; got != want {
			t.Errorf("f(%d) = %d, want %d", x, got, want)
		}
	}
	if got := sites(t, c, unit); got["None where an int was wanted"] != 1 {
		t.Errorf("sites %v", got)
	}
}

// TestLoads reads user and kernel memory, by a known space and by the address.
func TestLoads(t *testing.T) {
	at := func(space tree.Space, off int64, t types.Type, base *tree.Expr) *tree.Expr {
		return &tree.Expr{Op: tree.OpLoad, Type: t, Str: space, Int: off, Args: []*tree.Expr{base}}
	}
	bits := func(bit, size uint8, t types.Type) *tree.Expr {
		e := at(tree.User, 8, t, arg(0, types.U64))
		e.Bit, e.BitSize = bit, size
		return e
	}
	files := field(t, kernelTypes(t), "task_struct", "files")
	fault := op(tree.OpIsFault, types.Boolean, at(tree.Auto, 0, types.U64.OrFault(), arg(1, types.U64)))
	exprs := []*tree.Expr{
		at(tree.User, 0, types.IntOf(8, true), arg(0, types.U64)),
		at(tree.Auto, 1, types.IntOf(16, false), arg(0, types.U64)),
		at(tree.User, 0, types.I64, arg(0, types.U64)),
		bits(0, 3, types.U32), bits(3, 5, types.S32), bits(12, 9, types.U32), bits(31, 2, types.IntOf(64, false)),
		fault,
		// Of the task's own memory, in the kernel, a field that stays.
		op(tree.OpEq, types.Boolean, at(tree.Auto, files, types.U64, builtin("task", types.U64)),
			at(tree.Kernel, files, types.U64, builtin("task", types.U64))),
	}
	c, _ := load(t, evaluator(exprs...), Options{})
	mem := []byte{0xfe, 0x34, 0x12, 0, 0, 0, 0, 0x80, 0xa5, 0x5a, 0xc3, 0x3c, 0x01, 0, 0, 0}
	run(t, c, uint64(uintptr(unsafe.Pointer(&mem[0]))), 8)
	runtime.KeepAlive(mem)
	word := uint64(0x013cc35aa5)
	field := func(bit, size uint) int64 { return int64(word >> bit & (1<<size - 1)) }
	signed5 := field(3, 5) << 59 >> 59
	want := []int64{-2, 0x1234, -0x7fffffffffedcb02, field(0, 3), signed5, field(12, 9), field(31, 2), 1, 1}
	for i, got := range cells(t, c, len(exprs)) {
		if got != want[i] {
			t.Errorf("%s = %d, want %d", exprs[i], got, want[i])
		}
	}
}

// TestScratch sends long strings, more than the stack holds, beside a filter
// and an error; the memory is free again after each way out.
func TestScratch(t *testing.T) {
	long, other := userString(0, 500), userString(1, 300)
	div := op(tree.OpFloorDiv, types.I64, konst(10), arg(2, types.I64))
	rec := layout.Record(0, 0, []string{"s", "d", "t"}, []types.Type{long.Type, types.I64, other.Type})
	filter := stmt(tree.SIf, 0, op(tree.OpEq, types.Boolean, present(long), text("drop")))
	filter.Then = block(stmt(tree.SStop, 0))
	for _, o := range []Options{{}, {NoCmpXchg: true}} {
		u := &tree.Unit{Records: []*wire.Record{rec}, Programs: []*tree.Program{program(nil, filter,
			stmt(tree.SSend, 0, long, div, other))}}
		c, unit := load(t, u, o)
		if c.Maps[MapScratch] == nil {
			t.Fatal("no scratch memory is used")
		}
		r := newRing(t, c.Maps[MapRing])
		send := func(s, s2 string, d uint64) {
			b, b2 := append([]byte(s), 0), append([]byte(s2), 0)
			run(t, c, uint64(uintptr(unsafe.Pointer(&b[0]))), uint64(uintptr(unsafe.Pointer(&b2[0]))), d)
			runtime.KeepAlive(b)
			runtime.KeepAlive(b2)
		}
		for range 20 { // more often than there are slots
			send("drop", "", 1)
			send("x", "", 0)
			send(strings.Repeat("s", 400), "second", 1)
			b := r.next(t)
			if got := recordString(16, b); got != strings.Repeat("s", 400) {
				t.Errorf("first string %q", got)
			}
			if got := recordString(rec.Fields[2].Type.Off, b); got != "second" {
				t.Errorf("second string %q", got)
			}
			send("", strings.Repeat("t", 600), 1)
			b = r.next(t)
			if got := recordString(rec.Fields[2].Type.Off, b); got != strings.Repeat("t", 299)+"…" {
				t.Errorf("cut string %q", got)
			}
		}
		if got := sites(t, c, unit); len(got) != 1 || got["division by zero"] != 20 {
			t.Errorf("sites %v", got)
		}
		busy := 0
		for i := range uint32(4) {
			var perCPU [][]byte
			if err := c.Maps[MapScratch].Lookup(i, &perCPU); err != nil {
				t.Fatal(err)
			}
			for _, v := range perCPU {
				busy += int(word(v, 0))
			}
		}
		if busy != 0 {
			t.Errorf("%d slots are still claimed", busy)
		}
	}
}
