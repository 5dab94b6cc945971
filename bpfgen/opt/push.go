package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass push: computations on parameters move to the edges that bring constants.

// push moves a computation on parameters of a block to the edges that lead
// there, where each of them has nothing left to compute:
//
//	b1(n, flags):             b1(n, word):
//	  word = or n, flags  =>
//
// for edges b1(x, 0) and b1(0, 8192). A string's length and flags meet so.
func push(f *ir.Func) bool {
	blocks := len(f.Blocks)
	order := f.Prune()
	changed := len(order) != blocks
	preds := f.Preds(order)
	dom := f.Dominators(order)
	uses := f.CountUses()
	for _, b := range order[1:] {
		back := func(p ir.Pred) bool { return dom.Dominates(b, p.Block) }
		if len(preds[b.ID]) < 2 || len(b.Params) == 0 || slices.ContainsFunc(preds[b.ID], back) {
			continue
		}
		for i := 0; i < len(b.Values); i++ {
			if v := b.Values[i]; v.Op.IsALU2() && freesParam(b, v, uses) && pushValue(b, v, preds[b.ID]) {
				b.Values = slices.Delete(b.Values, i, i+1)
				i--
				changed = true
			}
		}
	}
	return changed
}

// freesParam reports whether a parameter of b is used by v alone: v then takes
// its place, and no more registers are needed than before.
func freesParam(b *ir.Block, v *ir.Value, uses []int) bool {
	return slices.ContainsFunc(v.Args, func(a *ir.Value) bool {
		return a.Op == ir.OpParam && a.Block == b && a.ID < len(uses) && uses[a.ID] == 1
	})
}

// pushValue makes v a parameter, if all edges can bring it for nothing.
func pushValue(b *ir.Block, v *ir.Value, preds []ir.Pred) bool {
	results := make([]operand, len(preds))
	for i, p := range preds {
		r, ok := onEdge(b, v, p.Edge())
		if !ok {
			return false
		}
		results[i] = r
	}
	for i, p := range preds {
		x := results[i].value
		if x == nil {
			x = p.Block.Const(v.Pos, results[i].konst)
		}
		e := p.Edge()
		e.Args = append(slices.Clip(e.Args), x)
	}
	v.Op, v.Imm, v.Args = ir.OpParam, 0, nil
	b.Params = append(b.Params, v)
	return true
}

// An operand is a value, or a constant where that is nil.
type operand struct {
	value *ir.Value
	konst int64
}

// onEdge gives what v is when b is entered by e, if that is a constant or
// there already.
func onEdge(b *ir.Block, v *ir.Value, e *ir.Edge) (operand, bool) {
	arg := func(a *ir.Value) (operand, bool) {
		if k := slices.Index(b.Params, a); k >= 0 {
			a = e.Args[k]
		} else if a.Block == b && a.Op != ir.OpConst {
			return operand{}, false
		}
		if c, ok := constant(a); ok {
			return operand{konst: c}, true
		}
		return operand{value: a}, true
	}
	x, ok := arg(v.Args[0])
	y := operand{konst: v.Imm}
	if ok && len(v.Args) == 2 {
		y, ok = arg(v.Args[1])
	}
	if !ok {
		return operand{}, false
	}
	if x.value == nil && y.value == nil {
		return operand{konst: v.Op.ALU(x.konst, y.konst)}, true
	}
	if x.value == nil && v.Op.IsCommutative() {
		x, y = y, x
	}
	return x, y.value == nil && keeps(v.Op, y.konst)
}

// keeps reports whether x op c is x.
func keeps(op ir.Op, c int64) bool {
	switch op {
	case ir.OpAdd, ir.OpSub, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpLShr, ir.OpAShr:
		return c == 0
	case ir.OpMul, ir.OpUDiv:
		return c == 1
	case ir.OpAnd:
		return c == -1
	}
	return false
}
