package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass fold for branches: decided, simplified, fused with their comparisons.

// branch simplifies a terminator by one step.
func (o *folder) branch(t *ir.Term) bool {
	if t.Kind != ir.Branch {
		return false
	}
	if t.To[0].Block == t.To[1].Block && slices.Equal(t.To[0].Args, t.To[1].Args) {
		return decide(t, 0)
	}
	if t.Y != nil {
		return o.branchXY(t)
	}
	if c, ok := constant(t.X); ok {
		return decideIf(t, t.Cond.Holds(c, t.Imm))
	}
	if holds, ok := decidedByBits(t); ok {
		return decideIf(t, holds)
	}
	return o.fuse(t) || simplerCond(t)
}

// decide makes a jump of a branch that always goes way i.
func decide(t *ir.Term, i int) bool {
	*t = ir.Term{Kind: ir.Jump, To: []ir.Edge{t.To[i]}, Pos: t.Pos}
	return true
}

func decideIf(t *ir.Term, holds bool) bool {
	if holds {
		return decide(t, 0)
	}
	return decide(t, 1)
}

// branchXY simplifies a branch on two values.
func (o *folder) branchXY(t *ir.Term) bool {
	if t.X == t.Y && t.Cond != ir.SET {
		return decideIf(t, t.Cond.Holds(0, 0))
	}
	if c, ok := constant(t.Y); ok && ir.Fits32(c) {
		t.Y, t.Imm = nil, c
		return true
	}
	if _, ok := constant(t.X); ok {
		if _, both := constant(t.Y); both {
			return decideIf(t, t.Cond.Holds(t.X.Imm, t.Y.Imm))
		}
		t.X, t.Y, t.Cond = t.Y, t.X, t.Cond.Swap()
		return true
	}
	return false
}

// decidedByBits decides comparisons with what is out of the range of X.
func decidedByBits(t *ir.Term) (holds, ok bool) {
	n := knownBits(t.X)
	if n >= 63 {
		return false, false
	}
	top := int64(1)<<n - 1 // the greatest that X can be
	above, atTop := uint64(t.Imm) > uint64(top), uint64(t.Imm) >= uint64(top)
	signed := t.Cond >= ir.SLT && t.Cond <= ir.SGE
	switch {
	case signed && t.Imm < 0:
		return t.Cond == ir.SGT || t.Cond == ir.SGE, true
	case t.Cond == ir.ULT, t.Cond == ir.SLT, t.Cond == ir.NE:
		return true, above
	case t.Cond == ir.UGE, t.Cond == ir.SGE, t.Cond == ir.EQ:
		return false, above
	case t.Cond == ir.ULE, t.Cond == ir.SLE:
		return true, atTop
	case t.Cond == ir.UGT, t.Cond == ir.SGT:
		return false, atTop
	}
	return false, false
}

// setCond makes the branch one on other operands.
func setCond(t *ir.Term, c ir.Cond, x, y *ir.Value, imm int64) bool {
	t.Cond, t.X, t.Y, t.Imm = c, x, y, imm
	return true
}

// turn exchanges the ways of a branch.
func turn(t *ir.Term) {
	t.To[0], t.To[1] = t.To[1], t.To[0]
	if t.Likely != 0 {
		t.Likely = 3 - t.Likely
	}
}

// fuse takes a comparison, a mask or a sum that only the branch looks at into
// the branch.
func (o *folder) fuse(t *ir.Term) bool {
	x := t.X
	if t.Cond != ir.EQ && t.Cond != ir.NE {
		return false
	}
	switch {
	case x.Op == ir.OpCmp && (t.Imm == 0 || t.Imm == 1):
		if (t.Cond == ir.EQ) == (t.Imm == 0) {
			turn(t)
		}
		return setCond(t, ir.Cond(x.Imm), x.Args[0], x.Args[1], 0)
	case x.Op == ir.OpAdd && len(x.Args) == 1 && ir.Fits32(t.Imm-x.Imm):
		return setCond(t, t.Cond, x.Args[0], nil, t.Imm-x.Imm)
	case x.Op == ir.OpXor && len(x.Args) == 1:
		return setCond(t, t.Cond, x.Args[0], nil, t.Imm^x.Imm)
	case (x.Op == ir.OpSub || x.Op == ir.OpXor) && len(x.Args) == 2 && t.Imm == 0:
		return setCond(t, t.Cond, x.Args[0], x.Args[1], 0)
	case x.Op == ir.OpAnd && t.Imm == 0 && o.usedOnce(x):
		if t.Cond == ir.EQ {
			turn(t)
		}
		if len(x.Args) == 1 {
			return setCond(t, ir.SET, x.Args[0], nil, x.Imm)
		}
		return setCond(t, ir.SET, x.Args[0], x.Args[1], 0)
	}
	return false
}

// usedOnce reports whether v has one use. The count is that at the start of
// the pass: a use too many keeps the code as it is.
func (o *folder) usedOnce(v *ir.Value) bool {
	if o.uses == nil {
		o.uses = o.f.CountUses()
	}
	return v.ID < len(o.uses) && o.uses[v.ID] == 1
}

// simplerCond writes comparisons with 0 and 1 in one form.
func simplerCond(t *ir.Term) bool {
	switch {
	case t.Cond == ir.ULT && t.Imm == 1, t.Cond == ir.ULE && t.Imm == 0:
		return setCond(t, ir.EQ, t.X, nil, 0)
	case t.Cond == ir.UGE && t.Imm == 1, t.Cond == ir.UGT && t.Imm == 0:
		return setCond(t, ir.NE, t.X, nil, 0)
	case t.Cond == ir.ULT && t.Imm == 0:
		return decide(t, 1)
	case t.Cond == ir.UGE && t.Imm == 0:
		return decide(t, 0)
	case t.Cond == ir.SET && t.Imm == 0:
		return decide(t, 1)
	}
	return false
}
