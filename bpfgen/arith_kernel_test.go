package bpfgen

import (
	"math"
	"math/big"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// evaluator makes a unit whose program stores each expression in a cell, in
// order, so that an error shows by the cells that stay as they were.
func evaluator(exprs ...*tree.Expr) *tree.Unit {
	u := &tree.Unit{}
	p := program(nil)
	for i, e := range exprs {
		c := container(plan.Cell, types.NoneT, types.I64)
		c.ID = i
		u.Containers = append(u.Containers, c)
		p.Body.Stmts = append(p.Body.Stmts, stmt(tree.SCellSet, int64(i), op(tree.OpConvert, types.I64, e)))
	}
	u.Programs = []*tree.Program{p}
	return u
}

// cells reads what the evaluator stored.
func cells(t *testing.T, c *ebpf.Collection, n int) []int64 {
	t.Helper()
	var out []int64
	for i := range n {
		out = append(out, word(single(t, c.Maps[tree.ContainerMap(i)]), 0))
	}
	return out
}

var interesting = []int64{
	0, 1, -1, 2, -2, 3, 7, -7, 8, 63, 64, 65, 255, 256, 511, 512, -512, 1000, math.MaxInt32, math.MinInt32,
	math.MaxInt32 + 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, math.MaxInt64 - 1, 1 << 62,
}

// wrap64 is the low 64 bits of x.
func wrap64(x *big.Int) int64 {
	m := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	return int64(m.Uint64())
}

// number is the mathematical value of a word.
func number(w int64, t types.Type) *big.Int {
	if t.Signed {
		return big.NewInt(w)
	}
	return new(big.Int).SetUint64(uint64(w))
}

// reference is what op means; ok is false where the handler must end.
func reference(o tree.Op, x, y *big.Int) (*big.Int, bool) {
	z := new(big.Int)
	truth := func(b bool) (*big.Int, bool) {
		if b {
			z.SetInt64(1)
		}
		return z, true
	}
	switch o {
	case tree.OpAdd:
		return z.Add(x, y), true
	case tree.OpSub:
		return z.Sub(x, y), true
	case tree.OpMul:
		return z.Mul(x, y), true
	case tree.OpAnd:
		return z.And(x, y), true
	case tree.OpOr:
		return z.Or(x, y), true
	case tree.OpXor:
		return z.Xor(x, y), true
	case tree.OpFloorDiv, tree.OpFloorMod:
		if y.Sign() == 0 {
			return nil, false
		}
		m := new(big.Int)
		z.DivMod(x, y, m) // Euclidean: the rest is not negative
		if y.Sign() < 0 && m.Sign() != 0 {
			z.Sub(z, big.NewInt(1))
			m.Add(m, y)
		}
		if o == tree.OpFloorMod {
			return m, true
		}
		return z, true
	case tree.OpShl, tree.OpShr:
		if y.Sign() < 0 || y.Cmp(big.NewInt(512)) >= 0 {
			return nil, false
		}
		if o == tree.OpShl {
			return z.Lsh(x, uint(y.Int64())), true
		}
		return z.Rsh(x, uint(y.Int64())), true
	case tree.OpMin, tree.OpMax:
		if (x.Cmp(y) <= 0) == (o == tree.OpMin) {
			return x, true
		}
		return y, true
	case tree.OpEq:
		return truth(x.Cmp(y) == 0)
	case tree.OpNe:
		return truth(x.Cmp(y) != 0)
	case tree.OpLt:
		return truth(x.Cmp(y) < 0)
	case tree.OpLe:
		return truth(x.Cmp(y) <= 0)
	case tree.OpGt:
		return truth(x.Cmp(y) > 0)
	case tree.OpGe:
		return truth(x.Cmp(y) >= 0)
	}
	panic("no reference")
}

var binaryOps = []tree.Op{
	tree.OpAdd, tree.OpSub, tree.OpMul, tree.OpAnd, tree.OpOr, tree.OpXor, tree.OpFloorDiv, tree.OpFloorMod,
	tree.OpShl, tree.OpShr, tree.OpMin, tree.OpMax, tree.OpEq, tree.OpNe, tree.OpLt, tree.OpLe, tree.OpGt, tree.OpGe,
}

// resultType is what inference would give.
func resultType(o tree.Op, x, y types.Type) types.Type {
	switch {
	case o >= tree.OpEq && o <= tree.OpGe:
		return types.Boolean
	case o == tree.OpShl || o == tree.OpShr:
		return x
	}
	t, _ := types.Join(x, y)
	return t
}

// TestBinaryOps compares every operator with arithmetic without limits, for
// both signs of both operands.
func TestBinaryOps(t *testing.T) {
	ts := []types.Type{types.I64, types.U64}
	for _, o := range binaryOps {
		for _, xt := range ts {
			for _, yt := range ts {
				t.Run(o.String()+"_"+xt.String()+"_"+yt.String(), func(t *testing.T) { checkOp(t, o, xt, yt) })
			}
		}
	}
}

func checkOp(t *testing.T, o tree.Op, xt, yt types.Type) {
	e := op(o, resultType(o, xt, yt), arg(0, xt), arg(1, yt))
	c, unit := load(t, evaluator(e, konst(1)), Options{})
	errors := int64(0)
	for _, x := range interesting {
		for _, y := range interesting {
			clear := make([]byte, 8)
			if err := c.Maps["c1"].Put(uint32(0), clear); err != nil {
				t.Fatal(err)
			}
			run(t, c, uint64(x), uint64(y))
			got := cells(t, c, 2)
			want, ok := reference(o, number(x, xt), number(y, yt))
			switch {
			case ok != (got[1] == 1):
				t.Errorf("%d %s %d: reached the end: %v, want %v", x, o, y, got[1] == 1, ok)
			case ok && got[0] != wrap64(want):
				t.Errorf("%d %s %d = %d, want %d", x, o, y, got[0], wrap64(want))
			case !ok:
				errors++
			}
		}
	}
	total := int64(0)
	for _, n := range sites(t, c, unit) {
		total += n
	}
	if total != errors {
		t.Errorf("counted %d errors, want %d: %v", total, errors, sites(t, c, unit))
	}
}

// TestConstantOperands does the same with the second operand known.
func TestConstantOperands(t *testing.T) {
	for _, o := range binaryOps {
		var exprs []*tree.Expr
		var ys []int64
		for _, y := range interesting {
			if _, ok := reference(o, big.NewInt(1), big.NewInt(y)); ok {
				ys = append(ys, y)
				exprs = append(exprs, op(o, resultType(o, types.I64, types.I64), arg(0, types.I64), konst(y)))
			}
		}
		c, _ := load(t, evaluator(exprs...), Options{})
		for _, x := range interesting {
			run(t, c, uint64(x))
			for i, got := range cells(t, c, len(exprs)) {
				want, _ := reference(o, big.NewInt(x), big.NewInt(ys[i]))
				if got != wrap64(want) {
					t.Errorf("%d %s %d = %d, want %d", x, o, ys[i], got, wrap64(want))
				}
			}
		}
	}
}

func TestUnaryOps(t *testing.T) {
	x := arg(0, types.I64)
	swap := func(n int64, t types.Type) *tree.Expr {
		e := op(tree.OpBswap, t, arg(0, t))
		e.Int = n
		return e
	}
	exprs := []*tree.Expr{
		op(tree.OpNeg, types.I64, x), op(tree.OpNot, types.I64, x), op(tree.OpAbs, types.I64, x),
		op(tree.OpConvert, types.IntOf(16, true), x), op(tree.OpConvert, types.U32, x),
		op(tree.OpConvert, types.IntOf(8, false), x),
		swap(4, types.U32), op(tree.OpCond, types.I64, op(tree.OpLt, types.Boolean, x, konst(0)), konst(-5), konst(5)),
	}
	c, _ := load(t, evaluator(exprs...), Options{})
	for _, v := range interesting {
		run(t, c, uint64(v))
		abs, cond := v, int64(5)
		if v < 0 {
			abs, cond = -v, -5
		}
		u := uint32(v)
		want := []int64{
			-v, ^v, abs, int64(int16(v)), int64(uint32(v)), int64(uint8(v)),
			int64(u<<24 | u>>24 | u<<8&0xff0000 | u>>8&0xff00), cond,
		}
		for i, got := range cells(t, c, len(exprs)) {
			if got != want[i] {
				t.Errorf("%s of %d = %d, want %d", exprs[i], v, got, want[i])
			}
		}
	}
}
